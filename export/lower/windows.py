"""Lowerings of reductions over windows, and of what their derivatives need: slices, combined axis by axis.

MaxPool is not used: it ignores NaN and returns the lowest finite number for a window of -inf.  Max of two operands
propagates NaN and has all element types.  Sums of float32 are formulas, of which recognition makes AveragePool.

The other direction: `pkg/onax/onnx/windows.py`.
"""

from functools import reduce

import numpy as np

from onax._ground import dims, dtypes
from onax._ground.errors import InconclusiveDimensionOperation
from onax._prims import windows as prims
from onax._prims.convert import cast, convert_element_type
from onax._prims.creation import broadcasted_iota, full
from onax._prims.elementwise import add, eq, select_n
from onax._prims.elementwise import max as larger
from onax._prims.elementwise import min as smaller
from onax._prims.elementwise_bits import bitwise_not, bitwise_or
from onax._prims.padding import pad
from onax._prims.reductions import highest, lowest, reduce_max, reduce_min
from onax._prims.shaping import broadcast_in_dim, reduce_sum, reshape, transpose
from onax._prims.slicing import concatenate, slice_in_dim, split
from onax._prims.slicing import slice as slice_of
from onax._prims.windows_shapes import NARROW, combine_windows, window_offsets, windows_shape
from onax.export.graph.value import as_aval
from onax.export.lower.driver import lower_function
from onax.export.lower.registry import componentwise, decompose, lowers

INT32, F32 = np.dtype(np.int32), np.dtype(np.float32)


def _working_type(dtype):
    """The type to compute in: 32 bits for narrow numbers, which are then cast twice and not at every step."""
    if dtype.itemsize >= 4 or dtype.kind == "b":
        return dtype
    return INT32 if dtypes.is_integer(dtype) else F32


def _pad(x, value, padding, base_dilation):
    config = tuple((low, high, d - 1) for (low, high), d in zip(padding, base_dilation))
    return pad(x, value, config) if any(not dims.equal(n, 0) for c in config for n in c) else x


def _phases(x, axis, need, stride):
    """Splits x along an axis into `stride` arrays, the k-th of elements k, k + stride, ...; `need` elements are used.

    Split of a reshaped tensor is three to four times as fast as Slice with steps along the last axis (1.31); along
    other axes Slice copies whole rows.
    """
    count, size = -(-need // stride), x.shape[axis]
    if count * stride > size:
        config = [(0, 0, 0)] * x.ndim
        config[axis] = (0, count * stride - size, 0)
        x = _pad_with_zeros(x, config)
    else:
        x = slice_in_dim(x, 0, count * stride, 1, axis)
    lead, rest = x.shape[:axis], x.shape[axis + 1 :]
    apart = reshape(x, (*lead, count, stride, *rest))
    return [reshape(p, (*lead, count, *rest)) for p in split(apart, (1,) * stride, axis + 1)]


def _is_within(size, count, window, stride, gap):
    """Whether an axis is known to have windows, and to hold them."""
    try:
        return count >= 1 and (window - 1) * gap + (count - 1) * stride + 1 <= size
    except InconclusiveDimensionOperation:
        return False


def _take_windows(x, axis, count, window, stride, gap):
    """(x, a function (x, start, limit, stride) that returns one element of every window along an axis).

    An axis of a symbolic size that may have no windows gets zeros at its end, which no window contains: then slices
    from a position of the first window, as many strides long as there are windows, lie within it.
    """
    size = x.shape[axis]
    if not _is_within(size, count, window, stride, gap):
        config = [(0, 0, 0)] * x.ndim
        config[axis] = (0, (window - 1) * gap + stride - 1, 0)
        whole_strides = lambda x, start, limit, stride: slice_in_dim(x, start, limit + stride - 1, stride, axis)
        return _pad_with_zeros(x, config), whole_strides
    known = dims.is_constant(count) and dims.is_constant(size) and axis == x.ndim - 1
    if not (known and 1 < window <= NARROW and 1 < stride <= NARROW):
        return x, lambda x, start, limit, stride: slice_in_dim(x, start, limit, stride, axis)
    phases = _phases(x, axis, (count - 1) * stride + (window - 1) * gap + 1, stride)

    def take(_, start, limit, __):
        first = start // stride
        return slice_in_dim(phases[start % stride], first, first + count, 1, axis)

    return x, take


def _are_blocks(count, window, strides, gaps):
    """Whether windows divide the axes into blocks: they neither overlap nor leave gaps."""
    if tuple(window) != tuple(strides) or any(d != 1 for d in gaps) or all(w == 1 for w in window):
        return False
    return all(w == 1 or (w <= NARROW and dims.is_constant(n)) for n, w in zip(count, window))


def _combine_blocks(x, count, window, combine):
    """Reduces blocks: each axis is split into (blocks, position), and the positions are combined."""
    x = slice_of(x, (0,) * x.ndim, tuple(n * w for n, w in zip(count, window)))
    x = reshape(x, [d for n, w in zip(count, window) for d in ((n, w) if w > 1 else (n,))])
    axis = 0
    for w in window:
        axis += 1
        if w > 1:
            x = reduce(combine, split(x, (1,) * w, axis))
            axis += 1
    return reshape(x, count)


def _whole_axes(shape, count, window_dimensions, window_strides, padding, base_dilation, window_dilation):
    """The axes that one window covers, if no other axis has windows; else none."""
    whole = []
    for axis, (size, n, w, s, pads, base, gap) in enumerate(
        zip(shape, count, window_dimensions, window_strides, padding, base_dilation, window_dilation)
    ):
        if any(pads) or base != 1 or gap != 1:
            return []
        if n == 1 and dims.equal(size, w):
            whole.append(axis)
        elif w != 1 or s != 1:
            return []
    return whole


def _reduction(combine, neutral, over_axes):
    def reduced(x, *, window_dimensions, window_strides, padding, base_dilation, window_dilation):
        shape = windows_shape(x.shape, window_dimensions, window_strides, padding, base_dilation, window_dilation)
        if dims.definitely_empty(shape):
            return full(shape, 0, x.dtype)
        dtype, wide = x.dtype, _working_type(x.dtype)
        how = window_dimensions, window_strides, padding, base_dilation, window_dilation
        if whole := _whole_axes(x.shape, shape, *how):
            return reshape(over_axes(x, whole), shape)
        out = _pad(convert_element_type(x, wide), cast(np.asarray(neutral(dtype)), wide), padding, base_dilation)
        if _are_blocks(shape, window_dimensions, window_strides, window_dilation):
            out = _combine_blocks(out, shape, window_dimensions, combine)
        else:
            for axis, (n, w, s, d) in enumerate(zip(shape, window_dimensions, window_strides, window_dilation)):
                if w > 1 or s > 1:
                    out, take = _take_windows(out, axis, n, w, s, d)
                    out = combine_windows(out, out.shape[axis], n, w, s, d, take, combine)
        if combine is add and dtypes.is_float(wide):
            out = add(out, wide.type(0))  # a sum starts at 0, so it is never -0
        return convert_element_type(out, dtype)

    return reduced


_sum_of_windows = _reduction(add, lambda dtype: np.zeros((), dtype), reduce_sum)


@lowers(prims.reduce_window_sum_p)
def _reduce_window_sum(g, out, x, **params):
    return _windows(g, "WindowSum", x, out, params)


def _windows(g, name, x, out, params):
    """A reduction over windows, as a formula where ONNX has a pooling operator for it."""
    build = lambda g, x: lower_function(g, _FORMULAS[name], params, [x.aval], [x])[0]
    if x.dtype != F32 or not _is_pooling(x.shape, out.shape, **params) or _whole_axes(x.shape, out.shape, **params):
        return build(g, x)
    sizes = (params[f"window_{name}"] for name in ("dimensions", "strides", "dilation"))

    def over_axes(g, x, axes):
        """The same windows over x, whose axis i is axis axes[i] here; what is left out has length one."""
        moved = {key: tuple(value[i] for i in axes) for key, value in params.items()}
        return _windows(g, name, x, as_aval((tuple(out.shape[i] for i in axes), out.dtype)), moved)

    return g.formula(
        name, x, out=out, build=build, params=params, blocks=_are_blocks(out.shape, *sizes), over_axes=over_axes
    )


def _is_pooling(shape, count, *, window_dimensions, window_strides, padding, base_dilation, window_dilation):
    """Whether ONNX's pooling operators take these windows."""
    rows = list(zip(shape, count, window_dimensions, window_strides, padding, base_dilation, window_dilation))
    if dims.definitely_empty((*shape, *count)) or any(b != 1 for *_, b, _ in rows):
        return False
    pooled = [row for row in rows if row[2] > 1 or row[3] > 1]
    if any(any(p) for row in rows if row not in pooled for p in [row[4]]):
        return False
    return 1 <= len(pooled) <= 3 and all(
        dims.is_constant(size) and dims.is_constant(n) and n > 0 and all(0 <= p < w for p in pads)
        for size, n, w, _, pads, *_ in pooled
    )


_maximum_of_windows = _reduction(larger, lowest, reduce_max)


@lowers(prims.reduce_window_max_p)
def _reduce_window_max(g, out, x, **params):
    return _windows(g, "WindowMax", x, out, params)


_FORMULAS = {"WindowSum": _sum_of_windows, "WindowMax": _maximum_of_windows}

decompose(prims.reduce_window_min_p, _reduction(smaller, highest, reduce_min))
componentwise(prims.reduce_window_sum_p)


# ---- the selected element


def _split_windows(x, count, window):
    """Rearranges x, each element of which is in one window, to (position in the window, window...)."""
    rank = x.ndim
    x = reshape(x, [n for pair in zip(count, window) for n in pair])
    x = transpose(x, (*range(1, 2 * rank, 2), *range(0, 2 * rank, 2)))
    return reshape(x, (dims.prod(window), *count))


def _merge_windows(x, count, window):
    """The inverse of `_split_windows`."""
    rank = len(count)
    x = transpose(reshape(x, (*window, *count)), [i for k in range(rank) for i in (rank + k, k)])
    return reshape(x, [n * w for n, w in zip(count, window)])


def _read_split_windows(x, count, window, strides, gaps):
    """`_split_windows` if windows neither overlap nor leave gaps, else None."""
    if tuple(window) != tuple(strides) or any(d != 1 for d in gaps) or all(w == 1 for w in window):
        return None
    used = tuple(n * w for n, w in zip(count, window))
    return _split_windows(slice_of(x, (0,) * x.ndim, used), count, window)


def _reader(x, count, window, strides, gaps):
    """A function (position number, offsets) -> the elements of x at that position of every window."""
    apart = _read_split_windows(x, count, window, strides, gaps)
    if apart is None:
        return _overlapping_reader(x, count, window, strides, gaps)
    rows = split(apart, (1,) * apart.shape[0], 0)
    return lambda k, position: reshape(rows[k], count)


def _overlapping_reader(x, count, window, strides, gaps):
    """`_reader` for windows that overlap: it slices one axis after another, and caches the parts."""
    made, along = {(): x}, {}

    def part(position):
        if position in made:
            return made[position]
        lead, k, axis = position[:-1], position[-1], len(position) - 1
        y, n, w, s, d = part(lead), count[axis], window[axis], strides[axis], gaps[axis]
        if lead not in along:
            along[lead] = (y, None) if w == s == 1 else _take_windows(y, axis, n, w, s, d)
        y, take = along[lead]
        made[position] = y if take is None else take(y, k * d, k * d + (n - 1) * s + 1, s)
        return made[position]

    return lambda k, position: part(position)


def _select_and_gather_add(
    g, x, *, select_prim, window_dimensions, window_strides, padding, base_dilation, window_dilation
):
    """Selects an element and its tangent, one position after another."""
    shape = windows_shape(x.shape, window_dimensions, window_strides, padding, base_dilation, window_dilation)
    if dims.definitely_empty(shape):
        return full(shape, 0, g.dtype)
    dtype, wide = g.dtype, _working_type(g.dtype)
    worst = prims.identity_element(select_prim, wide)
    inside = _pad(full(x.shape, True), np.zeros((), bool), padding, base_dilation)
    holes = inside.shape != x.shape or any(any(p) for p in padding)
    x = _pad(convert_element_type(x, wide), worst, padding, base_dilation)
    g = _pad(convert_element_type(g, wide), np.zeros((), wide), padding, base_dilation)
    best, out = full(shape, worst, wide), full(shape, 0, wide)
    window = shape, window_dimensions, window_strides, window_dilation
    read_x, read_g, read_inside = (_reader(v, *window) for v in (x, g, inside))
    for k, position in enumerate(window_offsets(window_dimensions)):
        here = read_x(k, position)
        keeps_best = select_prim.bind(best, here)
        if holes:
            keeps_best = bitwise_or(keeps_best, bitwise_not(read_inside(k, position)))
        best, out = select_n(keeps_best, here, best), select_n(keeps_best, read_g(k, position), out)
    return convert_element_type(out, dtype)


def _select_and_scatter_add(source, x, *, select_prim, window_dimensions, window_strides, padding):
    """Selects a position in every window, then adds the source there, one position after another."""
    ones, dtype, wide = (1,) * x.ndim, x.dtype, _working_type(x.dtype)
    count = source.shape
    if dims.definitely_empty((*count, *x.shape)):
        return full(x.shape, 0, dtype)
    around = _pad(convert_element_type(x, wide), prims.identity_element(select_prim, wide), padding, ones)
    source, positions = convert_element_type(source, wide), window_offsets(window_dimensions)
    best, chosen = None, full(count, 0, INT32)
    read = _reader(around, count, window_dimensions, window_strides, ones)
    for k, position in enumerate(positions):
        here = read(k, position)
        keeps_best = None if best is None else select_prim.bind(best, here)
        best = here if keeps_best is None else select_n(keeps_best, here, best)
        chosen = chosen if keeps_best is None else select_n(keeps_best, full(count, k, INT32), chosen)
    low = tuple(p for p, _ in padding)
    if tuple(window_dimensions) == tuple(window_strides) and len(positions) > 1:
        numbers = broadcasted_iota(INT32, (len(positions), *count), 0)
        here = eq(_repeat_for_positions(chosen, len(positions)), numbers)
        out = select_n(here, full(numbers.shape, 0, wide), _repeat_for_positions(source, len(positions)))
        return convert_element_type(_crop(_merge_windows(out, count, window_dimensions), low, x.shape), dtype)
    nothing, parts = full(count, 0, wide), {}
    for k, position in enumerate(positions):
        parts[position] = source if len(positions) == 1 else select_n(eq(chosen, np.int32(k)), nothing, source)
    out = _sum_at_positions(parts, window_dimensions, window_strides, around.shape)
    return convert_element_type(_crop(out, low, x.shape), dtype)


def _sum_at_positions(parts, window, strides, shape):
    """Adds the parts, each at its position of every window; the last axis comes first."""
    for axis in reversed(range(len(shape))):
        width = range(window[axis])
        parts = {
            lead: _sum_along([parts[(*lead, k)] for k in width], axis, shape[axis], strides[axis])
            for lead in window_offsets(window[:axis])
        }
    return parts[()]


def _sum_along(parts, axis, size, stride):
    """Adds the parts, the k-th at k, k + stride, ..., along an axis of this size."""
    if len(parts) == stride == 1:
        return parts[0]
    if stride > NARROW or not dims.is_constant(size):
        return _sum([_place_with_stride(p, axis, k, size, stride) for k, p in enumerate(parts)])
    length = -(-size // stride)
    lead, rest = parts[0].shape[:axis], parts[0].shape[axis + 1 :]
    phases = [
        _sum([_place_with_stride(p, axis, k, length, 1) for k, p in enumerate(parts[r::stride])]) for r in range(stride)
    ]
    nothing = full((*lead, length, *rest), 0, parts[0].dtype)
    columns = [reshape(nothing if p is None else p, (*lead, length, 1, *rest)) for p in phases]
    together = reshape(concatenate(columns, axis + 1), (*lead, length * stride, *rest))
    return slice_in_dim(together, 0, size, 1, axis)


def _place_with_stride(part, axis, first, size, stride):
    """Places a part at first, first + stride, ... of an axis of this size, with zeros elsewhere."""
    config = [(0, 0, 0)] * part.ndim
    config[axis] = (first, size - first - dims.dilate_dim(part.shape[axis], stride), stride - 1)
    return _pad_with_zeros(part, config)


def _sum(parts):
    return reduce(add, parts) if parts else None


def _repeat_for_positions(x, positions):
    """Repeats x for each position along a new first axis."""
    return broadcast_in_dim(x, (positions, *x.shape), tuple(range(1, x.ndim + 1)))


def _pad_with_zeros(part, config):
    return pad(part, np.zeros((), part.dtype), config) if any(any(c) for c in config) else part


def _crop(x, low, shape):
    """Removes the padding of x; where it was negative, adds zeros for the cropped elements."""
    config = tuple((-lo, n - (m - lo), 0) for lo, m, n in zip(low, x.shape, shape))
    return _pad_with_zeros(x, config)


decompose(prims.select_and_gather_add_p, _select_and_gather_add)
decompose(prims.select_and_scatter_add_p, _select_and_scatter_add)
