"""Reductions over windows, and their derivatives (`tape_windows.c`, `tape_windows_select.c`)."""

from itertools import chain
from math import prod

from onax._prims.elementwise import le_p
from onax._prims.windows import (
    reduce_window_max_p,
    reduce_window_min_p,
    reduce_window_sum_p,
    select_and_gather_add_p,
    select_and_scatter_add_p,
)
from onax._tape.reductions import MAX, MIN, MOST_AXES, SUM
from onax._tape.rules import Unsupported, tape, type_number

_SELECTED = ("float32", "float64", "int32", "int64", "float16", "bfloat16")


def _windows(x, window_dimensions, window_strides, padding, base_dilation, window_dilation):
    """The words that tell of an operand's windows."""
    if len(x.shape) > MOST_AXES:
        raise Unsupported(f"windows have more than {MOST_AXES} axes")
    axes = zip(x.shape, window_dimensions, window_strides, padding, base_dilation, window_dilation)
    words = [(size, window, stride, low, high, base, gap) for size, window, stride, (low, high), base, gap in axes]
    return len(words), *chain(*words)


def _check_elements(x, out):
    if not x.size and prod(out.shape):
        raise Unsupported("windows hold nothing but padding")


def _reduction(number):
    """Makes the rule of a reduction over windows by its number."""

    def rule(b, out, x, **params):
        _check_elements(x, out)
        if x.dtype.kind == "c" and number != SUM:
            raise Unsupported("extremes of complex numbers over windows have no instruction")
        result = b.buffer(out)
        b.emit("reduce_window", [result], [x], (number, type_number(x.dtype), *_windows(x, **params)))
        return result

    return rule


tape.set(reduce_window_sum_p, _reduction(SUM))
tape.set(reduce_window_max_p, _reduction(MAX))
tape.set(reduce_window_min_p, _reduction(MIN))


def _select(b, name, out, first, x, select_prim, params):
    if x.dtype not in _SELECTED:
        raise Unsupported(f"elements of {x.dtype} are not selected by an instruction")
    result = b.buffer(out)
    b.emit(name, [result], [first, x], (select_prim is le_p, type_number(x.dtype), *_windows(x, **params)))
    return result


@tape.rule(select_and_gather_add_p)
def _gather(b, out, g, x, *, select_prim, **params):
    _check_elements(x, out)
    return _select(b, "select_and_gather", out, g, x, select_prim, params)


@tape.rule(select_and_scatter_add_p)
def _scatter(b, out, source, x, *, select_prim, **params):
    ones = (1,) * len(x.shape)
    return _select(
        b, "select_and_scatter", out, source, x, select_prim, {**params, "base_dilation": ones, "window_dilation": ones}
    )
