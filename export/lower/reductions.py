"""Lowerings of the reductions except reduce_sum, and of argmax and argmin.

The runtime's ReduceMax and ReduceMin skip NaN, its ReduceProd saturates integers, and it has no bitwise reductions.

The other direction: `pkg/onax/onnx/reductions.py`.
"""

import math

import numpy as np

from onax._ground import dims as dim_rules
from onax._prims import reductions as prims
from onax.export.graph import ops
from onax.export.graph.bounds import fits_32_bits
from onax.export.lower.convert import F32, F64, HALVES, INT32, INT64, SIGNED, UNSIGNED, refuse
from onax.export.lower.registry import lowers
from onax.export.lower.shaping import merge_axes, sum_over

BOOL = np.dtype(np.bool_)
U8, U32, U64 = UNSIGNED[1], UNSIGNED[4], UNSIGNED[8]


def _holds_nan(dtype):
    return dtype.kind not in "iub"


# ---- halving, for binary operators without a reduction


def _halve_first_axis(g, op_type, x):
    """Reduces x of shape (n, rest...), with static n > 0, over its first axis in log2(n) steps."""
    n, *rest = x.shape
    while n > 1:
        half = n // 2
        zeros = (0,) * len(rest)
        first = ops.slice_(g, x, (0, *zeros), (half, *rest))
        second = ops.slice_(g, x, (half, *zeros), (2 * half, *rest))
        joined = ops.binary(g, op_type, first, second)
        x = joined if n % 2 == 0 else ops.concat(g, (joined, ops.slice_(g, x, (n - 1, *zeros), (n, *rest))), 0)
        n = half + n % 2
    return ops.reshape(g, x, rest)


def _to_front(g, x, axes):
    """Rearranges x to (n, rest...), with the reduced axes merged into the first."""
    rest = [i for i in range(x.ndim) if i not in axes]
    count = dim_rules.prod([x.shape[i] for i in axes])
    return ops.reshape(g, ops.transpose(g, x, (*axes, *rest)), (count, *[x.shape[i] for i in rest]))


# ---- product


def _product_by_cumprod(g, x, axes, shape):
    """The product as the last element of a cumulative product, to which a 1 is prepended."""
    merged = _to_front(g, x, axes)
    one = ops.full(g, (1, *merged.shape[1:]), 1, x.dtype)
    whole = ops.concat(g, (one, merged), 0)
    products = g.node("CumProd", whole, g.const(0, INT64))
    return ops.gather(g, products, g.const(-1, INT64), 0)


@lowers(prims.reduce_prod_p)
def _reduce_prod(g, out, x, *, axes, **_):
    axes = tuple(sorted(axes))
    if not axes:
        return x
    if x.dtype.kind not in "iu":
        return ops.reduce(g, "ReduceProd", x, axes)
    count = dim_rules.prod([x.shape[i] for i in axes])
    if not dim_rules.is_constant(count):
        if g.opset < 26:
            refuse(g, f"The product of {count} integers has an ONNX form from opset 26 on; this graph has opset "
                      f"{g.opset}.")  # fmt: skip
        return _product_by_cumprod(g, x, axes, out.shape)
    return _reduce_by_halving(g, out, "Mul", x, axes, count, 1)


def _reduce_by_halving(g, out, op_type, x, axes, count, identity):
    if count == 0:
        return ops.full(g, out.shape, np.array(identity).astype(out.dtype), out.dtype)
    return _halve_first_axis(g, op_type, _to_front(g, x, axes))


# ---- maximum and minimum

_FEW_ELEMENTS = 1024  # ReduceL1 takes 0.9 us for as many


def flip_sign_bit(g, x, dtype):
    """Converts unsigned to signed integers of equal width, or back, preserving order: inverts the top bit."""
    top = np.array(1 << (8 * x.dtype.itemsize - 1), UNSIGNED[x.dtype.itemsize]).astype(x.dtype)
    return ops.cast(g, ops.binary(g, "BitwiseXor", x, g.const(top)), dtype)


def reduce_extreme(g, op_type, x, axes, *, keepdims=False):
    """ReduceMax or ReduceMin, which skip NaN, for every element type and also of no elements."""
    shape = tuple(1 if i in axes else d for i, d in enumerate(x.shape) if keepdims or i not in axes)
    if any(dim_rules.equal(x.shape[i], 0) for i in axes):
        return ops.full(g, shape, (prims.highest if op_type == "ReduceMin" else prims.lowest)(x.dtype), x.dtype)
    if x.dtype == BOOL and not all(dim_rules.definitely_at_least(x.shape[i], 1) for i in axes):
        # The runtime (1.31.1) fails to reduce zero bools.
        return ops.cast(g, ops.reduce(g, op_type, ops.cast(g, x, U8), axes, keepdims=keepdims), BOOL)
    if x.dtype in (U32, U64):
        signed = flip_sign_bit(g, x, SIGNED[x.dtype.itemsize])
        return flip_sign_bit(g, reduce_extreme(g, op_type, signed, axes, keepdims=keepdims), x.dtype)
    if x.dtype == INT64 and not fits_32_bits(x):
        return _extreme_int64(g, op_type, x, axes, shape)
    return ops.reduce(g, op_type, x, axes, keepdims=keepdims)


def _extreme_int64(g, op_type, x, axes, shape):
    """ReduceMax or ReduceMin of int64 by ArgMax or ArgMin: the former are wrong beyond 32 bits."""
    merged, last = merge_axes(g, x, axes)
    axis = merged.ndim - 1 if last else 0
    one = tuple(1 if i == axis else d for i, d in enumerate(merged.shape))
    position = g.node(f"Arg{op_type[6:]}", merged, out=(one, INT64), axis=axis, keepdims=1)
    extreme = g.node("GatherElements", merged, position, out=(one, INT64), axis=axis)
    return ops.reshape(g, extreme, shape)


def _extreme(g, out, x, axes, op_type):
    axes = tuple(sorted(axes))
    if not axes:
        return x
    if dim_rules.definitely_empty(out.shape):
        return ops.full(g, out.shape, 0, out.dtype)
    if not _holds_nan(x.dtype) or dim_rules.definitely_empty([x.shape[i] for i in axes]):
        return reduce_extreme(g, op_type, x, axes)
    build = lambda g, x, _: _extreme_or_nan(g, op_type, x, axes)
    return g.formula(op_type, x, g.const(axes, INT64), out=out, build=build)


def _extreme_or_nan(g, op_type, x, axes):
    """The reduction of floats; NaN where one is NaN.

    Of few elements it is the minimum of the extreme and of the sum of sizes, which is at least as large, or NaN.
    """
    result = reduce_extreme(g, op_type, x, axes)
    if x.dtype in (F32, F64) and dim_rules.is_constant_shape(x.shape) and math.prod(x.shape) <= _FEW_ELEMENTS:
        return ops.minimum(g, result, ops.reduce(g, "ReduceL1", x, axes))
    any_nan = reduce_extreme(g, "ReduceMax", ops.is_nan(g, x), axes)
    nan = g.const(np.array(np.nan).astype(x.dtype))
    return ops.where(g, any_nan, nan, result)


@lowers(prims.reduce_max_p)
def _reduce_max(g, out, x, *, axes, **_):
    return _extreme(g, out, x, axes, "ReduceMax")


@lowers(prims.reduce_min_p)
def _reduce_min(g, out, x, *, axes, **_):
    return _extreme(g, out, x, axes, "ReduceMin")


# ---- and, or, xor


def _bit_planes(g, x, axes, reduce_op):
    """A bitwise reduction over a dynamic number of elements: reduces each bit separately."""
    size = x.dtype.itemsize
    working = UNSIGNED[max(4, size)]
    positions = g.const(np.arange(8 * size), working)
    bits = ops.unsqueeze(g, ops.cast(g, ops.cast(g, x, UNSIGNED[size]), working), (x.ndim,))
    planes = ops.binary(g, "BitShift", bits, positions, direction="RIGHT")
    planes = ops.cast(g, ops.binary(g, "BitwiseAnd", planes, g.const(1, working)), INT32)
    if reduce_op == "xor":
        total = ops.binary(g, "BitwiseAnd", sum_over(g, planes, axes), g.const(1, INT32))
    else:
        total = ops.reduce(g, reduce_op, planes, axes)
    weights = g.const(np.asarray(1, working) << np.arange(8 * size).astype(working))
    joined = g.node("MatMul", ops.cast(g, total, working), weights, out=(total.shape[:-1], working))
    return ops.cast(g, joined, x.dtype)


def _bitwise(g, out, x, axes, op_type, reduce_op, identity):
    axes = tuple(sorted(axes))
    if not axes:
        return x
    if x.dtype == BOOL:
        if reduce_op != "xor":
            return reduce_extreme(g, reduce_op, x, axes)
        odd = ops.binary(g, "BitwiseAnd", sum_over(g, ops.cast(g, x, INT32), axes), g.const(1, INT32))
        return ops.cast(g, odd, BOOL)
    count = dim_rules.prod([x.shape[i] for i in axes])
    if dim_rules.is_constant(count):
        return _reduce_by_halving(g, out, op_type, x, axes, count, identity)
    return _bit_planes(g, x, axes, reduce_op)


@lowers(prims.reduce_and_p)
def _reduce_and(g, out, x, *, axes, **_):
    return _bitwise(g, out, x, axes, "BitwiseAnd", "ReduceMin", -1)


@lowers(prims.reduce_or_p)
def _reduce_or(g, out, x, *, axes, **_):
    return _bitwise(g, out, x, axes, "BitwiseOr", "ReduceMax", 0)


@lowers(prims.reduce_xor_p)
def _reduce_xor(g, out, x, *, axes, **_):
    return _bitwise(g, out, x, axes, "BitwiseXor", "xor", 0)


# ---- argmax and argmin


def _extreme_score(g, x, axis, op_type):
    """A uint8 score whose argmax is the result of JAX: 2 for NaN, 1 for the extremum, 0 elsewhere.

    In the runtime's ArgMax and ArgMin the effect of NaN depends on the order of the elements.
    """
    best = ops.reduce(g, f"Reduce{op_type[3:]}", x, (axis,), keepdims=True)
    reached = (ops.greater_equal if op_type == "ArgMax" else ops.less_equal)(g, x, best)
    return ops.where(g, ops.is_nan(g, x), g.const(2, U8), ops.cast(g, reached, U8))


def _arg_extreme(g, out, x, axes, op_type):
    (axis,) = axes
    if x.dtype in HALVES:
        x = ops.cast(g, x, F32)
    if _holds_nan(x.dtype):
        x, op_type = _extreme_score(g, x, axis, op_type), "ArgMax"
    elif x.dtype == U64:
        x = flip_sign_bit(g, x, INT64)
    index = g.node(op_type, x, out=(out.shape, INT64), axis=axis, keepdims=0)
    return ops.cast(g, index, out.dtype)


@lowers(prims.argmax_p)
def _argmax(g, out, x, *, axes, index_dtype):
    return _arg_extreme(g, out, x, axes, "ArgMax")


@lowers(prims.argmin_p)
def _argmin(g, out, x, *, axes, index_dtype):
    return _arg_extreme(g, out, x, axes, "ArgMin")
