"""Splitting a function or a program by what is known or wanted.

    trace_partial   the operations that depend on unknown arguments, as a program; all others are carried out
    dce_jaxpr       the part of a program that some of its results need

onax itself differentiates without them (see `linearize`): libraries that build on it use them.
"""

from onax._core import jaxpr as core
from onax._core.trace import find_cur_trace, set_current_trace, typeof
from onax._transforms.linearize import TangentTrace
from onax._transforms.simplify import drop_dead_code
from onax._transforms.staging import DynamicJaxprTrace


class PartialTrace(TangentTrace):
    """Records operations on unknown values; hands every other operation to the parent."""

    __slots__ = ()
    records_tangents = False
    transformation = "partial evaluation"

    def __init__(self, debug_info, parent_trace):
        super().__init__(debug_info, parent_trace)
        self.staging = self.locates = True  # what is recorded is shown

    def process_custom_jvp_call(self, primitive, fun, jvp, args, *, symbolic_zeros, params):
        trace = DynamicJaxprTrace if any(self.is_own(x) for x in args) else TangentTrace
        return trace.process_custom_jvp_call(
            self, primitive, fun, jvp, args, symbolic_zeros=symbolic_zeros, params=params
        )

    def process_custom_vjp_call(self, primitive, fun, fwd, bwd, args, *, out_trees, symbolic_zeros, params):
        trace = DynamicJaxprTrace if any(self.is_own(x) for x in args) else TangentTrace
        return trace.process_custom_vjp_call(
            self, primitive, fun, fwd, bwd, args, out_trees=out_trees, symbolic_zeros=symbolic_zeros, params=params
        )


def trace_partial(fun, known, avals, instantiate, debug_info=core.UNKNOWN_DEBUG_INFO):
    """Runs `fun`, from flat values to flat values, on arguments of which some are unknown.

    known        the arguments; anything where one is unknown
    avals        for each argument its type if it is unknown, else None
    instantiate  a bool, or one a result: make this result unknown, even if it is known

    Returns (ClosedJaxpr of the unknown arguments and results, results: None where unknown, their types: None where
    known).
    """
    trace = PartialTrace(debug_info, find_cur_trace())
    trace.function = fun
    args = [x if aval is None else trace.new_arg(aval) for x, aval in zip(known, avals)]
    try:
        with set_current_trace(trace):
            outs = list(fun(*args))
            if isinstance(instantiate, bool):
                instantiate = [instantiate] * len(outs)
            unknown = [make or trace.is_own(x) for x, make in zip(outs, instantiate)]
            closed = drop_dead_code(trace.to_jaxpr([x for x, flag in zip(outs, unknown) if flag]))
    finally:
        trace.invalidate()
    types = [typeof(x) if flag else None for x, flag in zip(outs, unknown)]
    return closed, [None if flag else x for x, flag in zip(outs, unknown)], types


def dce_jaxpr(jaxpr, used_outputs, instantiate=False):
    """(open jaxpr of the wanted results and the arguments that they need, for each argument whether it is needed).

    used_outputs  a bool, or one a result
    instantiate   a bool, or one an argument: keep this argument in any case

    Equations with effects stay.  A primitive's `dce` rule, `(used_outputs, eqn) -> (used_inputs, eqn or None)`,
    makes an equation smaller; without one it stays whole.  The constants stay as they are.
    """
    used_outputs = _flags(used_outputs, len(jaxpr.outvars))
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
    keep = _flags(instantiate, len(jaxpr.invars))
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


def dce_jaxpr_consts(jaxpr, used_outputs, instantiate=False):
    """The same, without the constants that nothing needs: (jaxpr, used constants, used arguments)."""
    count = len(jaxpr.constvars)
    keep = [False] * count + _flags(instantiate, len(jaxpr.invars))
    pruned, used = dce_jaxpr(core.convert_constvars_jaxpr(jaxpr), used_outputs, keep)
    used_consts, used_inputs = used[:count], used[count:]
    constvars = [v for v, flag in zip(jaxpr.constvars, used_consts) if flag]
    return (
        core.Jaxpr(constvars, pruned.invars[len(constvars) :], pruned.outvars, pruned.eqns, None, jaxpr.debug_info),
        used_consts,
        used_inputs,
    )


def _flags(value, count):
    """One bool for each of `count` places."""
    flags = [value] * count if isinstance(value, bool) else list(value)
    if len(flags) != count:
        raise ValueError(f"{count} flags are wanted, {len(flags)} were given")
    return flags
