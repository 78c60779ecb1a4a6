"""Lowerings of sort and top_k.

TopK is stable, but undefined for NaN, so floats are sorted by keys.  From opset 26 on a key is one integer: the bits of
the number, mapped to an order-preserving integer.  Below it is two: the number, and what tells NaN (and for top_k the
zeros) apart.  Several keys are sorted one after another, the least significant first.

The other direction: `pkg/onax/onnx/sorting.py`.
"""

import numpy as np

from onax._prims.sorting import sort_p, top_k_p
from onax._prims.sorting_approximate import approx_top_k_p, exact_top_k
from onax.export.graph import ops
from onax.export.lower.convert import F32, HALVES, INT32, INT64, SIGNED
from onax.export.lower.reductions import flip_sign_bit
from onax.export.lower.registry import decompose, lowers

BOOL = np.dtype(np.bool_)
U8 = np.dtype(np.uint8)


# ---- keys


def _ordered_bits(g, x):
    """Maps floats to signed integers in their total order: inverts the magnitude bits of negative numbers."""
    dtype = SIGNED[x.dtype.itemsize]
    bits = ops.bitcast(g, x, dtype)
    turned = ops.binary(g, "BitwiseXor", bits, g.const(np.iinfo(dtype).max, dtype))
    return ops.where(g, ops.less(g, bits, g.const(0, dtype)), turned, bits)


def _integer_key(g, x):
    """Converts an integer or bool to a type that TopK takes, preserving order."""
    dtype = x.dtype
    if dtype == BOOL:
        return ops.cast(g, x, U8)
    if dtype.kind == "u" and dtype.itemsize == 8:
        return flip_sign_bit(g, x, INT64)
    if dtype.kind == "u" and dtype.itemsize > 1:
        return ops.cast(g, x, INT32 if dtype.itemsize == 2 else INT64)
    return x


def _ascending_keys(g, x):
    """Keys for sort, the most significant first: -0 equals 0, and all NaN are equal and last."""
    if type(x) is tuple:
        return [key for part in x for key in _ascending_keys(g, part)]
    if x.dtype.kind in "iub":
        return [_integer_key(g, x)]
    if x.dtype in HALVES:
        x = ops.cast(g, x, F32)
    unordered = ops.is_nan(g, x)
    if g.opset < 26:
        number = ops.where(g, unordered, ops.scalar(g, np.inf, x), x)
        return [ops.cast(g, unordered, U8), number]
    zero = ops.scalar(g, 0, x)
    bits = _ordered_bits(g, ops.where(g, ops.equal(g, x, zero), zero, x))
    return [ops.where(g, unordered, g.const(np.iinfo(bits.dtype).max, bits.dtype), bits)]


def _total_order_keys(g, x):
    """Keys for top_k: 0 is larger than -0, NaN is largest (below opset 26 also NaN with the sign bit)."""
    if x.dtype.kind in "iub":
        return [_integer_key(g, x)]
    if x.dtype in HALVES:
        x = ops.cast(g, x, F32)
    if g.opset >= 26:
        return [_ordered_bits(g, x)]
    # Among equal numbers the inverse tells 0 from -0, and NaN, which counts as inf, from inf.
    infinity, unordered = ops.scalar(g, np.inf, x), ops.is_nan(g, x)
    inverse = ops.div(g, ops.scalar(g, 1, x), x)
    return [ops.where(g, unordered, infinity, v) for v in (x, inverse)]


# ---- order


def _emit_top_k(g, x, count, axis, largest):
    """(values, indices) of TopK."""
    shape = tuple(count if i == axis else d for i, d in enumerate(x.shape))
    outs = [(shape, x.dtype), (shape, INT64)]
    return g.node("TopK", x, g.shape_const((count,)), outs=outs, axis=axis, largest=int(largest), sorted=1)


def _take_along(g, x, indices, axis):
    return g.node("GatherElements", x, indices, out=(indices.shape, x.dtype), axis=axis)


def _argsort(g, keys, count, axis, largest):
    """The indices of the first `count` elements in the order of the keys."""
    order = None
    for i, key in enumerate(reversed(keys)):
        permuted = key if order is None else _take_along(g, key, order, axis)
        k = count if i == len(keys) - 1 else key.shape[axis]
        _, indices = _emit_top_k(g, permuted, k, axis, largest)
        order = indices if order is None else _take_along(g, order, indices, axis)
    return order


def _take(g, x, order, axis):
    if type(x) is tuple:
        return tuple(_take_along(g, part, order, axis) for part in x)
    return _take_along(g, x, order, axis)


@lowers(sort_p, components=True)
def _sort(g, out, *xs, dimension, num_keys, **_):
    keys = [key for x in xs[:num_keys] for key in _ascending_keys(g, x)]
    count = keys[0].shape[dimension]
    if len(xs) == 1 and keys == [xs[0]]:
        return (_emit_top_k(g, xs[0], count, dimension, False)[0],)
    order = _argsort(g, keys, count, dimension, False)
    return tuple(_take(g, x, order, dimension) for x in xs)


@lowers(top_k_p)
def _top_k(g, out, x, *, k, axis):
    keys = _total_order_keys(g, x)
    if keys == [x]:
        values, indices = _emit_top_k(g, x, k, axis, True)
    else:
        indices = _argsort(g, keys, k, axis, True)
        values = _take_along(g, x, indices, axis)
    return values, ops.cast(g, indices, INT32)


decompose(approx_top_k_p, exact_top_k)
