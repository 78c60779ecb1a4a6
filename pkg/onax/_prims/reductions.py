"""Reductions over axes: reduce_max, reduce_min, reduce_prod, reduce_and, reduce_or, reduce_xor, argmax, argmin.

shaping.py defines `reduce_sum`, beside its adjoint.  Results have the operand's dtype: integers wrap, where NumPy would
widen them.  A reduction of no elements gives the neutral element; argmax and argmin of no elements raise an error.
"""

import operator
from collections.abc import Sequence

import numpy as np

from onax._core.facts import MAKES_NAN
from onax._core.rules import add_tangents, defjvp_zero, tangent_zero
from onax._core.trace import typeof
from onax._core.zeros import Zero
from onax._ground import dims, dtypes
from onax._ground.typing import ArrayLike, DTypeLike, ShardingLike
from onax._native.array import Array
from onax._native.avals import ShapedArray
from onax._native.dispatch import NEVER, Primitive
from onax._prims._batch_rules import defreducer
from onax._prims.convert import cast, compute_dtype, convert
from onax._prims.creation import full, instantiate_zeros
from onax._prims.elementwise import div, eq, mul
from onax._prims.elementwise_rows import kept
from onax._prims.padding import pad
from onax._prims.placement import with_out_sharding
from onax._prims.shaping import (
    check_axes,
    check_number_dtype,
    reduce_sum,
    reduced_shape,
    reduction_axes,
    reshape,
    shape_of,
    squeeze,
)
from onax._prims.slicing import slice_in_dim


def _size(x, axes):
    out = 1
    for a in axes:
        out *= x.shape[a]
    return out


# ---- max, min ----


def lowest(dtype):
    """The neutral element of max: -inf, the lowest integer, or False."""
    return _extreme(dtype, -1)


def highest(dtype):
    """The neutral element of min: inf, the highest integer, or True."""
    return _extreme(dtype, 1)


def _extreme(dtype, sign):
    if dtype.kind == "b":
        return np.bool_(sign > 0)
    if dtypes.is_integer(dtype):
        info = dtypes.iinfo(dtype)
        return np.asarray(int(info.max if sign > 0 else info.min)).astype(dtype)[()]
    return np.asarray(sign * np.inf).astype(dtype)[()]


def _extremum_kernel(ufunc, neutral):
    def kernel(x, *, axes, out_sharding=None):
        dtype = x.dtype
        if x.size == 0 and _size(x, axes) == 0:
            return np.full(reduced_shape(x.shape, axes), neutral(dtype), dtype)
        wide = compute_dtype(dtype)
        if wide is dtype or wide == dtype:
            return ufunc.reduce(x, axis=axes)
        return ufunc.reduce(x.astype(wide), axis=axes).astype(dtype)

    return kernel


def _ordered_abstract(name):
    def abstract_eval(x, *, axes, out_sharding=None):
        if dtypes.is_extended(x.dtype):
            raise TypeError(f"{name} does not accept dtype {x.dtype}.")
        return ShapedArray(reduced_shape(x.shape, check_axes(x, axes)), x.dtype, x.weak_type)

    return abstract_eval


def _extremum_jvp(primitive):
    """Makes the jvp: the mean of the tangents at the positions where the extremum is attained."""

    def jvp(primals, tangents, *, axes, **params):
        (x,), (g,) = primals, tangents
        out = primitive.bind(x, axes=axes, **params)
        if type(g) is Zero:
            return out, tangent_zero(out)
        shape_with_ones = tuple(1 if i in axes else d for i, d in enumerate(shape_of(x)))
        where = convert(eq(x, reshape(out, shape_with_ones)), g.dtype)
        counts = reduce_sum(where, axes)
        return out, div(reduce_sum(mul(g, where), axes), counts)

    return jvp


def _extremum(name, ufunc, neutral):
    p = Primitive(name, kernel=_extremum_kernel(ufunc, neutral), abstract_eval=_ordered_abstract(name))
    p.jvp = _extremum_jvp(p)
    return defreducer(p)


reduce_max_p = _extremum("reduce_max", np.maximum, lowest)
reduce_min_p = _extremum("reduce_min", np.minimum, highest)


def reduce_max(operand: ArrayLike, axes: Sequence[int], *, out_sharding: ShardingLike = None) -> Array:
    """Returns the largest element over the axes.

    Args:
      operand: array of numbers or bool.
      axes: ints.
      out_sharding: a sharding for the result; default: decided by the operand.

    Returns:
      Array without the axes, of the dtype of the operand: NaN where there is one, and the lowest value where there are
      no elements.

    Raises:
      ValueError: axes repeat or are out of bounds.

    Examples:
      >>> lax.reduce_max(jnp.array([[3, 7], [9, 2]]), (0,))
      Array([9, 7], dtype=int32)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, reduce_max, operand, axes)
    return reduce_max_p.bind(operand, axes=reduction_axes(operand, axes))


def reduce_min(operand: ArrayLike, axes: Sequence[int], *, out_sharding: ShardingLike = None) -> Array:
    """Returns the smallest element over the axes.

    Args:
      operand: array of numbers or bool.
      axes: ints.
      out_sharding: a sharding for the result; default: decided by the operand.

    Returns:
      Array without the axes, of the dtype of the operand: NaN where there is one, and the highest value where there are
      no elements.

    Raises:
      ValueError: axes repeat or are out of bounds.

    Examples:
      >>> lax.reduce_min(jnp.array([[3, 7], [9, 2]]), (0,))
      Array([3, 2], dtype=int32)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, reduce_min, operand, axes)
    return reduce_min_p.bind(operand, axes=reduction_axes(operand, axes))


# ---- prod ----


def _prod_kernel(x, *, axes):
    dtype = x.dtype
    wide = compute_dtype(dtype)
    out = np.multiply.reduce(x if wide is dtype else x.astype(wide, copy=False), axis=axes, dtype=wide)
    return out if wide == dtype else cast(np.asarray(out), dtype)


def _prod_abstract(x, *, axes):
    check_number_dtype("reduce_prod", x.dtype)
    return ShapedArray(reduced_shape(x.shape, check_axes(x, axes)), x.dtype, x.weak_type)


def _merge_axes(x, axes):
    """Merges the axes into one leading axis."""
    shape = shape_of(x)
    remaining = tuple(i for i in range(len(shape)) if i not in axes)
    sizes = (dims.prod(tuple(shape[a] for a in axes)), *(shape[k] for k in remaining))
    return reshape(x, sizes, (*axes, *remaining))


def _prod_jvp(primals, tangents, *, axes):
    """Applies the product rule to the halves of the axis; unlike division by a factor this is right where factors are
    0."""
    (x,), (g,) = primals, tangents
    if type(g) is Zero:
        out = reduce_prod_p.bind(x, axes=axes)
        return out, tangent_zero(out)
    x, g = _merge_axes(x, axes), _merge_axes(instantiate_zeros(g), axes)
    size = shape_of(x)[0]
    if not dims.is_constant(size):
        raise NotImplementedError(
            f"The derivative of reduce_prod over an axis of symbolic size {size} is not available: multiply "
            "along axes of known size, or take exp of the sum of logarithms."
        )
    if size == 0:
        rest, dtype = shape_of(x)[1:], x.dtype
        return full(rest, 1, dtype), full(rest, 0, dtype)
    no_padding = ((0, 0, 0),) * (len(shape_of(x)) - 1)
    while size > 1:
        half = (size + 1) // 2
        left, g_left = slice_in_dim(x, 0, half), slice_in_dim(g, 0, half)
        right, g_right = slice_in_dim(x, half, size), slice_in_dim(g, half, size)
        if size % 2:
            config, one, zero = (
                ((0, 1, 0), *no_padding),
                kept(np.ones((), x.dtype)[()]),
                kept(np.zeros((), x.dtype)[()]),
            )
            right, g_right = pad(right, one, config), pad(g_right, zero, config)
        x = mul(left, right)
        g = add_tangents(mul(g_left, right), mul(left, g_right))
        size = half
    return squeeze(x, (0,)), squeeze(g, (0,))


reduce_prod_p = Primitive(
    "reduce_prod", kernel=_prod_kernel, abstract_eval=_prod_abstract, jvp=_prod_jvp, facts={MAKES_NAN}
)
defreducer(reduce_prod_p)


def reduce_prod(operand: ArrayLike, axes: Sequence[int]) -> Array:
    """Returns the product of the elements over the axes.

    Args:
      operand: array of numbers.
      axes: ints.

    Returns:
      Array without the axes, of the dtype of the operand; integers wrap.

    Raises:
      ValueError: axes repeat or are out of bounds.
      TypeError: the operand is of dtype bool.

    Examples:
      >>> lax.reduce_prod(jnp.array([[3, 7], [9, 2]]), (0,))
      Array([27, 14], dtype=int32)
    """
    return reduce_prod_p.bind(operand, axes=reduction_axes(operand, axes))


# ---- and, or, xor ----


def _bitwise_kernel(ufunc, neutral):
    def kernel(x, *, axes):
        dtype = x.dtype
        if x.size == 0 and _size(x, axes) == 0:
            return np.full(reduced_shape(x.shape, axes), np.asarray(neutral).astype(dtype), dtype)
        if dtype.kind in "biu":
            return ufunc.reduce(x, axis=axes)
        return cast(np.asarray(ufunc.reduce(x.astype(np.int32), axis=axes)), dtype)

    return kernel


def _bitwise_abstract(x, *, axes):
    if dtypes.is_extended(x.dtype) or not (x.dtype.kind == "b" or dtypes.is_integer(x.dtype)):
        raise TypeError(f"logical reduction requires operand dtype bool or int, got {x.dtype}.")
    return ShapedArray(reduced_shape(x.shape, check_axes(x, axes)), x.dtype)


def _bitwise(name, ufunc, neutral):
    p = Primitive(name, kernel=_bitwise_kernel(ufunc, neutral), abstract_eval=_bitwise_abstract, weak=NEVER)
    return defreducer(defjvp_zero(p))


reduce_and_p = _bitwise("reduce_and", np.bitwise_and, -1)
reduce_or_p = _bitwise("reduce_or", np.bitwise_or, 0)
reduce_xor_p = _bitwise("reduce_xor", np.bitwise_xor, 0)


def reduce_and(operand: ArrayLike, axes: Sequence[int]) -> Array:
    """Returns the bits set in all elements over the axes; for bools, whether all hold.

    Args:
      operand: array of integers or bools.
      axes: ints.

    Returns:
      Array without the axes, of the dtype of the operand.

    Raises:
      TypeError: the operand is of another dtype.
      ValueError: axes repeat or are out of bounds.

    Examples:
      >>> lax.reduce_and(jnp.array([[True, False], [True, True]]), (0,))
      Array([ True, False], dtype=bool)
    """
    return reduce_and_p.bind(operand, axes=reduction_axes(operand, axes))


def reduce_or(operand: ArrayLike, axes: Sequence[int]) -> Array:
    """Returns the bits set in any element over the axes; for bools, whether any holds.

    Args:
      operand: array of integers or bools.
      axes: ints.

    Returns:
      Array without the axes, of the dtype of the operand.

    Raises:
      TypeError: the operand is of another dtype.
      ValueError: axes repeat or are out of bounds.

    Examples:
      >>> lax.reduce_or(jnp.array([[True, False], [True, False]]), (0,))
      Array([ True, False], dtype=bool)
    """
    return reduce_or_p.bind(operand, axes=reduction_axes(operand, axes))


def reduce_xor(operand: ArrayLike, axes: Sequence[int]) -> Array:
    """Returns the bits set in an odd number of elements over the axes.

    Args:
      operand: array of integers or bools.
      axes: ints.

    Returns:
      Array without the axes, of the dtype of the operand.

    Raises:
      TypeError: the operand is of another dtype.
      ValueError: axes repeat or are out of bounds.

    Examples:
      >>> lax.reduce_xor(jnp.array([[5, 1], [3, 1]]), (0,))
      Array([6, 0], dtype=int32)
    """
    return reduce_xor_p.bind(operand, axes=reduction_axes(operand, axes))


# ---- argmax, argmin ----


def _arg_kernel(function):
    def kernel(x, *, axes, index_dtype):
        wide = compute_dtype(x.dtype)
        if wide is not x.dtype:
            x = x.astype(wide, copy=False)
        return function(x, axes[0]).astype(index_dtype)

    return kernel


def _arg_abstract(x, *, axes, index_dtype):
    (axis,) = axes
    if not 0 <= axis < x.ndim:
        raise ValueError(f"Invalid axis {axis} for operand shape {x.shape}")
    if not dtypes.issubdtype(index_dtype, np.integer):
        raise TypeError(f"index_dtype must be an integer type, but got {np.dtype(index_dtype).name}")
    if dims.equal(x.shape[axis], 0):
        raise ValueError(f"argmin and argmax require non-empty reduced dimension. operand.shape={x.shape} axis={axis}")
    if dtypes.is_extended(x.dtype) or dtypes.is_complex(x.dtype):
        raise TypeError(
            f"argmin and argmax do not accept dtype {x.dtype}. Accepted dtypes are subtypes of integer, floating, bool."
        )
    return ShapedArray(reduced_shape(x.shape, axes), index_dtype)


def _arg(name, function):
    p = Primitive(name, kernel=_arg_kernel(function), abstract_eval=_arg_abstract, weak=NEVER)
    return defreducer(defjvp_zero(p))


argmax_p = _arg("argmax", np.ndarray.argmax)
argmin_p = _arg("argmin", np.ndarray.argmin)


def _arg_bind(p, operand, axis, index_dtype):
    params = {"axes": (operator.index(axis),), "index_dtype": dtypes.check_user_dtype(index_dtype, p.name)}
    if not 0 <= axis < np.ndim(operand) or not dtypes.is_integer(
        params["index_dtype"]
    ):  # the kernel refuses the other errors
        _arg_abstract(typeof(operand), **params)
    return p.bind(operand, **params)


def argmax(operand: ArrayLike, axis: int, index_dtype: DTypeLike) -> Array:
    """Returns the index of the first largest element along an axis.

    Args:
      operand: array of real numbers or bool; the first NaN counts as the largest element.
      axis: int.
      index_dtype: integer dtype of the result.

    Returns:
      Array without the axis.

    Raises:
      ValueError: the axis is empty or out of bounds.
      TypeError: the operand is complex, or index_dtype is no integer dtype.

    Examples:
      >>> lax.argmax(jnp.array([3.0, 7.0, 5.0]), 0, jnp.int32)
      Array(1, dtype=int32)
    """
    return _arg_bind(argmax_p, operand, axis, index_dtype)


def argmin(operand: ArrayLike, axis: int, index_dtype: DTypeLike) -> Array:
    """Returns the index of the first smallest element along an axis.

    Args:
      operand: array of real numbers or bool; the first NaN counts as the smallest element.
      axis: int.
      index_dtype: integer dtype of the result.

    Returns:
      Array without the axis.

    Raises:
      ValueError: the axis is empty or out of bounds.
      TypeError: the operand is complex, or index_dtype is no integer dtype.

    Examples:
      >>> lax.argmin(jnp.array([3.0, 7.0, 5.0]), 0, jnp.int32)
      Array(0, dtype=int32)
    """
    return _arg_bind(argmin_p, operand, axis, index_dtype)
