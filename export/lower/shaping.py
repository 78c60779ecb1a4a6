"""Lowerings of broadcasting, reshaping and transposition, of reduce_sum and of iota.

The other direction: `pkg/onax/onnx/shaping.py`.
"""

import numpy as np

from onax._ground import dims as dim_rules
from onax._prims.creation import copy_p, empty2_p, iota_p
from onax._prims.shaping import broadcast_in_dim_p, reduce_sum_p, reshape_p, rev_p, squeeze_p, transpose_p
from onax.export.graph import ops
from onax.export.lower.components import constant
from onax.export.lower.convert import F32, INT32, INT64, is_small_constant
from onax.export.lower.registry import lowers

# Longer integer ranges are computed at run time instead of being stored in the model.
_LONGEST_CONSTANT = 1024
# ReduceSum adds float32 numbers one by one; sums of at least this many are computed in two steps.
_LONG_SUM = 1 << 14


# ---- broadcast_in_dim


def broadcast_in_dim(g, x, shape, broadcast_dimensions):
    """Maps the axes of x to these axes of `shape`, and repeats x along the others."""
    axes = tuple(broadcast_dimensions)
    first = axes[0] if axes else len(shape)
    unit = [1] * (len(shape) - first)
    for axis, new_axis in enumerate(axes):
        unit[new_axis - first] = x.shape[axis]
    grown = dim_rules.equal_shapes((1,) * first + tuple(unit), tuple(shape))
    if grown:  # all new axes have length one
        return ops.reshape(g, x, shape)
    if is_small_constant(x) and x.const.size == 1:
        return ops.expand(g, g.const(x.const.reshape(())), shape)
    return ops.expand(g, ops.reshape(g, x, unit), shape)


@lowers(broadcast_in_dim_p)
def _broadcast_in_dim(g, out, x, *_, shape, broadcast_dimensions, **params):
    return broadcast_in_dim(g, x, out.shape, broadcast_dimensions)


# ---- reshape, transpose, squeeze, rev


@lowers(reshape_p)
def _reshape(g, out, x, *_, new_sizes, dimensions=None, **params):
    if dimensions is not None:
        x = ops.transpose(g, x, dimensions)
    return ops.reshape(g, x, out.shape)


@lowers(transpose_p)
def _transpose(g, out, x, *, permutation):
    return ops.transpose(g, x, permutation)


@lowers(squeeze_p)
def _squeeze(g, out, x, *, dimensions):
    node = x.node
    if node is not None and node.op_type == "Gather" and dimensions == (node.attributes["axis"],):
        source, index = node.inputs
        if index.shape == (1,):  # Gather with a scalar index has no axis to squeeze
            return ops.gather(g, source, ops.reshape(g, index, ()), dimensions[0])
    return ops.squeeze(g, x, dimensions)


def reverse(g, x, axes):
    """Reverses x along these axes."""
    axes = tuple([a for a in axes if not dim_rules.equal(x.shape[a], 1)])
    if not axes:
        return x
    last = g.const([-1] * len(axes), INT64)
    before_first = g.const([np.iinfo(np.int64).min] * len(axes), INT64)
    return g.node("Slice", x, last, before_first, g.const(axes, INT64), last)


@lowers(rev_p)
def _rev(g, out, x, *, dimensions):
    return reverse(g, x, dimensions)


# ---- reduce_sum


def merge_axes(g, x, axes):
    """(x as (rest..., n) or (n, rest...) with the reduced axes merged into one, whether that axis is the last)."""
    rest = [i for i in range(x.ndim) if i not in axes]
    count = dim_rules.prod([x.shape[i] for i in axes])
    rest_sizes = [x.shape[i] for i in rest]
    if tuple(axes) == tuple(range(len(axes))) and rest:
        return ops.reshape(g, x, (count, *rest_sizes)), False
    return ops.reshape(g, ops.transpose(g, x, (*rest, *axes)), (*rest_sizes, count)), True


def _ones(g, count, dtype):
    if dim_rules.is_constant(count) and count * dtype.itemsize <= _LONGEST_CONSTANT:
        return g.const(np.ones(count, dtype))
    return ops.full(g, (count,), 1, dtype)


def _sum_integers(g, x, axes, shape):
    """Multiplies by a vector of ones, which is exact and wraps; ReduceSum adds in float64 and saturates."""
    merged, last = merge_axes(g, x, axes)
    count = merged.shape[-1 if last else 0]
    ones = _ones(g, count, merged.dtype)
    if last and not dim_rules.is_constant_shape(shape):  # MatMul of zero rows with a vector fails
        total = g.node("MatMul", merged, ops.unsqueeze(g, ones, (1,)), out=((*shape, 1), x.dtype))
        return ops.squeeze(g, total, (len(shape),))
    if last:
        return g.node("MatMul", merged, ones, out=(shape, x.dtype))
    if len(shape) > 1:  # (n, a, b): MatMul would take the leading axis for a batch
        merged = ops.reshape(g, merged, (count, dim_rules.prod(shape)))
    total = g.node("MatMul", ones, merged, out=(merged.shape[1:], x.dtype))
    return ops.reshape(g, total, shape)


def _divisor(n):
    """A divisor of n close to its square root, else 1."""
    root = int(n**0.5)
    return next((d for d in range(root, max(root // 16, 1), -1) if n % d == 0), 1)


def _sum_floats(g, x, axes):
    """ReduceSum; in two steps for many elements, because it adds one by one."""
    count = dim_rules.prod([x.shape[i] for i in axes])
    if x.dtype != np.float64 and dim_rules.is_constant(count) and count >= _LONG_SUM:
        merged, last = merge_axes(g, x, axes)
        parts = _divisor(count)
        if parts > 1:
            split = (parts, count // parts)
            shape = (*merged.shape[:-1], *split) if last else (*split, *merged.shape[1:])
            inner = ops.reduce(g, "ReduceSum", ops.reshape(g, merged, shape), (len(shape) - 1 if last else 0,))
            return ops.reduce(g, "ReduceSum", inner, (inner.ndim - 1 if last else 0,))
    return ops.reduce(g, "ReduceSum", x, axes)


def sum_over(g, x, axes):
    """The sum over these axes; integers wrap."""
    axes = tuple(sorted(axes))
    if not axes:
        return x
    shape = tuple(d for i, d in enumerate(x.shape) if i not in axes)
    if dim_rules.definitely_empty(x.shape):
        return ops.full(g, shape, 0, x.dtype)
    if x.dtype.kind in "iu":
        return _sum_integers(g, x, axes, shape)
    return _sum_floats(g, x, axes)


@lowers(reduce_sum_p)
def _reduce_sum(g, out, x, *, axes, **_):
    if x.dtype.itemsize < 4 and x.dtype.kind not in "iu":  # one cast each way instead of one for each step
        return ops.cast(g, sum_over(g, ops.cast(g, x, F32), axes), x.dtype)
    return sum_over(g, x, axes)


# ---- iota


def arange(g, size, dtype):
    """The vector 0, 1, ... size - 1; integers wrap."""
    if dim_rules.is_constant(size) and size <= _LONGEST_CONSTANT:
        return g.const(np.arange(size).astype(dtype))
    exact = dtype if dtype in (INT32, INT64) else INT64
    if dim_rules.is_constant(size):
        limit = g.const(size, exact)
    else:
        limit = ops.cast(g, g.dim(size), exact)
    counted = g.node("Range", g.const(0, exact), limit, g.const(1, exact), out=((size,), exact))
    return ops.cast(g, counted, dtype)


@lowers(iota_p)
def _iota(g, out, *_, dtype, shape, dimension, **params):
    shape = out.shape
    line = arange(g, shape[dimension], out.dtype)
    if len(shape) == 1:
        return line
    return broadcast_in_dim(g, line, shape, (dimension,))


# ---- copy


@lowers(copy_p)
def _copy(g, out, x):
    return x


# ---- values that do not matter


@lowers(empty2_p, components=True)
def _empty2(g, out, **_):
    """A zero, of any type."""
    return constant(g, np.zeros((), getattr(out.dtype, "storage", out.dtype)), out)
