"""Splitting a function or a program by what is known or wanted.

    trace_partial   the operations that depend on unknown arguments, as a program; all others are carried out
    dce_jaxpr       the part of a program that some of its results need

onax itself differentiates without them (see `linearize`): libraries that build on it use them.
"""

from onax._core import jaxpr as core
from onax._core.rewrite import dce_jaxpr, eliminate_dead_code, flags_of
from onax._core.trace import find_cur_trace, set_current_trace, typeof
from onax._transforms.linearize import TangentTrace
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
            closed = eliminate_dead_code(trace.to_jaxpr([x for x, flag in zip(outs, unknown) if flag]), bodies=False)
    finally:
        trace.invalidate()
    types = [typeof(x) if flag else None for x, flag in zip(outs, unknown)]
    return closed, [None if flag else x for x, flag in zip(outs, unknown)], types


def dce_jaxpr_consts(jaxpr, used_outputs, instantiate=False):
    """The same, without the constants that nothing needs: (jaxpr, used constants, used arguments)."""
    count = len(jaxpr.constvars)
    keep = [False] * count + flags_of(instantiate, len(jaxpr.invars))
    pruned, used = dce_jaxpr(core.convert_constvars_jaxpr(jaxpr), used_outputs, keep)
    used_consts, used_inputs = used[:count], used[count:]
    constvars = [v for v, flag in zip(jaxpr.constvars, used_consts) if flag]
    return (
        core.Jaxpr(constvars, pruned.invars[len(constvars) :], pruned.outvars, pruned.eqns, None, jaxpr.debug_info),
        used_consts,
        used_inputs,
    )
