"""Predicates: isnan and its relatives, closeness, equality of arrays."""

import numpy as np

from onax import lax
from onax._control.jit_call import FEW, staged
from onax._core.api_functions import static_argnames
from onax._ground import dtypes
from onax._native.array import ArrayImpl
from onax._transforms.abstract import ShapeDtypeStruct
from onax.numpy._creation import asarray
from onax.numpy._promotion import check_arraylike, ensure_arraylike, is_arraylike, promote_args, promote_args_inexact
from onax.numpy._ufuncs import constant_like, imag


def _full_bool(x, value):
    return lax.full_like(x, value, dtype=np.bool_)


@static_argnames()
def isnan(x, /):
    """Whether each element is nan; never for integers."""
    if type(x) is not ArrayImpl:
        x = ensure_arraylike("isnan", x)
    return lax.ne(x, x)


@static_argnames()
def isfinite(x, /):
    """Whether each element is neither nan nor infinite."""
    x = ensure_arraylike("isfinite", x)
    if dtypes.is_float(x.dtype):
        return lax.is_finite(x)
    if dtypes.is_complex(x.dtype):
        return lax.bitwise_and(lax.is_finite(lax.real(x)), lax.is_finite(lax.imag(x)))
    return _full_bool(x, True)


@staged("isinf")
def isinf(x, /):
    """Whether each element is infinite; of complex ones, either part."""
    x = ensure_arraylike("isinf", x)
    if dtypes.is_float(x.dtype):
        return lax.eq(lax.abs(x), x.dtype.type(np.inf))
    if dtypes.is_complex(x.dtype):
        re, im = lax.real(x), lax.imag(x)
        inf = re.dtype.type(np.inf)
        return lax.bitwise_or(lax.eq(lax.abs(re), inf), lax.eq(lax.abs(im), inf))
    return _full_bool(x, False)


def _is_infinity(name, x, out, infinity):
    check_arraylike(name, x)
    if out is not None:
        raise NotImplementedError("The 'out' argument to isneginf/isposinf is not supported.")
    x = ensure_arraylike(name, x)
    if dtypes.is_float(x.dtype):
        return lax.eq(x, x.dtype.type(infinity))
    if dtypes.is_complex(x.dtype):
        raise ValueError("isposinf/isneginf are not well defined for complex types")
    return _full_bool(x, False)


def isposinf(x, /, out=None):
    """Whether each element is +inf.  Raises ValueError for complex x."""
    return _is_infinity("isposinf", x, out, np.inf)


def isneginf(x, /, out=None):
    """Whether each element is -inf.  Raises ValueError for complex x."""
    return _is_infinity("isneginf", x, out, -np.inf)


@staged("iscomplex")
def iscomplex(x):
    """Whether each element has an imaginary part other than 0."""
    i = imag(x)
    return lax.ne(i, constant_like(i, 0))


@staged("isreal")
def isreal(x):
    """Whether each element has imaginary part 0."""
    i = imag(x)
    return lax.eq(i, constant_like(i, 0))


def iscomplexobj(x):
    """Whether x has a complex dtype."""
    if x is None:
        return False
    if isinstance(x, ShapeDtypeStruct):
        return dtypes.is_complex(x.dtype)
    if not is_arraylike(x) or isinstance(x, np.ndarray):
        values = np.asarray(x)
        if values.dtype.kind == "O" and values is not x:
            raise TypeError(
                f"Value {x!r} with dtype object is not a valid JAX array type. Only arrays of numeric types are "
                "supported by JAX."
            )
        return np.iscomplexobj(values)
    return dtypes.is_complex(dtypes.dtype(x))


def isrealobj(x):
    """Whether x has no complex dtype."""
    return not iscomplexobj(x)


def isscalar(element):
    """Whether element is a Python or NumPy scalar or an array of rank 0."""
    if np.isscalar(element):
        return True
    if is_arraylike(element):
        return np.ndim(element) == 0
    return False


def iterable(y):
    """Whether y can be iterated over."""
    return np.iterable(y)


@staged("isclose", static_argnames=("equal_nan",), compiled_from=FEW)
def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether |a - b| <= atol + rtol * |b|, elementwise; infinities equal themselves only."""
    a, b = promote_args("isclose", a, b)
    dtype = a.dtype
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
def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements are close, as `isclose` says: a bool array of rank 0."""
    near = isclose(a, b, rtol, atol, equal_nan)
    return lax.reduce_and(near, tuple(range(near.ndim)))


def array_equal(a1, a2, equal_nan=False):
    """Whether the arrays have the same shape and elements."""
    a1, a2 = _as_arrays(a1, a2)
    if a1.shape != a2.shape:
        return lax.full((), False, np.bool_)
    same = lax.eq(*promote_args("array_equal", a1, a2))
    if equal_nan:
        same = lax.bitwise_or(same, lax.bitwise_and(isnan(a1), isnan(a2)))
    return lax.reduce_and(same, tuple(range(same.ndim)))


def array_equiv(a1, a2):
    """Whether the arrays are equal after broadcasting."""
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
