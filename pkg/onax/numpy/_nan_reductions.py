"""Reductions that skip NaN."""

from __future__ import annotations

import numpy as np

from onax import lax
from onax._control.jit_call import FEW, staged
from onax._ground import dtypes
from onax._ground.typing import ArrayLike, Axis, DTypeLike
from onax._native.array import Array
from onax.numpy._promotion import (
    ensure_arraylike,
    no_out,
    promote_args,
    to_dtype,
)
from onax.numpy._reductions import _variance_dtypes, all, check_mask, max, mean, min, prod, sum
from onax.numpy._ufuncs import constant_like
from onax.numpy._where import where

# --- forms that skip nan ------------------------------------------------------------------------------------------


def _replace_nan(a, value):
    """Replaces nan by `value`."""
    return where(lax.ne(a, a), constant_like(a, value), a)


@staged("nansum", static_argnames=("axis", "dtype", "keepdims"), compiled_from=FEW)
def nansum(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
) -> Array:
    """Returns the sum over the axes of the elements that are not NaN.

    Args:
      a: array of numbers or bool.
      axis: int or ints; default: all axes.
      dtype: dtype of sums and result; default: as for `sum`.
      out: must be None.
      keepdims: whether the reduced axes stay, with length 1.
      initial: scalar that is added to each sum.
      where: a bool array that broadcasts to the shape of `a`; elements where it is False do not count.

    Returns:
      Array without the reduced axes; 0 where all elements are NaN.

    Raises:
      ValueError: there is no such axis.

    Examples:
      >>> jnp.nansum(jnp.array([1.0, jnp.nan, 2.0]))
      Array(3., dtype=float32)
    """
    no_out("nansum", out)
    check_mask("nansum", where)
    a = ensure_arraylike("nansum", a)
    return sum(_replace_nan(a, 0), axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)


@staged("nanprod", static_argnames=("axis", "dtype", "keepdims"), compiled_from=FEW)
def nanprod(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
) -> Array:
    """Returns the product over the axes of the elements that are not NaN.

    Args:
      a: array of numbers or bool.
      axis: int or ints; default: all axes.
      dtype: dtype of products and result; default: as for `prod`.
      out: must be None.
      keepdims: whether the reduced axes stay, with length 1.
      initial: scalar by which each product is multiplied.
      where: a bool array that broadcasts to the shape of `a`; elements where it is False do not count.

    Returns:
      Array without the reduced axes; 1 where all elements are NaN.

    Raises:
      ValueError: there is no such axis.

    Examples:
      >>> jnp.nanprod(jnp.array([3.0, jnp.nan, 2.0]))
      Array(6., dtype=float32)
    """
    no_out("nanprod", out)
    check_mask("nanprod", where)
    a = ensure_arraylike("nanprod", a)
    return prod(_replace_nan(a, 1), axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)


def _nan_reduce_extreme(name, a, axis, keepdims, initial, mask, reduce_, worst):
    a = ensure_arraylike(name, a)
    check_mask(name, mask)
    if not dtypes.is_inexact(a.dtype):
        return reduce_(a, axis=axis, keepdims=keepdims, initial=initial, where=mask)
    result = reduce_(_replace_nan(a, worst), axis=axis, keepdims=keepdims, initial=initial, where=mask)
    if initial is not None:
        return result
    return where(all(lax.ne(a, a), axis=axis, keepdims=keepdims), constant_like(a, np.nan), result)


@staged("nanmax", static_argnames=("axis", "keepdims"), compiled_from=FEW)
def nanmax(
    a: ArrayLike,
    axis: Axis = None,
    out: None = None,
    keepdims: bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
) -> Array:
    """Returns the largest of those elements over the axes that are not NaN.

    Args:
      a: array of numbers or bool.
      axis: int or ints; default: all axes.
      out: must be None.
      keepdims: whether the reduced axes stay, with length 1.
      initial: scalar that takes part in each comparison; needed with `where`.
      where: a bool array that broadcasts to the shape of `a`; elements where it is False do not count.

    Returns:
      Array of the dtype of `a`, without the reduced axes; NaN where all elements are.

    Raises:
      ValueError: there are no elements, or `where` is given, without `initial`.

    Examples:
      >>> jnp.nanmax(jnp.array([1.0, jnp.nan, 2.0]))
      Array(2., dtype=float32)
    """
    no_out("nanmax", out)
    return _nan_reduce_extreme("nanmax", a, axis, keepdims, initial, where, max, -np.inf)


@staged("nanmin", static_argnames=("axis", "keepdims"), compiled_from=FEW)
def nanmin(
    a: ArrayLike,
    axis: Axis = None,
    out: None = None,
    keepdims: bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
) -> Array:
    """Returns the smallest of those elements over the axes that are not NaN.

    Args:
      a: array of numbers or bool.
      axis: int or ints; default: all axes.
      out: must be None.
      keepdims: whether the reduced axes stay, with length 1.
      initial: scalar that takes part in each comparison; needed with `where`.
      where: a bool array that broadcasts to the shape of `a`; elements where it is False do not count.

    Returns:
      Array of the dtype of `a`, without the reduced axes; NaN where all elements are.

    Raises:
      ValueError: there are no elements, or `where` is given, without `initial`.

    Examples:
      >>> jnp.nanmin(jnp.array([1.0, jnp.nan, 2.0]))
      Array(1., dtype=float32)
    """
    no_out("nanmin", out)
    return _nan_reduce_extreme("nanmin", a, axis, keepdims, initial, where, min, np.inf)


@staged("nanmean", static_argnames=("axis", "dtype", "keepdims"), compiled_from=FEW)
def nanmean(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: bool = False,
    where: ArrayLike | None = None,
) -> Array:
    """Returns the mean over the axes of the elements that are not NaN.

    Args:
      a: array of numbers or bool.
      axis: int or ints; default: all axes.
      dtype: dtype of the result; default: as for `mean`.
      out: must be None.
      keepdims: whether the reduced axes stay, with length 1.
      where: a bool array that broadcasts to the shape of `a`; elements where it is False do not count.

    Returns:
      Inexact array without the reduced axes; NaN where all elements are.

    Raises:
      IndexError: the axis is out of bounds, and `a` holds no inexact numbers.
      ValueError: there is no such axis.

    Examples:
      >>> jnp.nanmean(jnp.array([1.0, jnp.nan, 2.0]))
      Array(1.5, dtype=float32)
    """
    no_out("nanmean", out)
    check_mask("nanmean", where)
    a = ensure_arraylike("nanmean", a)
    if not dtypes.is_inexact(a.dtype):
        return mean(a, axis, dtype, keepdims=keepdims, where=where)
    dtype = a.dtype if dtype is None else dtypes.check_user_dtype(dtype, "mean")
    valid = lax.bitwise_not(lax.ne(a, a))
    count = sum(valid, axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    total = nansum(a, axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    return lax.div(total, count)


@staged("nanvar", static_argnames=("axis", "dtype", "keepdims"), compiled_from=FEW)
def nanvar(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
    where: ArrayLike | None = None,
    mean: ArrayLike | None = None,
) -> Array:
    """Returns the variance over the axes of the elements that are not NaN.

    Args:
      a: array of numbers.
      axis: int or ints; default: all axes.
      dtype: dtype of the result; default: the real float of the precision of `a`.
      out: must be None.
      ddof: number; sums of squares are divided by the number of elements less `ddof`.
      keepdims: whether the reduced axes stay, with length 1.
      where: a bool array that broadcasts to the shape of `a`; elements where it is False do not count.
      mean: the means, with the reduced axes of length 1, if they are known.

    Returns:
      Real array without the reduced axes; NaN where at most `ddof` elements are left.

    Raises:
      ValueError: there is no such axis.

    Examples:
      >>> jnp.nanvar(jnp.array([1.0, jnp.nan, 3.0]))
      Array(1., dtype=float32)
    """
    no_out("nanvar", out)
    check_mask("nanvar", where)
    return _nanvar(a, axis, dtype, ddof, keepdims, where, mean)


def _nanvar(a, axis, dtype, ddof, keepdims, mask, mean):
    a = ensure_arraylike("nanvar", a)
    compute, result = _variance_dtypes(a.dtype, dtype)
    a = lax.convert_element_type(a, compute)
    if mean is None:
        mean = nanmean(a, axis, dtype=compute, keepdims=True, where=mask)
    else:
        mean = lax.convert_element_type(ensure_arraylike("nanvar", mean), compute)
    centered = where(lax.ne(a, a), 0, lax.sub(*promote_args("subtract", a, mean)))
    if dtypes.is_complex(compute):
        centered = lax.real(lax.mul(centered, lax.conj(centered)))
    else:
        centered = lax.square(centered)
    valid = lax.bitwise_not(lax.ne(a, a))
    count = sum(valid, axis=axis, keepdims=keepdims, where=mask)
    count = lax.sub(count, to_dtype(ddof, count.dtype))
    too_few = lax.le(count, constant_like(count, 0))
    total = where(too_few, np.nan, sum(centered, axis, keepdims=keepdims, where=mask))
    out = lax.div(*promote_args("divide", total, lax.convert_element_type(where(too_few, 1, count), total.dtype)))
    return lax.convert_element_type(out, result)


@staged("nanstd", static_argnames=("axis", "dtype", "keepdims"), compiled_from=FEW)
def nanstd(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
    where: ArrayLike | None = None,
    mean: ArrayLike | None = None,
) -> Array:
    """Returns the standard deviation over the axes of the elements that are not NaN.

    Args:
      a: array of numbers.
      axis: int or ints; default: all axes.
      dtype: dtype of the result; default: the real float of the precision of `a`.
      out: must be None.
      ddof: number; sums of squares are divided by the number of elements less `ddof`.
      keepdims: whether the reduced axes stay, with length 1.
      where: a bool array that broadcasts to the shape of `a`; elements where it is False do not count.
      mean: the means, with the reduced axes of length 1, if they are known.

    Returns:
      Real array without the reduced axes: the square root of `nanvar`.

    Raises:
      ValueError: there is no such axis.

    Examples:
      >>> jnp.nanstd(jnp.array([1.0, jnp.nan, 3.0]))
      Array(1., dtype=float32)
    """
    no_out("nanstd", out)
    check_mask("nanstd", where)
    options = {k: v for k, v in (("where", where), ("mean", mean)) if v is not None}
    return lax.sqrt(nanvar(a, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims, **options))
