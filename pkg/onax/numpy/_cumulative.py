"""Running sums and products along an axis: cumsum, cumprod, their nan-skipping and array API forms."""

from __future__ import annotations

import numpy as np

from onax import lax
from onax._control.jit_call import FEW, staged
from onax._core.explicit_axes import is_split
from onax._core.sharding import ShardingTypeError
from onax._core.trace import typeof
from onax._ground import dtypes
from onax._ground.typing import ArrayLike, DTypeLike
from onax._native.array import Array
from onax.numpy._promotion import canonical_axis, ensure_arraylike
from onax.numpy._reductions import sum_dtype
from onax.numpy._ufuncs import constant_like
from onax.numpy._where import where


def _cumulative_reduction(name, a, axis, dtype, out, op, fill=None, widen=False):
    """Flattens if there is no axis, replaces NaN by `fill`, and accumulates in the result's dtype."""
    if out is not None:
        raise NotImplementedError(f"The 'out' argument to jnp.{name} is not supported")
    a = ensure_arraylike(name, a)
    if axis is None:
        if is_split(typeof(a)):
            raise ShardingTypeError(
                f"The input should be fully replicated when axis is not specified to {name}. Got input type="
                f"{typeof(a).str_short()}"
            )
        a = lax.reshape(a, (a.size,))
    axis = canonical_axis(0 if axis is None else axis, a.ndim)
    if fill is not None:
        a = where(lax.ne(a, a), constant_like(a, fill), a)
    if dtype is None:
        result = compute = sum_dtype(a.dtype) if widen or a.dtype == np.bool_ else a.dtype
    else:
        result = compute = dtypes.check_user_dtype(dtype, name)
        if result == np.bool_:
            a = a if a.dtype == np.bool_ else lax.ne(a, constant_like(a, 0))
            compute = sum_dtype(result)
    out_array = op(lax.convert_element_type(a, compute), axis)
    return lax.convert_element_type(out_array, result)


@staged("cumsum", static_argnames=("axis", "dtype"))
def cumsum(a: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None) -> Array:
    """Returns the running sum along an axis.

    Args:
      a: array of numbers or bool.
      axis: int; default: the flattened array.
      dtype: dtype of sums and result; default: that of `a`, the default integer for bool.  Unlike NumPy, small integers
        do not widen.
      out: must be None.

    Returns:
      Array of the shape of `a`, or (a.size,) without an axis.

    Raises:
      ValueError: there is no such axis.

    Examples:
      >>> jnp.cumsum(jnp.array([[1, 2], [3, 4]]), axis=0)
      Array([[1, 2],
             [4, 6]], dtype=int32)
    """
    return _cumulative_reduction("cumsum", a, axis, dtype, out, lax.cumsum)


@staged("cumprod", static_argnames=("axis", "dtype"))
def cumprod(a: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None) -> Array:
    """Returns the running product along an axis.

    Args:
      a: array of numbers or bool.
      axis: int; default: the flattened array.
      dtype: dtype of products and result; default: that of `a`, the default integer for bool.  Unlike NumPy, small
        integers do not widen.
      out: must be None.

    Returns:
      Array of the shape of `a`, or (a.size,) without an axis.

    Raises:
      ValueError: there is no such axis.

    Examples:
      >>> jnp.cumprod(jnp.array([1, 2, 3, 4]))
      Array([ 1,  2,  6, 24], dtype=int32)
    """
    return _cumulative_reduction("cumprod", a, axis, dtype, out, lax.cumprod)


@staged("nancumsum", static_argnames=("axis", "dtype"), compiled_from=FEW)
def nancumsum(a: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None) -> Array:
    """Returns the running sum along an axis, in which NaN counts as 0.

    Args:
      a: array of numbers or bool.
      axis: int; default: the flattened array.
      dtype: dtype of sums and result; default: as for `cumsum`.
      out: must be None.

    Returns:
      Array of the shape of `a`, or (a.size,) without an axis.

    Raises:
      ValueError: there is no such axis.

    Examples:
      >>> jnp.nancumsum(jnp.array([1.0, jnp.nan, 2.0]))
      Array([1., 1., 3.], dtype=float32)
    """
    return _cumulative_reduction("nancumsum", a, axis, dtype, out, lax.cumsum, fill=0)


@staged("nancumprod", static_argnames=("axis", "dtype"), compiled_from=FEW)
def nancumprod(a: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None) -> Array:
    """Returns the running product along an axis, in which NaN counts as 1.

    Args:
      a: array of numbers or bool.
      axis: int; default: the flattened array.
      dtype: dtype of products and result; default: as for `cumprod`.
      out: must be None.

    Returns:
      Array of the shape of `a`, or (a.size,) without an axis.

    Raises:
      ValueError: there is no such axis.

    Examples:
      >>> jnp.nancumprod(jnp.array([2.0, jnp.nan, 3.0]))
      Array([2., 2., 6.], dtype=float32)
    """
    return _cumulative_reduction("nancumprod", a, axis, dtype, out, lax.cumprod, fill=1)


# --- array API ----------------------------------------------------------------------------------------------------


@staged("_cumsum_with_promotion", static_argnames=("axis", "dtype"))
def _cumsum_with_promotion(a, axis=None, dtype=None):
    return _cumulative_reduction("_cumsum_with_promotion", a, axis, dtype, None, lax.cumsum, widen=True)


def _cumprod_with_promotion(a, axis=None, dtype=None):
    return _cumulative_reduction("cumulative_prod", a, axis, dtype, None, lax.cumprod)


def _cumulative_with_initial(name, x, axis, dtype, include_initial, function, start):
    noun = "sum" if start == 0 else "product"
    x = ensure_arraylike(name, x)
    if x.ndim == 0:
        raise ValueError(
            f"The input must be non-scalar to take a cumulative {noun}, however a scalar value or scalar array was "
            "given."
        )
    if axis is None and x.ndim > 1:
        raise ValueError(
            f"The input array has rank {x.ndim}, however axis was not set to an explicit value. The axis argument is "
            "only optional for one-dimensional arrays."
        )
    axis = canonical_axis(0 if axis is None else axis, x.ndim)
    if dtype is not None:
        dtype = dtypes.check_user_dtype(dtype)
    out = function(x, axis=axis, dtype=dtype)
    if not include_initial:
        return out
    first = lax.full(tuple(1 if i == axis else d for i, d in enumerate(x.shape)), start, out.dtype)
    return lax.concatenate([first, out], axis)


def cumulative_sum(
    x: ArrayLike, /, *, axis: int | None = None, dtype: DTypeLike | None = None, include_initial: bool = False
) -> Array:
    """Returns the running sum along an axis, optionally with the initial 0.

    Args:
      x: array of numbers or bool.
      axis: int, which only a vector may omit.
      dtype: dtype of sums and result; default: as for `sum`, in which small integers widen.
      include_initial: whether a 0 is put in front.

    Returns:
      Array of the shape of `x`, with the axis one longer where include_initial.

    Raises:
      ValueError: `axis` is missing for an array of rank other than 1, or `x` is a scalar.

    Examples:
      >>> jnp.cumulative_sum(jnp.array([1, 2, 3]), include_initial=True)
      Array([0, 1, 3, 6], dtype=int32)
    """
    return _cumulative_with_initial("cumulative_sum", x, axis, dtype, include_initial, _cumsum_with_promotion, 0)


def cumulative_prod(
    x: ArrayLike, /, *, axis: int | None = None, dtype: DTypeLike | None = None, include_initial: bool = False
) -> Array:
    """Returns the running product along an axis, optionally with the initial 1.

    Args:
      x: array of numbers or bool.
      axis: int, which only a vector may omit.
      dtype: dtype of products and result; default: as for `prod`, in which small integers widen.
      include_initial: whether a 1 is put in front.

    Returns:
      Array of the shape of `x`, with the axis one longer where include_initial.

    Raises:
      ValueError: `axis` is missing for an array of rank other than 1, or `x` is a scalar.

    Examples:
      >>> jnp.cumulative_prod(jnp.array([2, 3, 4]), include_initial=True)
      Array([ 1,  2,  6, 24], dtype=int32)
    """
    return _cumulative_with_initial("cumulative_prod", x, axis, dtype, include_initial, _cumprod_with_promotion, 1)
