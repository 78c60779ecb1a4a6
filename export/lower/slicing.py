"""Lowerings of slices, updates of slices, concatenation and padding.

Start indices are clamped, unless they are known to be in range.

The other direction: `pkg/onax/onnx/slicing.py`.
"""

import math
from dataclasses import dataclass

import numpy as np

from onax._ground import dims as dim_rules
from onax._prims.padding import pad_p
from onax._prims.slicing import concatenate_p, dim_as_value_p, dynamic_slice_p, dynamic_update_slice_p, slice_p, split_p
from onax.export.graph import ops
from onax.export.graph.bounds import fits_32_bits, integer_range, is_within
from onax.export.lower.convert import INT32, INT64, UNSIGNED
from onax.export.lower.registry import lowers

_LARGEST = np.iinfo(np.int64).max
# ScatterND takes one index per row; an update with more rows than this is concatenated instead.
_MANY_ROWS = 64


@lowers(slice_p)
def _slice(g, out, x, *, start_indices, limit_indices, strides=None):
    return ops.slice_(g, x, start_indices, limit_indices, strides)


@lowers(dim_as_value_p)
def _dim_as_value(g, out, *, dim):
    return ops.cast(g, g.dim(dim), out.dtype)


# ---- start indices


def index64(g, x):
    """Converts integers to int64; uint64 saturates."""
    if x.const is not None:
        return g.const(np.minimum(x.const, np.asarray(_LARGEST).astype(x.dtype)).astype(INT64)
                       if x.dtype == UNSIGNED[8] else x.const.astype(INT64))  # fmt: skip
    if x.dtype == UNSIGNED[8]:
        x = ops.minimum(g, x, g.const(_LARGEST, x.dtype))
    return ops.cast(g, x, INT64)


def clamp_index(g, x, limit):
    """Clamps x to 0..limit (a dimension); returns x itself if it is known to be in range."""
    if dim_rules.is_constant(limit):
        if is_within(x, 0, limit):
            return x
        if x.const is not None:
            return g.const(np.asarray(np.clip(x.const.astype(object), 0, limit), x.dtype))
        clips = x.dtype != INT64 and g.runs("Clip", x.dtype, directly=True)
        if limit <= np.iinfo(x.dtype).max and clips:
            return g.node("Clip", x, ops.scalar(g, 0, x), ops.scalar(g, limit, x))
    lowest, highest = integer_range(x)
    if lowest >= 0 and dim_rules.definitely_at_least(limit, highest):
        return x
    x = index64(g, x)
    limit = g.dim(limit)
    if fits_32_bits(x):
        return g.node("Clip", x, g.const(0, INT64), limit)
    return ops.minimum(g, ops.maximum(g, x, g.const(0, INT64)), limit)


def _partial_axes(shape, sizes):
    """The axes that a window of these sizes does not cover completely."""
    return [a for a, (n, k) in enumerate(zip(shape, sizes)) if not dim_rules.equal(n, k)]


def _starts(g, x, starts, sizes, axes):
    """The clamped starts of these axes, as int64 vectors of length one."""
    clamped = [clamp_index(g, starts[a], x.shape[a] - sizes[a]) for a in axes]
    return [g.const(s.const.reshape(1)) if s.const is not None else ops.reshape(g, s, (1,))
            for s in (index64(g, s) for s in clamped)]  # fmt: skip


def _concat_starts(g, starts):
    """Concatenates vectors of length one."""
    if all(s.const is not None for s in starts):
        return g.const(np.concatenate([s.const for s in starts]))
    return ops.concat(g, starts, 0)


def _sum_of_dims(g, start, size):
    """start + size, both vectors of length one."""
    if start.const is not None and dim_rules.is_constant(size):
        return g.const(start.const + size)
    return ops.add(g, start, g.shape_const((size,)))


# ---- dynamic_slice


@lowers(dynamic_slice_p)
def _dynamic_slice(g, out, x, *starts, slice_sizes):
    starts, sizes = starts[: x.ndim], out.shape
    axes = _partial_axes(x.shape, sizes)
    if not axes:
        return x
    if len(axes) == 1 and dim_rules.equal(sizes[axes[0]], 1):
        (a,) = axes
        index = clamp_index(g, starts[a], x.shape[a] - 1)
        index = index if index.dtype in (INT32, INT64) else index64(g, index)
        return ops.gather(g, x, ops.reshape(g, index, (1,)), a)
    first = _starts(g, x, starts, sizes, axes)
    begin = _concat_starts(g, first)
    extent = g.shape_const([sizes[a] for a in axes])
    if begin.const is not None and extent.const is not None:
        end = g.const(begin.const + extent.const)
    else:
        end = ops.add(g, begin, extent)
    return g.node("Slice", x, begin, end, g.const(axes, INT64), out=out)


# ---- dynamic_update_slice


def _scatter_rows(g, x, update, starts, axes, sizes, out):
    """ScatterND of the rows of an update that covers all axes but the leading ones."""
    begin = _concat_starts(g, starts)
    grid = np.stack(np.meshgrid(*[np.arange(k) for k in sizes], indexing="ij"), axis=-1)
    if begin.const is not None:
        positions = g.const(grid + begin.const, INT64)
    elif math.prod(sizes) == 1:
        positions = ops.reshape(g, begin, grid.shape)
    else:
        positions = ops.add(g, g.const(grid, INT64), begin)
    return g.node("ScatterND", x, positions, update, out=out)


@dataclass(slots=True, eq=False, repr=False)
class _UnknownSize:
    """The dynamic size of an axis: the part before or after a slice."""

    name: str

    def __str__(self):
        return self.name


def _splice(g, x, update, starts, axes, out):
    """Concatenates the part before the update, the update and the part after it, axis by axis."""
    if not axes:
        return update
    (a, *rest), (start, *others) = axes, starts
    axis = g.const([a], INT64)
    end = _sum_of_dims(g, start, update.shape[a])

    def part(begin, until, size):
        shape = tuple(size if i == a else d for i, d in enumerate(x.shape))
        return g.node("Slice", x, begin, until, axis, out=(shape, x.dtype))

    before = part(g.const([0], INT64), start, _UnknownSize(g.model.fresh("before")))
    after = part(end, g.const([_LARGEST], INT64), _UnknownSize(g.model.fresh("after")))
    middle = update
    if rest:
        row = part(start, end, update.shape[a])
        middle = _splice(g, row, update, others, rest, (row.shape, x.dtype))
    return g.node("Concat", before, middle, after, out=out, axis=a)


@lowers(dynamic_update_slice_p)
def _dynamic_update_slice(g, out, x, update, *starts):
    sizes = update.shape
    axes = _partial_axes(x.shape, sizes)
    if not axes:
        return update
    if dim_rules.definitely_empty(sizes):
        return x
    first = _starts(g, x, starts, sizes, axes)
    leading = axes[-1] == len(axes) - 1
    known = [sizes[a] for a in axes]
    if leading and dim_rules.is_constant_shape(known) and math.prod(known) <= _MANY_ROWS:
        return _scatter_rows(g, x, update, first, axes, known, out)
    return _splice(g, x, update, first, axes, out)


# ---- concatenate


@lowers(concatenate_p)
def _concatenate(g, out, *xs, dimension):
    filled = [x for x in xs if not dim_rules.equal(x.shape[dimension], 0)] or list(xs[:1])
    return filled[0] if len(filled) == 1 else g.node("Concat", *filled, out=out, axis=dimension)


# ---- pad


def _pad_interior(g, x, value, interiors):
    """Inserts `value` after each element, `interiors` times along each axis."""
    apart, spread, pads = [], [], []
    for n, k in zip(x.shape, interiors):
        apart += (n, 1) if k else (n,)
        spread += (n, k + 1) if k else (n,)
        pads += (0, k) if k else (0,)
    split = ops.reshape(g, x, apart)
    holes = g.shape_const([0] * len(pads) + pads)
    split = g.node("Pad", split, holes, value, out=(tuple(spread), x.dtype))
    return ops.reshape(g, split, [n * (k + 1) for n, k in zip(x.shape, interiors)])


def _after_last(n, interior):
    """How many elements `_pad_interior` inserts after the last one of n: none if there is none."""
    is_known = interior == 0 or dim_rules.definitely_at_least(n, 1)
    return interior if is_known else interior * dim_rules.min_dim(n, 1)


def _crops_too_much(x, low, high):
    """Whether negative padding crops more than the size of an axis: then x must be padded first."""
    for n, lo, hi in zip(x.shape, low, high):
        cut = dim_rules.min_dim(lo, 0) + dim_rules.min_dim(hi, 0)
        if not (dim_rules.equal(cut, 0) or dim_rules.definitely_at_least(n + cut, 0)):
            return True
    return False


def pad(g, x, value, padding_config, out):
    """Pads x with `value` before, after and between its elements; negative amounts crop."""
    low, high, interior = ([c[i] for c in padding_config] for i in range(3))
    if any(interior):
        empty = [dim_rules.equal(n, 0) for n in x.shape]
        interior = [0 if e else k for e, k in zip(empty, interior)]
        high = [hi - _after_last(n, k) for n, hi, k in zip(x.shape, high, interior)]
        x = _pad_interior(g, x, value, interior) if any(interior) else x
    if _crops_too_much(x, low, high):
        grown_low, grown_high = ([dim_rules.max_dim(n, 0) for n in side] for side in (low, high))
        grown = tuple(n + lo + hi for n, lo, hi in zip(x.shape, grown_low, grown_high))
        x = _pad_node(g, x, value, grown_low, grown_high, (grown, x.dtype))
        begin = [dim_rules.max_dim(-n, 0) for n in low]
        return ops.slice_(g, x, begin, [b + n for b, n in zip(begin, out.shape)])
    return _pad_node(g, x, value, low, high, out)


def _pad_node(g, x, value, low, high, out):
    if all(dim_rules.equal(n, 0) for n in (*low, *high)):
        return x
    return g.node("Pad", x, g.shape_const([*low, *high]), value, out=out)


@lowers(pad_p)
def _pad(g, out, x, value, *, padding_config):
    if dim_rules.definitely_empty(out.shape) or x.ndim == 0:
        return x if x.ndim == 0 else ops.full(g, out.shape, 0, out.dtype)
    return pad(g, x, value, padding_config, out)


# ---- split


@lowers(split_p)
def _split(g, outs, x, *, sizes, axis):
    if len(sizes) == 1:
        return (x,)
    return g.node("Split", x, g.shape_const(sizes), outs=outs, axis=axis)
