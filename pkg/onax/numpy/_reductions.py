"""Reductions: sum, prod, max, min, mean, var, std, any, all and their nan-skipping forms.

All take `axis` (None: all), `keepdims`, and, where it makes sense, `dtype`, `where` (a mask) and `initial`.
Half-precision sums are formed in float32; small integers are widened to the default integer, as in NumPy.
"""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np

from onax import lax
from onax._control.jit_call import compiled_when_large, staged
from onax._core.api_functions import name_error, static_argnames
from onax._core.trace import concrete_or_error
from onax._ground import dims, dtypes
from onax._ground.typing import ArrayLike, Axis, DTypeLike
from onax._native.array import Array, ArrayImpl
from onax._prims.convert import convert
from onax._prims.reductions import highest, lowest
from onax.numpy._creation import broadcast_to
from onax.numpy._named_axes import has_names, size_of_names, split_axes
from onax.numpy._promotion import (
    can_use_numpy,
    canonical_axes,
    check_arraylike,
    ensure_arraylike,
    ensure_arraylikes,
    indexed_axis,
    no_out,
    promote_args,
    promote_dtypes_inexact,
    static_axes,
    to_dtype,
)
from onax.numpy._ufuncs import constant_like
from onax.numpy._where import where

_F32 = np.dtype(np.float32)
_HALF = frozenset((np.dtype(np.float16), np.dtype(dtypes.bfloat16)))
_PLAIN_FLOATS = frozenset((_F32, np.dtype(np.float64)))
_AS_IS = frozenset(d for d in dtypes.ALL_DTYPES if dtypes.itemsize_bits(d) >= 32)


def require_static_axis(axis):
    """Returns the axis argument; raises ConcretizationTypeError if it is traced."""
    return concrete_or_error(None, axis, "The axis argument must be known statically.")


def reduction_axes(axis, ndim):
    """The axes of a reduction as a tuple.  Raises ValueError for one out of bounds or named twice."""
    if axis is None:
        return tuple(range(ndim))
    if type(axis) is int and -ndim <= axis < ndim:
        return (axis % ndim,)
    axis = require_static_axis(axis)
    if not hasattr(axis, "__index__") and not isinstance(axis, (tuple, list, np.ndarray)):
        axis = tuple(axis)
    axes = canonical_axes(axis, ndim)
    if len(set(axes)) != len(axes):
        raise ValueError(f"duplicate value in 'axis': {axis}")
    return axes


def _restore_axes(out, axes, shape):
    """Inserts the reduced axes with length 1."""
    if not axes:
        return out
    remaining = tuple([i for i in range(len(shape)) if i not in axes])
    shape_with_ones = tuple([1 if i in axes else d for i, d in enumerate(shape)])
    return lax.broadcast_in_dim_p.bind(out, shape=shape_with_ones, broadcast_dimensions=remaining, sharding=None)


def check_mask(name, condition):
    """Returns the mask, or None if there is none; raises ValueError if it is not of dtype bool."""
    if condition is None:
        return None
    check_arraylike(name, condition)
    if dtypes.dtype(condition) != np.bool_:
        raise ValueError(
            f"jnp.{name}: where must be None or a boolean array; got where.dtype={dtypes.dtype(condition)!r}."
        )
    return condition


def _check_initial(name, initial, dtype):
    check_arraylike(name, initial)
    if np.ndim(initial):
        raise ValueError(f"initial value must be a scalar. Got array of shape {np.shape(initial)}")
    return to_dtype(initial, dtype)


def _reduce(name, a, axis, dtype, out, keepdims, initial, mask, op, combine, identity, parallel=None, promote=True):
    """Implements sum and prod: widens, masks with the identity, reduces, combines with initial, and narrows."""
    no_out(name, out)
    a = ensure_arraylike(name, a)
    if dtype is not None:
        dtype = dtypes.check_user_dtype(dtype, name)
    if a.dtype == np.bool_:
        a = lax.convert_element_type(a, dtypes.scalar_dtype(int) if promote else np.int32)
    result = dtype
    if result is None:
        result = sum_dtype(a.dtype) if promote else a.dtype
    compute = _F32 if dtype is None and result in _HALF else result  # a dtype that is asked for is used
    axis, names = split_axes(name, axis, parallel)
    axes = reduction_axes(axis, a.ndim)
    reduced = lax.convert_element_type(a, compute)
    if mask is not None:
        reduced = where(check_mask(name, mask), reduced, constant_like(reduced, identity))
    outcome = op(reduced, axes)
    if names:
        outcome = parallel(outcome, names)
    if initial is not None:
        outcome = combine(_check_initial(name, initial, compute), outcome)
    if keepdims:
        outcome = _restore_axes(outcome, axes, reduced.shape)
    return outcome if compute is result or compute == result else lax.convert_element_type(outcome, result)


def _add(a, axes):
    return lax.reduce_or(a, axes) if a.dtype == np.bool_ else lax.reduce_sum(a, axes)


def _multiply(a, axes):
    return lax.reduce_and(a, axes) if a.dtype == np.bool_ else lax.reduce_prod(a, axes)


def sum_dtype(dtype):
    """The dtype of a sum: bool and small integers become the default integer of their signedness."""
    if dtype == np.bool_:
        return dtypes.scalar_dtype(int)
    if dtypes.is_unsigned(dtype):
        if dtypes.itemsize_bits(dtype) < 32:
            return np.dtype(dtypes.canonicalize_dtype(np.uint64))
    elif dtypes.is_integer(dtype) and dtypes.itemsize_bits(dtype) < 32:
        return dtypes.scalar_dtype(int)
    if dtypes.is_integer(dtype) and dtypes.scalar_dtype(int) != np.int32 and dtypes.itemsize_bits(dtype) == 32:
        return np.dtype(np.uint64 if dtypes.is_unsigned(dtype) else np.int64)
    return dtype


@static_argnames("dtype", "keepdims")
def sum(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
    promote_integers: bool = True,
) -> Array:
    """Returns the sum of the elements over the given axes.

    Differs from NumPy in the dtypes named above, and in refusing sequences, which `jnp.array` converts.

    Args:
      a: an array of any numeric dtype, or bool.
      axis: an int, a tuple of ints, or None for all axes; negative axes count from the end.
      dtype: the dtype of the result and of the additions.  By default the dtype of `a`, but bool and integers below 32
        bits give the default integer of their sign, and float16 and bfloat16 are added in float32 and rounded once.
      out: must be None.
      keepdims: whether the reduced axes stay, with length 1.
      initial: a scalar that is added to each sum.
      where: a bool array that broadcasts to the shape of `a`; elements where it is False do not count.
      promote_integers: False keeps the dtype of small integers.

    Returns:
      Array without the reduced axes; a sum of no elements is 0.

    Raises:
      ValueError: an axis is out of bounds or named twice.

    Examples:
      >>> jnp.sum(jnp.array([[1, 2, 3], [4, 5, 6]]), axis=1)
      Array([ 6, 15], dtype=int32)
    """
    if type(a) is ArrayImpl and a.dtype in _AS_IS and dtype is out is initial is where is None and not has_names(axis):
        if promote_integers and a.dtype.kind in "iu":  # 32 bits widen when 64 are on
            a = lax.convert_element_type(a, sum_dtype(a.dtype))
        try:
            axes = reduction_axes(axis, a.ndim)
            result = lax.reduce_sum_p.bind(_drop_weak_type(a), axes=axes, out_sharding=None)
            return _restore_axes(result, axes, a.shape) if keepdims else result
        except (TypeError, ValueError) as error:
            name_error(error, "onax.numpy.sum")
            raise
    try:
        return _reduce(
            "sum", a, axis, dtype, out, keepdims, initial, where, _add, lax.add, 0, lax.psum, promote=promote_integers
        )
    except (TypeError, ValueError) as error:
        name_error(error, "onax.numpy.sum", (a,))
        raise


def _drop_weak_type(a):
    return lax.convert_element_type(a, a.dtype) if a.weak_type else a


@static_argnames("dtype", "keepdims")
def prod(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
    promote_integers: bool = True,
) -> Array:
    """Returns the product of the elements over the given axes.

    Args:
      a: an array of any numeric dtype, or bool.
      axis: an int, a tuple of ints, or None for all axes; negative axes count from the end.
      dtype: the dtype of the result; the default is that of `sum`.
      out: must be None.
      keepdims: whether the reduced axes stay, with length 1.
      initial: a scalar that each product is multiplied by.
      where: a bool array that broadcasts to the shape of `a`; elements where it is False do not count.
      promote_integers: False keeps the dtype of small integers.

    Returns:
      Array without the reduced axes; a product of no elements is 1.

    Raises:
      ValueError: there is no such axis.

    Examples:
      >>> jnp.prod(jnp.array([2, 3, 4]))
      Array(24, dtype=int32)
    """
    return _reduce(
        "prod", a, axis, dtype, out, keepdims, initial, where, _multiply, lax.mul, 1, promote=promote_integers
    )


def _reduce_extreme(name, a, axis, out, keepdims, initial, mask, op, combine, identity, parallel):
    """Implements max and min: they have no identity, so empty axes and masks need `initial`."""
    no_out(name, out)
    a = ensure_arraylike(name, a)
    axis, names = split_axes(name, axis, parallel)
    axes = reduction_axes(axis, a.ndim)
    if initial is None:
        if 0 in [a.shape[i] for i in axes]:
            raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
        if mask is not None:
            check_mask(name, mask)
            raise ValueError(
                f"reduction operation {name} does not have an identity, so to use a where mask one has to specify "
                "'initial'"
            )
    a = lax.convert_element_type(a, a.dtype)
    if mask is not None:
        a = where(check_mask(name, mask), a, identity(a.dtype))
    result = op(a, axes)
    if names:
        result = parallel(result, names)
    if initial is not None:
        result = combine(_check_initial(name, initial, a.dtype), result)
    return _restore_axes(result, axes, a.shape) if keepdims else result


@static_argnames("keepdims")
def max(
    a: ArrayLike,
    axis: Axis = None,
    out: None = None,
    keepdims: bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
) -> Array:
    """Returns the largest element over the given axes.

    Args:
      a: an array of real or complex numbers, or bool; complex numbers are ordered by real, then imaginary part.
      axis: an int, a tuple of ints, or None for all axes; negative axes count from the end.
      out: must be None.
      keepdims: whether the reduced axes stay, with length 1.
      initial: a scalar that takes part in each comparison.
      where: a bool array that broadcasts to the shape of `a`; elements where it is False do not count. `initial` must
        then be given.

    Returns:
      Array of the dtype of `a` without the reduced axes, NaN where one of the elements is.

    Raises:
      ValueError: there are no elements, or `where` is given, without `initial`.

    Examples:
      >>> jnp.max(jnp.array([[3, 7], [9, 2]]), axis=0)
      Array([9, 7], dtype=int32)
    """
    return _reduce_extreme("max", a, axis, out, keepdims, initial, where, lax.reduce_max, lax.max, lowest, lax.pmax)


@static_argnames("keepdims")
def min(
    a: ArrayLike,
    axis: Axis = None,
    out: None = None,
    keepdims: bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
) -> Array:
    """Returns the smallest element over the given axes.

    Args:
      a: an array of real or complex numbers, or bool; complex numbers are ordered by real, then imaginary part.
      axis: an int, a tuple of ints, or None for all axes; negative axes count from the end.
      out: must be None.
      keepdims: whether the reduced axes stay, with length 1.
      initial: a scalar that takes part in each comparison.
      where: a bool array that broadcasts to the shape of `a`; elements where it is False do not count. `initial` must
        then be given.

    Returns:
      Array of the dtype of `a` without the reduced axes, NaN where one of the elements is.

    Raises:
      ValueError: there are no elements, or `where` is given, without `initial`.

    Examples:
      >>> jnp.min(jnp.array([[3, 7], [9, 2]]), axis=0)
      Array([3, 2], dtype=int32)
    """
    return _reduce_extreme("min", a, axis, out, keepdims, initial, where, lax.reduce_min, lax.min, highest, lax.pmin)


amax, amin = max, min


@static_argnames("keepdims")
def minmax(
    a: ArrayLike,
    axis: Axis = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: ArrayLike | None = None,
) -> tuple[Array, Array]:
    """Returns the smallest and the largest element over the given axes: `(min(a), max(a))`.

    Args:
      a: an array of real or complex numbers, or bool; complex numbers are ordered by real, then imaginary part.
      axis: an int, a tuple of ints, or None for all axes; negative axes count from the end.
      out: must be None.
      keepdims: whether the reduced axes stay, with length 1.
      initial: a scalar that takes part in each comparison, or two: one for the minimum, one for the maximum.
      where: a bool array that broadcasts to the shape of `a`; elements where it is False do not count. `initial` must
        then be given.

    Returns:
      Two arrays of the dtype of `a` without the reduced axes, NaN where one of the elements is.

    Raises:
      ValueError: there are no elements, or `where` is given, without `initial`.

    Examples:
      >>> jnp.minmax(jnp.array([[3, 7], [9, 2]]), axis=0)
      (Array([3, 2], dtype=int32), Array([9, 7], dtype=int32))
    """
    low, high = initial if isinstance(initial, tuple) else (initial, initial)
    no_out("minmax", out)
    a = ensure_arraylike("minmax", a)
    return (
        _reduce_extreme("minmax", a, axis, None, keepdims, low, where, lax.reduce_min, lax.min, highest, lax.pmin),
        _reduce_extreme("minmax", a, axis, None, keepdims, high, where, lax.reduce_max, lax.max, lowest, lax.pmax),
    )


def _reduce_bools(name, a, axis, out, keepdims, mask, op, identity):
    no_out(name, out)
    a = convert(ensure_arraylike(name, a), np.dtype(np.bool_))  # of complex numbers the real part, as in JAX
    axis, _ = split_axes(name, axis, None)
    axes = reduction_axes(axis, a.ndim)
    if mask is not None:
        a = where(check_mask(name, mask), a, np.bool_(identity))
    result = op(a, axes)
    return _restore_axes(result, axes, a.shape) if keepdims else result


@static_argnames("keepdims")
def all(
    a: ArrayLike, axis: Axis = None, out: None = None, keepdims: bool = False, *, where: ArrayLike | None = None
) -> Array:
    """Returns whether all elements over the given axes are nonzero.

    Args:
      a: an array of any dtype; NaN counts as nonzero.
      axis: an int, a tuple of ints, or None for all axes; negative axes count from the end.
      out: must be None.
      keepdims: whether the reduced axes stay, with length 1.
      where: a bool array that broadcasts to the shape of `a`; elements where it is False do not count.

    Returns:
      bool array without the reduced axes; True for no elements.

    Raises:
      ValueError: there is no such axis.

    Examples:
      >>> jnp.all(jnp.array([[True, False], [True, True]]), axis=1)
      Array([False,  True], dtype=bool)
    """
    return _reduce_bools("all", a, axis, out, keepdims, where, lax.reduce_and, True)


@static_argnames("keepdims")
def any(
    a: ArrayLike, axis: Axis = None, out: None = None, keepdims: bool = False, *, where: ArrayLike | None = None
) -> Array:
    """Returns whether any element over the given axes is nonzero.

    Args:
      a: an array of any dtype; NaN counts as nonzero.
      axis: an int, a tuple of ints, or None for all axes; negative axes count from the end.
      out: must be None.
      keepdims: whether the reduced axes stay, with length 1.
      where: a bool array that broadcasts to the shape of `a`; elements where it is False do not count.

    Returns:
      bool array without the reduced axes; False for no elements.

    Raises:
      ValueError: there is no such axis.

    Examples:
      >>> jnp.any(jnp.array([[True, False], [False, False]]), axis=1)
      Array([ True, False], dtype=bool)
    """
    return _reduce_bools("any", a, axis, out, keepdims, where, lax.reduce_or, False)


@staged("count_nonzero", static_argnames=("axis", "keepdims"))
def count_nonzero(a: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Array:
    """Returns the number of nonzero elements over the axes.

    Args:
      a: array of any dtype; NaN counts as nonzero.
      axis: int or ints; default: all axes.
      keepdims: whether the reduced axes stay, with length 1.

    Returns:
      Array of the default integer, without the reduced axes.

    Raises:
      ValueError: there is no such axis.

    Examples:
      >>> jnp.count_nonzero(jnp.array([[0, 1], [2, 3]]), axis=1)
      Array([1, 2], dtype=int32)
    """
    a = ensure_arraylike("count_nonzero", a)
    return sum(lax.ne(a, constant_like(a, 0)), axis=axis, dtype=dtypes.scalar_dtype(int), keepdims=keepdims)


# --- mean, variance -----------------------------------------------------------------------------------------------


def _axis_size(a, axis):
    """The number of elements that a reduction over the axes combines."""
    axis, names = split_axes("mean", axis, lax.psum, are_distinct=False)
    for i in (axis,) if type(axis) is int else axis if type(axis) is tuple else ():
        indexed_axis(i, a.ndim)
    return dims.prod(tuple(a.shape[i] for i in reduction_axes(axis, a.ndim))) * size_of_names(names)


@static_argnames("dtype", "keepdims")
@compiled_when_large(("axis", "dtype", "out", "keepdims"))
def mean(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: bool = False,
    *,
    where: ArrayLike | None = None,
) -> Array:
    """Returns the arithmetic mean of the elements over the given axes.

    Unlike NumPy's, the mean of integers is of the default float, not float64.

    Args:
      a: an array of any numeric dtype, or bool.
      axis: an int, a tuple of ints, or None for all axes; negative axes count from the end.
      dtype: the dtype of the result.  By default that of `a` if it is inexact, else the default float.  float16 and
        bfloat16 are added in float32 and rounded once.
      out: must be None.
      keepdims: whether the reduced axes stay, with length 1.
      where: a bool array that broadcasts to the shape of `a`; elements where it is False do not count.

    Returns:
      Array without the reduced axes; NaN for no elements.

    Raises:
      IndexError: an axis is out of bounds.
      ValueError: there is no such axis.

    Examples:
      >>> jnp.mean(jnp.array([[1, 2], [3, 6]]), axis=0)
      Array([2., 4.], dtype=float32)
    """
    if type(a) is ArrayImpl and a.dtype in _PLAIN_FLOATS and dtype is out is where is None:
        count = a.dtype.type(_axis_size(a, axis))  # checks the axis
        return lax.div(sum(a, axis, keepdims=keepdims), count)
    result, compute = _mean_dtypes("mean", a, dtype, out)
    return lax.convert_element_type(_mean(a, axis, compute, keepdims, where), result)


def _mean_dtypes(name, a, dtype, out):
    """The dtype of a mean and the dtype in which it is computed."""
    no_out(name, out)
    check_arraylike(name, a)
    if dtype is not None:
        result = dtypes.check_user_dtype(dtype, name)
    else:
        result = dtypes.canonicalize_dtype(dtypes.to_inexact_dtype(dtypes.dtype(a)))
    return result, _F32 if dtype is None and result in _HALF else result


def _mean(a, axis, compute, keepdims, mask):
    a = ensure_arraylike("mean", a)
    if mask is None:
        count = constant_like_dtype(_axis_size(a, axis), compute)
    else:
        ones = broadcast_to(check_mask("mean", mask), a.shape)
        count = sum(ones, axis, dtype=compute, keepdims=keepdims)
    total = sum(a, axis, dtype=compute, keepdims=keepdims, where=mask)
    return lax.div(total, count)


def constant_like_dtype(value, dtype):
    """A count as a scalar of dtype; a symbolic count becomes a traced value."""
    return dtype.type(value) if isinstance(value, (int, float)) else to_dtype(value, dtype)


@static_argnames("dtype", "keepdims")
def var(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike | None = None,
    mean: ArrayLike | None = None,
    correction: int | None = None,
) -> Array:
    """Returns the variance of the elements over the given axes: the mean squared deviation from the mean.

    Args:
      a: an array of any numeric dtype; of complex numbers the squared magnitude of the deviation counts.
      axis: an int, a tuple of ints, or None for all axes; negative axes count from the end.
      dtype: the dtype of the result, by default the real float of `a`'s precision.
      out: must be None.
      ddof: the sum of squares is divided by the number of elements less `ddof`.
      keepdims: whether the reduced axes stay, with length 1.
      where: a bool array that broadcasts to the shape of `a`; elements where it is False do not count.
      mean: the mean, with the reduced axes of length 1, if it is known.
      correction: the array API's name of `ddof`.

    Returns:
      Real array without the reduced axes; NaN where the divisor is not positive.

    Raises:
      IndexError: an axis is out of bounds.
      ValueError: both ddof and correction are given.

    Examples:
      >>> jnp.var(jnp.array([1.0, 2.0, 3.0, 4.0]), ddof=1)
      Array(1.6666666, dtype=float32)
    """
    ddof = _resolve_correction(ddof, correction)
    no_out("var", out)
    check_mask("var", where)
    return _var(a, _hashable_axis(axis), dtype, ddof, keepdims, where, mean)


@static_argnames("dtype", "keepdims")
def std(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike | None = None,
    mean: ArrayLike | None = None,
    correction: int | None = None,
) -> Array:
    """Returns the standard deviation over the given axes: the square root of `var`, whose arguments it takes.

    Args:
      a: an array of any numeric dtype.
      axis: an int, a tuple of ints, or None for all axes; negative axes count from the end.
      dtype: an inexact dtype for the result.
      out: must be None.
      ddof: the sum of squares is divided by the number of elements less `ddof`.
      keepdims: whether the reduced axes stay, with length 1.
      where: a bool array that broadcasts to the shape of `a`; elements where it is False do not count.
      mean: the mean, with the reduced axes of length 1, if it is known.
      correction: the array API's name of `ddof`.

    Returns:
      Real array without the reduced axes.

    Raises:
      IndexError: an axis is out of bounds.
      ValueError: dtype is not inexact.

    Examples:
      >>> jnp.std(jnp.array([1.0, 3.0]))
      Array(1., dtype=float32)
    """
    ddof = _resolve_correction(ddof, correction)
    no_out("std", out)
    check_mask("std", where)
    return _std(a, _hashable_axis(axis), dtype, ddof, keepdims, where, mean)


def _hashable_axis(axis):
    """Converts a list or array of axes to a tuple; other axis arguments stay."""
    axis = require_static_axis(axis)
    return tuple(np.asarray(axis).tolist()) if np.ndim(axis) == 1 and not isinstance(axis, tuple) else axis


def _resolve_correction(ddof, correction):
    if correction is None:
        return ddof
    if not isinstance(ddof, int) or ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return correction


@staged("_var", static_argnames=("axis", "dtype", "keepdims"))
def _var(a, axis, dtype, ddof, keepdims, mask, mean):
    a = ensure_arraylike("var", a)
    compute, result = _variance_dtypes(a.dtype, dtype)
    a = lax.convert_element_type(a, compute)
    mean = _mean(a, axis, compute, True, mask) if mean is None else convert(ensure_arraylike("var", mean), compute)
    centered = lax.sub(*promote_args("subtract", a, mean))
    if dtypes.is_complex(compute):
        centered = lax.real(lax.mul(centered, lax.conj(centered)))
        compute = centered.dtype
    else:
        centered = lax.square(centered)
    if mask is None and type(ddof) is int and can_use_numpy(centered) and dtypes.is_inexact(compute):
        known = _axis_size(a, axis) - ddof
        if known > 0:  # a known count needs no comparison
            total = sum(centered, axis, keepdims=keepdims)
            return lax.convert_element_type(lax.div(total, np.asarray(known, compute)[()]), result)
    if mask is None:
        count = constant_like_dtype(_axis_size(a, axis), compute)
    else:
        ones = broadcast_to(check_mask("var", mask), a.shape)
        count = sum(ones, axis, dtype=compute, keepdims=keepdims)
    count = lax.sub(count, to_dtype(ddof, compute))
    total = sum(centered, axis, keepdims=keepdims, where=mask)
    out = lax.convert_element_type(lax.div(*promote_args("divide", total, count)), result)
    return where(lax.gt(count, constant_like(count, 0)), out, np.nan)


def _variance_dtypes(operand_dtype, dtype):
    """The dtype in which a variance is computed, and the dtype of the result, which is always real."""
    if dtype is not None:
        result_dtype = dtypes.check_user_dtype(dtype, "var")
        if not dtypes.is_complex(result_dtype) and dtypes.is_complex(operand_dtype):
            raise ValueError(
                "jax.numpy.var does not yet support real dtype parameters when computing the variance of an array of "
                "complex values. The semantics of numpy.var seem unclear in this case."
            )
        compute = dtypes.canonicalize_dtype(result_dtype)
    else:
        compute = dtypes.canonicalize_dtype(dtypes.to_inexact_dtype(operand_dtype))
        result_dtype = dtypes.real_dtype(compute)
    return (_F32 if compute in _HALF else compute), result_dtype


@staged("_std", static_argnames=("axis", "dtype", "keepdims"))
def _std(a, axis, dtype, ddof, keepdims, mask, mean):
    dtype = None if dtype is None else dtypes.check_user_dtype(dtype, "std")
    if dtype is not None and not dtypes.issubdtype(dtypes.canonicalize_dtype(dtype), np.inexact):
        raise ValueError(f"dtype argument to jnp.std must be inexact; got {dtypes.canonicalize_dtype(dtype)}")
    return lax.sqrt(_var(a, axis, dtype, ddof, keepdims, mask, mean))


@static_argnames("keepdims")
def ptp(a: ArrayLike, axis: Axis = None, out: None = None, keepdims: bool = False) -> Array:
    """Returns the range of the elements over the axes: the largest minus the smallest.

    Args:
      a: array of real numbers.
      axis: int or ints; default: all axes.
      out: must be None.
      keepdims: whether the reduced axes stay, with length 1.

    Returns:
      Array of the dtype of `a`, without the reduced axes.

    Raises:
      ValueError: there is no such axis.

    Examples:
      >>> jnp.ptp(jnp.array([[1, 5], [7, 3]]), axis=1)
      Array([4, 4], dtype=int32)
    """
    no_out("ptp", out)
    return _ptp(a, None if axis is None else static_axes(axis), keepdims)


@staged("_ptp", static_argnames=("axis", "keepdims"))
def _ptp(a, axis, keepdims):
    return lax.sub(max(a, axis, keepdims=keepdims), min(a, axis, keepdims=keepdims))


@overload
def average(
    a: ArrayLike,
    axis: Axis = None,
    weights: ArrayLike | None = None,
    returned: Literal[False] = False,
    keepdims: bool = False,
) -> Array: ...


@overload
def average(
    a: ArrayLike,
    axis: Axis = None,
    weights: ArrayLike | None = None,
    *,
    returned: Literal[True],
    keepdims: bool = False,
) -> tuple[Array, Array]: ...


@overload
def average(
    a: ArrayLike, axis: Axis = None, weights: ArrayLike | None = None, returned: bool = False, keepdims: bool = False
) -> Array | tuple[Array, Array]: ...


@static_argnames("keepdims")
def average(
    a: ArrayLike, axis: Axis = None, weights: ArrayLike | None = None, returned: bool = False, keepdims: bool = False
) -> Array | tuple[Array, Array]:
    """Returns the weighted mean of the elements over the axes.

    Args:
      a: array of numbers.
      axis: int or ints; default: all axes.
      weights: array of the shape of `a`, or of its shape along the axes; default: ones.
      returned: whether the sums of weights are returned too.
      keepdims: whether the reduced axes stay, with length 1.

    Returns:
      Inexact array without the reduced axes, or a pair of it and the sums of weights.

    Raises:
      ValueError: the weights do not fit the axes.

    Examples:
      >>> jnp.average(jnp.array([1.0, 2.0, 6.0]), weights=jnp.array([1, 1, 2]))
      Array(3.75, dtype=float32)
    """
    if weights is None:
        a = ensure_arraylike("average", a)
        reduction_axes(axis, a.ndim)  # ValueError, unlike `mean`
        result = mean(a, axis=axis, keepdims=keepdims)
        weight = lax.full((), _axis_size(a, axis), result.dtype)
        return (result, broadcast_to(weight, result.shape)) if returned else result
    a, weights = promote_dtypes_inexact(*ensure_arraylikes("average", a, weights))
    axis = None if axis is None else canonical_axes(axis, a.ndim)
    if a.shape != weights.shape:
        weights = _weights_along(a, axis, weights)
    weight = sum(weights, axis=axis, keepdims=keepdims)
    result = lax.div(sum(lax.mul(a, weights), axis=axis, keepdims=keepdims), weight)
    return (result, broadcast_to(weight, result.shape)) if returned else result


def _weights_along(a, axes, weights):
    """Permutes and reshapes weights, whose axes are those of a in the order of `axes`, so that they broadcast to a."""
    if axes is None:
        raise ValueError("Axis must be specified when shapes of a and weights differ.")
    if len(set(axes)) != len(axes):
        raise ValueError(f"repeated axis: {axes}")
    if not dims.equal_shapes(weights.shape, tuple(a.shape[i] for i in axes)):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    if list(axes) != sorted(axes):
        weights = lax.transpose(weights, np.argsort(axes))
    return lax.reshape(weights, tuple(d if i in axes else 1 for i, d in enumerate(a.shape)))
