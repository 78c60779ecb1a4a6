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


def dce_jaxpr(jaxpr, used_outputs, instantiate=False):
    """(open jaxpr of the wanted results and the arguments that they need, for each argument whether it is needed).

    used_outputs  a bool, or one a result
    instantiate   a bool, or one an argument: keep this argument in any case

    Equations with effects stay.  A primitive's `dce` rule, `(used_outputs, eqn) -> (used_inputs, eqn or None)`,
    makes an equation smaller; without one it stays whole.  The constants stay as they are.
    """
    used_outputs = flags_of(used_outputs, len(jaxpr.outvars))
    wanted = {a for a, flag in zip(jaxpr.outvars, used_outputs) if flag and type(a) is not core.Literal}
    kept = []
    for eqn in reversed(jaxpr.eqns):
        used = [v in wanted for v in eqn.outvars]
        if not eqn.effects and not any(used):
            continue
        if eqn.primitive.dce is None:
            new, operands = eqn, eqn.invars
        else:
            flags, new = eqn.primitive.dce(used, eqn)
            operands = [a for a, flag in zip(eqn.invars, flags) if flag]
        if new is not None:
            kept.append(new)
        wanted.update(a for a in operands if type(a) is not core.Literal)
    kept.reverse()
    keep = flags_of(instantiate, len(jaxpr.invars))
    used_inputs = [flag or v in wanted for v, flag in zip(jaxpr.invars, keep)]
    pruned = core.Jaxpr(
        jaxpr.constvars,
        [v for v, flag in zip(jaxpr.invars, used_inputs) if flag],
        [a for a, flag in zip(jaxpr.outvars, used_outputs) if flag],
        kept,
        None,
        jaxpr.debug_info,
    )
    return pruned, used_inputs


def flags_of(value, count):
    """One bool for each of `count` places."""
    flags = [value] * count if isinstance(value, bool) else list(value)
    if len(flags) != count:
        raise ValueError(f"{count} flags are wanted, {len(flags)} were given")
    return flags


def needed(jaxpr, used_outputs):
    """(what a closed program computes of the wanted results, for each argument whether that needs it).

    Also inside loops, branches and calls.  Kept with the jaxpr; the program itself where it needs all it has.
    """
    key = ("needed", tuple(used_outputs))
    found = jaxpr.cache.get(key)
    if found is None:
        pruned, used_inputs = dce_jaxpr(jaxpr, used_outputs)
        whole = all(used_inputs) and all(used_outputs) and _same(pruned.eqns, jaxpr.eqns)
        found = jaxpr.cache[key] = (jaxpr if whole else _closed(pruned, jaxpr.consts)), used_inputs
    return found


def dropped(jaxpr):
    """The closed program without what its results do not need, inside loops, branches and calls too."""
    found = jaxpr.cache.get("dropped")
    if found is None:
        pruned, _ = dce_jaxpr(jaxpr, True, True)
        found = jaxpr.cache["dropped"] = jaxpr if _same(pruned.eqns, jaxpr.eqns) else _closed(pruned, jaxpr.consts)
    return found


def _same(some, others):
    return len(some) == len(others) and all(a is b for a, b in zip(some, others))


def _closed(jaxpr, consts):
    """The program over those of the constants that it reads."""
    live = {a for eqn in jaxpr.eqns for a in eqn.invars if type(a) is not core.Literal}
    live.update(a for a in jaxpr.outvars if type(a) is not core.Literal)
    constants = [(v, c) for v, c in zip(jaxpr.constvars, consts) if v in live]
    jaxpr.constvars = [v for v, _ in constants]
    return core.ClosedJaxpr(jaxpr, [c for _, c in constants])


PASSES = (drop_dead_code,)


def simplify(jaxpr):
    """Runs every pass in order."""
    for one_pass in PASSES:
        jaxpr = one_pass(jaxpr)
    return jaxpr
