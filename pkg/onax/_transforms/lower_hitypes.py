"""From programs with values of types that programs define to programs of arrays alone, which run.

An operation on such values is replaced by what it consists of: its own rule computes it with other operations, a call
is inlined, and a loop or branch gets the arrays of the values as operands, its programs lowered likewise.
"""

from itertools import islice

from onax._core.evaluate import eval_jaxpr
from onax._core.hitypes import HiPrimitive, holds_hitypes, is_high
from onax._core.programs import program_of_call
from onax._core.slots import Slot
from onax._core.trace import Tracer, typeof
from onax._transforms.staging import DynamicJaxprTrace, trace_shared

to_lo = Slot(
    "to_lo",
    "rule(args, **params) -> results, by operations on the arrays that the values consist of",
    "A call is inlined; an operation that holds other programs cannot take values that are not arrays.",
    "onax",
)


class LoweringTrace(DynamicJaxprTrace):
    """Records operations on arrays, and replaces those on other values."""

    __slots__ = ()

    def process_primitive(self, primitive, args, params):
        if is_high(primitive, list(map(typeof, args)), params):
            return lower_operation(primitive, args, params)
        return super().process_primitive(primitive, args, params)

    def process_custom_jvp_call(self, primitive, fun, jvp, args, *, symbolic_zeros, params):
        return fun(*args)

    def process_custom_vjp_call(self, primitive, fun, fwd, bwd, args, *, out_trees, symbolic_zeros, params):
        return fun(*args)


def lower_operation(primitive, args, params):
    """The results of an operation, under the current trace."""
    rule = to_lo.get(primitive)
    if rule is not None:
        return rule(args, **params)
    if isinstance(primitive, HiPrimitive):
        return primitive.to_lojax(*args, **params)
    program = program_of_call(primitive, params)
    if program is None:
        raise NotImplementedError(f"{primitive.name} with values that are not arrays")
    return eval_jaxpr(program, program.consts, *args)


def lower_values(values):
    """The arrays of which values consist: a list for each."""
    lowered = [typeof(x).lower_val(x) for x in values]
    for x in (x for group in lowered for x in group):
        if isinstance(x, Tracer) and not x._trace.alive:
            raise TypeError(f"No constant handler for type: {type(x)}")
    return lowered


def flat(lists):
    """The elements of lists, in order."""
    return [x for one in lists for x in one]


def raise_values(avals, arrays):
    """The values of these types that consist of these arrays."""
    arrays = iter(arrays)
    return [a.raise_val(*islice(arrays, len(a.lo_ty()))) for a in avals]


def lower_program(jaxpr, lo_avals=None):
    """The program of arrays alone; `lo_avals`: a list of types for each argument, by default those that its type says.

    Cached with the program.
    """
    if lo_avals is None:
        lo_avals = [a.lo_ty() for a in jaxpr.in_avals]
    key = ("of arrays alone", tuple(map(tuple, lo_avals)))
    if key not in jaxpr.cache:
        jaxpr.cache[key] = _lower_program(jaxpr, lo_avals)
    return jaxpr.cache[key]


def _lower_program(jaxpr, lo_avals):
    def run(*arrays):
        arrays = iter(arrays)
        args = [a.raise_val(*islice(arrays, len(los))) for a, los in zip(jaxpr.in_avals, lo_avals)]
        return flat(lower_values(eval_jaxpr(jaxpr, jaxpr.consts, *args)))

    return trace_shared(run, flat(lo_avals), jaxpr.debug_info, LoweringTrace)


def lower_call(jaxpr, args):
    """(the program of arrays alone, a list of arrays for each argument) of a call of a program."""
    lowered = lower_values(args)
    return lower_program(jaxpr, [list(map(typeof, group)) for group in lowered]), lowered


__all__ = [
    "LoweringTrace",
    "flat",
    "holds_hitypes",
    "lower_call",
    "lower_operation",
    "lower_program",
    "lower_values",
    "raise_values",
    "to_lo",
]
