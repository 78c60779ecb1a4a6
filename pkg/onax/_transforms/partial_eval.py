"""Partial evaluation: splitting a program into what its known arguments determine, and the rest.

The rest is linear where it is wanted: in a rule of `custom_jvp`, results depend on primals alone, and tangents are
linear in tangents.  A rule may compute both in one loop, branch or call.
"""

from onax._core import jaxpr as core
from onax._core.evaluate import eval_jaxpr
from onax._core.rewrite import eliminate_dead_code
from onax._core.trace import find_cur_trace, set_current_trace
from onax._transforms.linearize import TangentTrace
from onax._transforms.order import reads_in_order
from onax._transforms.staging import trace_to_jaxpr


def partial_eval_jaxpr(jaxpr, unknown, instantiate=False):
    """Splits a closed jaxpr by which of its arguments are unknown; cached with the jaxpr.

    Returns (forward, rest, unknown_out, forwarded), in the form of `linearize_jaxpr`: `forward` maps the known
    arguments to (the results that depend on no other, residuals); `rest` maps (residuals, unknown arguments) to the
    other results.  A residual that is an argument is not among the results of `forward`: `forwarded[i]` is its position
    among all arguments, else None.  `instantiate`: a bool, or one a result: leave a known result to `rest`.
    """
    if isinstance(instantiate, bool):
        instantiate = (instantiate,) * len(jaxpr.outvars)
    key = ("partial_eval", tuple(unknown), tuple(instantiate))
    if key not in jaxpr.cache:
        jaxpr.cache[key] = _make_partial_eval_jaxpr(jaxpr, unknown, instantiate)
    return jaxpr.cache[key]


parted_calls = {}  # primitive of calls -> function of (equation, which operands are unknown) that makes two of it


def with_parted_calls(jaxpr, unknown):
    """The program in which a call that takes unknown values is two: of what needs none of them, and of the rest."""
    reached, eqns = {v for v, flag in zip(jaxpr.invars, unknown) if flag}, []
    for eqn in jaxpr.eqns:
        flags = [type(a) is not core.Literal and a in reached for a in eqn.invars]
        if any(flags) and eqn.primitive in parted_calls and not eqn.effects:
            early, eqn = parted_calls[eqn.primitive](eqn, flags)
            eqns.append(early)
        eqns.append(eqn)
        if any(flags):
            reached.update(eqn.outvars)
    opened = core.Jaxpr(jaxpr.constvars, jaxpr.invars, jaxpr.outvars, eqns, jaxpr.effects, jaxpr.debug_info)
    return core.ClosedJaxpr(opened, jaxpr.consts)


def _make_partial_eval_jaxpr(jaxpr, unknown, instantiate):
    found, jaxpr = {}, with_parted_calls(jaxpr, unknown)

    def forward_fun(*known):
        trace = TangentTrace(jaxpr.debug_info, find_cur_trace())
        given = iter(known)
        values = [trace.new_arg(v.aval) if is_u else next(given) for v, is_u in zip(jaxpr.invars, unknown)]
        positions = {id(x): i for i, (x, is_u) in enumerate(zip(values, unknown)) if not is_u}
        try:
            with set_current_trace(trace):
                outs = eval_jaxpr(jaxpr, jaxpr.consts, *values)
            unknown_out = [make or trace.is_own(x) for x, make in zip(outs, instantiate)]
            rest = trace.to_jaxpr([x for x, is_u in zip(outs, unknown_out) if is_u])
        finally:
            trace.invalidate()
        rest = _in_order(rest)
        forwarded = [positions.get(id(r)) for r in rest.consts]
        found["split"] = core.ClosedJaxpr(core.convert_constvars_jaxpr(rest.jaxpr), ()), unknown_out, forwarded
        computed = [r for r, f in zip(rest.consts, forwarded) if f is None]
        return [*(x for x, is_u in zip(outs, unknown_out) if not is_u), *computed]

    avals = [v.aval for v, is_u in zip(jaxpr.invars, unknown) if not is_u]
    forward = eliminate_dead_code(trace_to_jaxpr(forward_fun, avals, jaxpr.debug_info), bodies=False)
    return forward, *found["split"]


def _in_order(rest):
    """The program with its constants in JAX's order."""
    places = {v: i for i, v in enumerate(rest.constvars)}
    order = [places[v] for v in reads_in_order(rest.eqns, rest.invars, rest.outvars) if v in places]
    constvars = [rest.constvars[i] for i in order]
    opened = core.Jaxpr(constvars, rest.invars, rest.outvars, rest.eqns, rest.effects, rest.debug_info)
    return core.ClosedJaxpr(opened, [rest.consts[i] for i in order])


def merged(unknown, known_values, unknown_values):
    """One list of both, in the order that the flags state."""
    known_values, unknown_values = iter(known_values), iter(unknown_values)
    return [next(unknown_values) if is_u else next(known_values) for is_u in unknown]


__all__ = ["merged", "parted_calls", "partial_eval_jaxpr", "with_parted_calls"]
