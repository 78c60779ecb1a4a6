"""Passes over a finished jaxpr: each takes a jaxpr and returns one that computes the same."""

from onax._core import jaxpr as core


def drop_dead_code(jaxpr):
    """Without the equations whose results nobody reads and that have no effect."""
    used = {a for a in jaxpr.outvars if type(a) is not core.Literal}
    kept = []
    for eqn in reversed(jaxpr.eqns):
        if eqn.effects or any(v in used for v in eqn.outvars):
            kept.append(eqn)
            used.update(a for a in eqn.invars if type(a) is not core.Literal)
    if len(kept) == len(jaxpr.eqns):
        return jaxpr
    kept.reverse()
    constants = [(v, c) for v, c in zip(jaxpr.constvars, jaxpr.consts or [None] * len(jaxpr.constvars)) if v in used]
    open_jaxpr = core.Jaxpr([v for v, _ in constants], jaxpr.invars, jaxpr.outvars, kept, None, jaxpr.debug_info)
    if isinstance(jaxpr, core.ClosedJaxpr):
        return core.ClosedJaxpr(open_jaxpr, [c for _, c in constants])
    return open_jaxpr


def used_inputs(jaxpr):
    """For each argument whether any equation or result reads it."""
    used = {a for eqn in jaxpr.eqns for a in eqn.invars if type(a) is not core.Literal}
    used.update(a for a in jaxpr.outvars if type(a) is not core.Literal)
    return [v in used for v in jaxpr.invars]


PASSES = (drop_dead_code,)


def simplify(jaxpr):
    """Runs every pass in order."""
    for one_pass in PASSES:
        jaxpr = one_pass(jaxpr)
    return jaxpr
