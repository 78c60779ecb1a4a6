"""Reductions over axes (`tape_reductions.c`)."""

from itertools import chain
from math import prod

from onax._prims.reductions import (
    argmax_p,
    argmin_p,
    reduce_and_p,
    reduce_max_p,
    reduce_min_p,
    reduce_or_p,
    reduce_prod_p,
    reduce_xor_p,
)
from onax._prims.shaping import reduce_sum_p
from onax._tape.reduce_blocks import emit_with_program
from onax._tape.rules import Unsupported, tape, type_number

MOST_AXES = 16

SUM, _PROD, MAX, MIN, _AND, _OR, _XOR = range(7)  # `onax_reduction`


def _reduction(number):
    """Makes the rule of a reduction by its number."""

    def rule(b, out, x, *, axes, out_sharding=None):
        if x.size and all(x.shape[a] == 1 for a in axes):
            return b.bind(x, out)
        if len(x.shape) > MOST_AXES:
            raise Unsupported(f"a reduction has more than {MOST_AXES} axes")
        result = b.buffer(out)
        if emit_with_program(b, result, x, axes, (number, type_number(x.dtype))):
            return result
        sizes = chain(*[(size, axis in axes) for axis, size in enumerate(x.shape)])
        b.emit("reduce", [result], [x], (number, type_number(x.dtype), *sizes))
        return result

    return rule


tape.set(reduce_sum_p, _reduction(SUM))
tape.set(reduce_prod_p, _reduction(_PROD))
tape.set(reduce_max_p, _reduction(MAX))
tape.set(reduce_min_p, _reduction(MIN))
tape.set(reduce_and_p, _reduction(_AND))
tape.set(reduce_or_p, _reduction(_OR))
tape.set(reduce_xor_p, _reduction(_XOR))


def line_of(shape, axis):
    """The sizes before, of, and after an axis."""
    return prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])


def _search(is_smallest):
    """Makes the rule of argmax or argmin."""

    def rule(b, out, x, *, axes, index_dtype):
        result = b.buffer(out)
        numbers = is_smallest, type_number(x.dtype), type_number(out.dtype), *line_of(x.shape, axes[0])
        b.emit("arg_reduce", [result], [x], numbers)
        return result

    return rule


tape.set(argmax_p, _search(False))
tape.set(argmin_p, _search(True))
