"""Predicates: isnan and its relatives, closeness, equality of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from onax import lax
from onax._control.jit_call import FEW, staged
from onax._core.api_functions import static_argnames
from onax._ground import dtypes
from onax._ground.typing import ArrayLike
from onax._native.array import Array, ArrayImpl
from onax._native.tree import tree_leaves
from onax._transforms.abstract import ShapeDtypeStruct
from onax.numpy._creation import asarray
from onax.numpy._promotion import (
    check_arraylike,
    ensure_arraylike,
    from_jax_array,
    is_arraylike,
    promote_args,
    promote_args_inexact,
)
from onax.numpy._ufuncs import constant_like, imag


def _full_bool(x, value):
    return lax.full_like(x, value, dtype=np.bool_)


@static_argnames()
def isnan(x: ArrayLike, /) -> Array:
    """Returns whether each element is NaN.

    Args:
      x: array of numbers; for complex ones, either part counts.

    Returns:
      bool array of the shape of `x`; False for integers.

    Examples:
      >>> jnp.isnan(jnp.array([1.0, jnp.nan]))
      Array([False,  True], dtype=bool)
    """
    if type(x) is not ArrayImpl:
        x = ensure_arraylike("isnan", x)
    return lax.ne(x, x)


@static_argnames()
def isfinite(x: ArrayLike, /) -> Array:
    """Returns whether each element is neither NaN nor infinite.

    Args:
      x: array of numbers; for complex ones, both parts count.

    Returns:
      bool array of the shape of `x`; True for integers.

    Raises:
      TypeError: `x` is no array or number.

    Examples:
      >>> jnp.isfinite(jnp.array([1.0, jnp.inf, jnp.nan]))
      Array([ True, False, False], dtype=bool)
    """
    x = ensure_arraylike("isfinite", x)
    if dtypes.is_float(x.dtype):
        return lax.is_finite(x)
    if dtypes.is_complex(x.dtype):
        return lax.bitwise_and(lax.is_finite(lax.real(x)), lax.is_finite(lax.imag(x)))
    return _full_bool(x, True)


@staged("isinf")
def isinf(x: ArrayLike, /) -> Array:
    """Returns whether each element is infinite.

    Args:
      x: array of numbers; for complex ones, either part counts.

    Returns:
      bool array of the shape of `x`; False for integers.

    Examples:
      >>> jnp.isinf(jnp.array([1.0, -jnp.inf]))
      Array([False,  True], dtype=bool)
    """
    x = ensure_arraylike("isinf", x)
    if dtypes.is_float(x.dtype):
        return lax.eq(lax.abs(x), x.dtype.type(np.inf))
    if dtypes.is_complex(x.dtype):
        re, im = lax.real(x), lax.imag(x)
        inf = re.dtype.type(np.inf)
        return lax.bitwise_or(lax.eq(lax.abs(re), inf), lax.eq(lax.abs(im), inf))
    return _full_bool(x, False)


def _is_infinity(name, x, out, infinity):
    (x,) = check_arraylike(name, x)
    if out is not None:
        raise NotImplementedError("The 'out' argument to isneginf/isposinf is not supported.")
    x = ensure_arraylike(name, x)
    if dtypes.is_float(x.dtype):
        return lax.eq(x, x.dtype.type(infinity))
    if dtypes.is_complex(x.dtype):
        raise ValueError("isposinf/isneginf are not well defined for complex types")
    return _full_bool(x, False)


def isposinf(x: ArrayLike, /, out: None = None) -> Array:
    """Returns whether each element is positive infinity.

    Args:
      x: array of real numbers.
      out: must be None.

    Returns:
      bool array of the shape of `x`.

    Raises:
      ValueError: `x` is complex.

    Examples:
      >>> jnp.isposinf(jnp.array([jnp.inf, -jnp.inf]))
      Array([ True, False], dtype=bool)
    """
    return _is_infinity("isposinf", x, out, np.inf)


def isneginf(x: ArrayLike, /, out: None = None) -> Array:
    """Returns whether each element is negative infinity.

    Args:
      x: array of real numbers.
      out: must be None.

    Returns:
      bool array of the shape of `x`.

    Raises:
      ValueError: `x` is complex.

    Examples:
      >>> jnp.isneginf(jnp.array([jnp.inf, -jnp.inf]))
      Array([False,  True], dtype=bool)
    """
    return _is_infinity("isneginf", x, out, -np.inf)


@staged("iscomplex")
def iscomplex(x: ArrayLike) -> Array:
    """Returns whether each element has an imaginary part other than 0.

    Args:
      x: array of numbers.

    Returns:
      bool array of the shape of `x`.

    Examples:
      >>> jnp.iscomplex(jnp.array([1 + 1j, 2 + 0j]))
      Array([ True, False], dtype=bool)
    """
    i = imag(x)
    return lax.ne(i, constant_like(i, 0))


@staged("isreal")
def isreal(x: ArrayLike) -> Array:
    """Returns whether each element has the imaginary part 0.

    Args:
      x: array of numbers.

    Returns:
      bool array of the shape of `x`.

    Examples:
      >>> jnp.isreal(jnp.array([1 + 1j, 2 + 0j]))
      Array([False,  True], dtype=bool)
    """
    i = imag(x)
    return lax.eq(i, constant_like(i, 0))


def iscomplexobj(x: Any) -> bool:
    """Returns whether x is of a complex dtype.

    Args:
      x: array, scalar, or anything NumPy can convert.

    Returns:
      bool.

    Raises:
      TypeError: the value is no array of numbers.

    Examples:
      >>> jnp.iscomplexobj(jnp.array([1 + 0j]))
      True
    """
    if x is None:
        return False
    if isinstance(x, ShapeDtypeStruct):
        return dtypes.is_complex(x.dtype)
    if isinstance(x, (list, tuple)) and any(isinstance(leaf, Array) for leaf in tree_leaves(x)):
        return dtypes.is_complex(dtypes.result_type(*tree_leaves(x)))
    if not is_arraylike(x) or isinstance(x, np.ndarray):
        values = np.asarray(x)
        if values.dtype.kind == "O" and values is not x:
            raise TypeError(
                f"Value {x!r} with dtype object is not a valid JAX array type. Only arrays of numeric types are "
                "supported by JAX."
            )
        return np.iscomplexobj(values)
    return dtypes.is_complex(dtypes.dtype(from_jax_array(x)))


def isrealobj(x: Any) -> bool:
    """Returns whether x is not of a complex dtype.

    Args:
      x: array, scalar, or anything NumPy can convert.

    Returns:
      bool.

    Examples:
      >>> jnp.isrealobj(jnp.array([1.0]))
      True
    """
    return not iscomplexobj(x)


def isscalar(element: Any) -> bool:
    """Returns whether a value is a scalar of Python or NumPy, or an array of rank 0.

    Args:
      element: any value.

    Returns:
      bool.

    Examples:
      >>> jnp.isscalar(3.0), jnp.isscalar(jnp.array(3.0)), jnp.isscalar([3.0])
      (True, True, False)
    """
    if np.isscalar(element):
        return True
    if is_arraylike(element):
        return np.ndim(element) == 0
    return False


def iterable(y: Any) -> bool:
    """Returns whether a value can be iterated over.

    Args:
      y: any value.

    Returns:
      bool.

    Examples:
      >>> jnp.iterable([1, 2]), jnp.iterable(3)
      (True, False)
    """
    return np.iterable(y)


@staged("isclose", static_argnames=("equal_nan",), compiled_from=FEW)
def isclose(
    a: ArrayLike, b: ArrayLike, rtol: ArrayLike = 1e-05, atol: ArrayLike = 1e-08, equal_nan: bool = False
) -> Array:
    """Returns whether elements of two arrays are equal within tolerances.

    Args:
      a: array of numbers.
      b: array of numbers, which broadcasts against `a`.
      rtol: number, the tolerance relative to |b|.
      atol: number, the absolute tolerance.
      equal_nan: whether NaN equals NaN.

    Returns:
      bool array: |a - b| <= atol + rtol |b|; infinities equal only themselves.

    Examples:
      >>> jnp.isclose(jnp.array([1.0, 2.0]), jnp.array([1.000001, 2.1]))
      Array([ True, False], dtype=bool)
    """
    a, b = promote_args("isclose", a, b)
    dtype = a.dtype
    if dtypes.issubdtype(dtype, dtypes.extended):  # keys have no distance
        return lax.eq(a, b)
    if dtype == np.bool_ or dtypes.is_integer(dtype):
        a, b = promote_args_inexact("isclose", a, b)
        dtype = a.dtype
    if dtypes.is_complex(dtype):
        dtype = dtypes.real_dtype(dtype)
    rtol, atol = _tolerance(rtol, dtype), _tolerance(atol, dtype)
    both_nan = lax.bitwise_and(isnan(a), isnan(b))
    finite_b = isfinite(b)
    near = lax.le(lax.abs(lax.sub(a, b)), lax.add(atol, lax.mul(rtol, lax.abs(b))))
    same = lax.eq(a, b)
    out = lax.bitwise_or(same, lax.bitwise_and(finite_b, near))
    return lax.bitwise_or(out, both_nan) if equal_nan else out


def _tolerance(value, dtype):
    """A tolerance as a scalar of dtype; staged values are converted."""
    if isinstance(value, (int, float)):
        return dtype.type(value)
    return lax.convert_element_type(ensure_arraylike("isclose", value), dtype)


@staged("allclose", static_argnames=("equal_nan",), compiled_from=FEW)
def allclose(
    a: ArrayLike, b: ArrayLike, rtol: ArrayLike = 1e-05, atol: ArrayLike = 1e-08, equal_nan: bool = False
) -> Array:
    """Returns whether all elements of two arrays are equal within tolerances.

    Args:
      a: array of numbers.
      b: array of numbers, which broadcasts against `a`.
      rtol: number, the tolerance relative to |b|.
      atol: number, the absolute tolerance.
      equal_nan: whether NaN equals NaN.

    Returns:
      bool array of rank 0.

    Examples:
      >>> jnp.allclose(jnp.array([1.0, 2.0]), jnp.array([1.000001, 2.0]))
      Array(True, dtype=bool)
    """
    near = isclose(a, b, rtol, atol, equal_nan)
    return lax.reduce_and(near, tuple(range(near.ndim)))


def array_equal(a1: ArrayLike, a2: ArrayLike, equal_nan: bool = False) -> Array:
    """Returns whether two arrays have the same shape and elements.

    Args:
      a1, a2: arrays of any dtypes.
      equal_nan: whether NaN equals NaN.

    Returns:
      bool array of rank 0.

    Examples:
      >>> jnp.array_equal(jnp.array([1, 2]), jnp.array([1.0, 2.0]))
      Array(True, dtype=bool)
    """
    a1, a2 = _as_arrays(a1, a2)
    if a1.shape != a2.shape:
        return lax.full((), False, np.bool_)
    same = lax.eq(*promote_args("array_equal", a1, a2))
    if equal_nan:
        same = lax.bitwise_or(same, lax.bitwise_and(isnan(a1), isnan(a2)))
    return lax.reduce_and(same, tuple(range(same.ndim)))


def array_equiv(a1: ArrayLike, a2: ArrayLike) -> Array:
    """Returns whether two arrays are equal after broadcasting.

    Args:
      a1, a2: arrays of any dtypes.

    Returns:
      bool array of rank 0; False where the shapes do not broadcast.

    Examples:
      >>> jnp.array_equiv(jnp.array([1, 1]), jnp.array([[1, 1], [1, 1]]))
      Array(True, dtype=bool)
    """
    a1, a2 = _as_arrays(a1, a2)
    try:
        lax.broadcast_shapes(a1.shape, a2.shape)
    except ValueError:
        return lax.full((), False, np.bool_)
    same = lax.eq(*promote_args("array_equiv", a1, a2))
    return lax.reduce_and(same, tuple(range(same.ndim)))


def _as_arrays(*args):
    """Converts arguments, lists included, to Arrays."""
    return [ensure_arraylike("array_equal", x) if is_arraylike(x) else asarray(x) for x in args]
