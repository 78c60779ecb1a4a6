"""ONNX forms of reductions over windows, and of what their derivatives need: slices, combined axis by axis.

The runtime's pools are not used: MaxPool passes over NaN and gives the lowest finite number for a window of -inf,
AveragePool exists for float32 only.  Max of two operands keeps NaN, and every element type has it.
"""

import numpy as np

from onax._ground import dims, dtypes
from onax._prims import windows as prims
from onax._prims.convert import cast, convert_element_type
from onax._prims.elementwise import add, bitwise_not, bitwise_or, eq, select_n
from onax._prims.elementwise import max as larger
from onax._prims.elementwise import min as smaller
from onax._prims.reductions import highest, lowest
from onax._prims.shaping import full
from onax._prims.slicing import pad, slice_in_dim
from onax._prims.slicing import slice as slice_of
from onax._prims.windows_shapes import offsets, slice_bounds, slide, windows_shape
from onax.export.lower.registry import componentwise, decompose

INT32, F32 = np.dtype(np.int32), np.dtype(np.float32)


def _working_type(dtype):
    """Narrow numbers are combined in 32 bits, so that they are cast twice and not at every step."""
    if dtype.itemsize >= 4 or dtype.kind == "b":
        return dtype
    return INT32 if dtypes.is_integer(dtype) else F32


def _padded(x, value, padding, base_dilation):
    config = tuple((low, high, d - 1) for (low, high), d in zip(padding, base_dilation))
    return pad(x, value, config) if any(any(c) for c in config) else x


def _take(axis):
    return lambda x, start, limit, stride: slice_in_dim(x, start, limit, stride, axis)


def _reduction(combine, neutral):
    def reduced(x, *, window_dimensions, window_strides, padding, base_dilation, window_dilation):
        shape = windows_shape(x.shape, window_dimensions, window_strides, padding, base_dilation, window_dilation)
        if dims.definitely_empty(shape):
            return full(shape, 0, x.dtype)
        dtype, wide = x.dtype, _working_type(x.dtype)
        out = _padded(convert_element_type(x, wide), cast(np.asarray(neutral(dtype)), wide), padding, base_dilation)
        for axis, (n, w, s, d) in enumerate(zip(shape, window_dimensions, window_strides, window_dilation)):
            if w > 1 or s > 1:
                out = slide(out, out.shape[axis], n, w, s, d, _take(axis), combine)
        if combine is add and dtypes.is_float(wide):
            out = add(out, wide.type(0))  # a sum starts at 0: never -0
        return convert_element_type(out, dtype)

    return reduced


decompose(prims.reduce_window_sum_p, _reduction(add, lambda dtype: np.zeros((), dtype)))
decompose(prims.reduce_window_max_p, _reduction(larger, lowest))
decompose(prims.reduce_window_min_p, _reduction(smaller, highest))
componentwise(prims.reduce_window_sum_p)


# ---- the chosen element


def _gathered(g, x, *, select_prim, window_dimensions, window_strides, padding, base_dilation, window_dilation):
    """The tangent beside the element chosen so far, place by place."""
    shape = windows_shape(x.shape, window_dimensions, window_strides, padding, base_dilation, window_dilation)
    if dims.definitely_empty(shape):
        return full(shape, 0, g.dtype)
    dtype, wide = g.dtype, _working_type(g.dtype)
    worst = prims.identity_of(select_prim, wide)
    inside = _padded(full(x.shape, True), np.zeros((), bool), padding, base_dilation)
    holes = inside.shape != x.shape or any(any(p) for p in padding)
    x = _padded(convert_element_type(x, wide), worst, padding, base_dilation)
    g = _padded(convert_element_type(g, wide), np.zeros((), wide), padding, base_dilation)
    best, out = full(shape, worst, wide), full(shape, 0, wide)
    for place in offsets(window_dimensions):
        part = (*slice_bounds(place, window_dilation, shape, window_strides), window_strides)
        here = slice_of(x, *part)
        kept = select_prim.bind(best, here)
        if holes:
            kept = bitwise_or(kept, bitwise_not(slice_of(inside, *part)))
        best, out = select_n(kept, here, best), select_n(kept, slice_of(g, *part), out)
    return convert_element_type(out, dtype)


def _scattered(source, x, *, select_prim, window_dimensions, window_strides, padding):
    """The place chosen in every window, then the source added at one place of all windows after another."""
    ones, dtype, wide = (1,) * x.ndim, x.dtype, _working_type(x.dtype)
    count = source.shape
    if dims.definitely_empty((*count, *x.shape)):
        return full(x.shape, 0, dtype)
    around = _padded(convert_element_type(x, wide), prims.identity_of(select_prim, wide), padding, ones)
    source, places = convert_element_type(source, wide), offsets(window_dimensions)
    best, chosen = None, full(count, 0, INT32)
    for k, place in enumerate(places):
        here = slice_of(around, *slice_bounds(place, ones, count, window_strides), window_strides)
        kept = None if best is None else select_prim.bind(best, here)
        best = here if kept is None else select_n(kept, here, best)
        chosen = chosen if kept is None else select_n(kept, full(count, k, INT32), chosen)
    out, nothing = None, full(count, 0, wide)
    for k, place in enumerate(places):
        part = source if len(places) == 1 else select_n(eq(chosen, np.int32(k)), nothing, source)
        _, limits = slice_bounds(place, ones, count, window_strides)
        config = tuple((p, n - limit, s - 1) for p, n, limit, s in zip(place, around.shape, limits, window_strides))
        part = _at(part, config, wide)
        out = part if out is None else add(out, part)
    low = tuple(p for p, _ in padding)
    return convert_element_type(_cropped(out, low, x.shape), dtype)


def _at(part, config, dtype):
    return pad(part, np.zeros((), dtype), config) if any(any(c) for c in config) else part


def _cropped(x, low, shape):
    """x without its padding; where that was negative, with zeros instead of what it had cut."""
    config = tuple((-lo, n - (m - lo), 0) for lo, m, n in zip(low, x.shape, shape))
    return _at(x, config, x.dtype)


decompose(prims.select_and_gather_add_p, _gathered)
decompose(prims.select_and_scatter_add_p, _scattered)
