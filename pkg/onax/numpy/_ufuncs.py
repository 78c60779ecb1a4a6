"""Elementwise functions that are one primitive after promotion: rows.

Each row: public name, the primitive's bind, the lax function for everything but the common case, the promotion
(`as_is`: checked only; `same`: common dtype; `inexact`: common floating dtype; `numeric`: bool becomes int), dtypes for
which two Arrays of one dtype go straight to the primitive, and the parameter names that `inspect.signature` shows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from onax import lax
from onax._core.api_functions import static_argnames
from onax._ground import dtypes
from onax._ground.config import X64
from onax._ground.dtypes import X64_DTYPES
from onax._ground.typing import ArrayLike
from onax._native.array import Array, ArrayImpl, make_array
from onax._native.context import option_word
from onax._prims.elementwise_rows import kept
from onax.numpy._promotion import (
    ensure_arraylike,
    promote_args,
    promote_args_inexact,
    promote_args_numeric,
    promote_dtypes_inexact,
    promote_dtypes_numeric,
    refuse_float0,
)
from onax.numpy._ufunc_docstrings import BOOL, INEXACT, PROMOTED, describe

_REAL = frozenset(d for d in dtypes.ALL_DTYPES if d.kind not in "bc")
_INEXACT = frozenset(d for d in dtypes.ALL_DTYPES if dtypes.is_inexact(d))
_NUMBERS = _REAL | _INEXACT
_INTEGERS = frozenset(d for d in dtypes.ALL_DTYPES if dtypes.is_integer(d))
_LOGICAL = _INTEGERS | {np.dtype(bool)}
_SMALL = range(128)  # Python ints that every integer dtype wider than 4 bits holds
_WIDE = frozenset(d for d in _NUMBERS if dtypes.itemsize_bits(d) >= 8 and not d.name.startswith("float8"))
_WIDE_FLOATS = _WIDE & _INEXACT


def _set_signature(function, name, parameters, doc):
    """Sets the public name, parameter names and docstring of a function that was made from a row."""
    function.__name__ = function.__qualname__ = name
    function.__module__ = "onax.numpy"
    function.__doc__ = doc(name, parameters.split())
    function.__annotations__ = {**dict.fromkeys(parameters.split(), "ArrayLike"), "return": "Array"}
    code = function.__code__
    count = code.co_argcount
    function.__code__ = code.replace(co_varnames=(*parameters.split(), *code.co_varnames[count:]), co_name=name)
    return static_argnames()(function)  # JAX compiles it


def _unary(name, primitive, function, direct, promote, doc) -> Callable[[ArrayLike], Array]:
    """A function of one array; `promote` returns a list of one."""
    bind = primitive.bind

    def ufunc(x, /):
        if type(x) is ArrayImpl and x.dtype in direct:
            return bind(x)
        x = ensure_arraylike(name, x)
        refuse_float0(name, (x,))
        return function(*promote(x))

    return _set_signature(ufunc, name, "x", doc)


def _float(name, primitive, function, doc) -> Callable[[ArrayLike], Array]:
    """A function of one array, computed in floats or complex numbers."""
    return _unary(name, primitive, function, _INEXACT, promote_dtypes_inexact, doc)


def _binary(
    name, primitive, function, direct, promote, doc, parameters="x1 x2"
) -> Callable[[ArrayLike, ArrayLike], Array]:
    """A function of two arrays.  `direct` dtypes skip promotion when both sides agree or one is a Python scalar."""
    bind = primitive.bind
    floats = direct & _WIDE_FLOATS
    numbers = direct & _WIDE

    def ufunc(x1, x2, /):
        if type(x1) is ArrayImpl:
            dtype = x1.dtype
            if type(x2) is ArrayImpl:
                if dtype is x2.dtype and dtype in direct and x1.ndim == x2.ndim:
                    return bind(x1, x2)
            elif (
                not x1.weak_type
                and ((type(x2) is float and dtype in floats) or (type(x2) is int and x2 in _SMALL and dtype in numbers))
                and (dtype not in X64_DTYPES or option_word() & X64)  # `bind` makes the scalar's dtype canonical
            ):
                return bind(x1, dtype.type(x2))
        elif type(x2) is ArrayImpl and not x2.weak_type:
            dtype = x2.dtype
            if (
                (type(x1) is float and dtype in floats) or (type(x1) is int and x1 in _SMALL and dtype in numbers)
            ) and (dtype not in X64_DTYPES or option_word() & X64):
                return bind(dtype.type(x1), x2)
        return function(*promote(name, x1, x2))

    return _set_signature(ufunc, name, parameters, doc)


def _wrap_in_tuple(x):
    return (x,)


# --- one array ----------------------------------------------------------------------------------------------------

sin = _float("sin", lax.sin_p, lax.sin, describe(
    "Returns the sine.", "jnp.array([0.0, 1.0])", "Array([0.    , 0.8415], dtype=float32)", digits=4,
    operands="array of angles in radians", result=INEXACT
))  # fmt: skip
cos = _float("cos", lax.cos_p, lax.cos, describe(
    "Returns the cosine.", "jnp.array([0.0, 1.0])", "Array([1.    , 0.5403], dtype=float32)", digits=4,
    operands="array of angles in radians", result=INEXACT
))  # fmt: skip
tan = _float("tan", lax.tan_p, lax.tan, describe(
    "Returns the tangent.", "jnp.array([0.0, 1.0])", "Array([0.    , 1.5574], dtype=float32)", digits=4,
    operands="array of angles in radians", result=INEXACT
))  # fmt: skip
exp = _float("exp", lax.exp_p, lax.exp, describe(
    "Returns e to the power x.", "jnp.array([0.0, 1.0])", "Array([1.    , 2.7183], dtype=float32)", digits=4,
    operands="array of numbers", result=INEXACT
))  # fmt: skip
exp2 = _float("exp2", lax.exp2_p, lax.exp2, describe(
    "Returns 2 to the power x.", "jnp.array([0.0, 3.0])", "Array([1., 8.], dtype=float32)",
    operands="array of numbers", result=INEXACT
))  # fmt: skip
expm1 = _float("expm1", lax.expm1_p, lax.expm1, describe(
    "Returns exp(x) - 1, accurate near 0.", "jnp.array([0.0, 1.0])", "Array([0.    , 1.7183], dtype=float32)",
    digits=4, operands="array of numbers", result=INEXACT
))  # fmt: skip
log = _float("log", lax.log_p, lax.log, describe(
    "Returns the natural logarithm.", "jnp.array([1.0, 2.0, -1.0])",
    "Array([0.    , 0.6931,    nan], dtype=float32)", digits=4, operands="array of numbers",
    result=f"{INEXACT}; NaN for negative numbers, -inf for 0"
))  # fmt: skip
log1p = _float("log1p", lax.log1p_p, lax.log1p, describe(
    "Returns log(1 + x), accurate near 0.", "jnp.array([0.0, 1.0])", "Array([0.    , 0.6931], dtype=float32)",
    digits=4, operands="array of numbers", result=f"{INEXACT}; NaN below -1, -inf for -1"
))  # fmt: skip
sqrt = _float("sqrt", lax.sqrt_p, lax.sqrt, describe(
    "Returns the square root.", "jnp.array([4.0, 9.0, -1.0])", "Array([ 2.,  3., nan], dtype=float32)",
    operands="array of numbers", result=f"{INEXACT}; NaN for negative numbers"
))  # fmt: skip
tanh = _float("tanh", lax.tanh_p, lax.tanh, describe(
    "Returns the hyperbolic tangent.", "jnp.array([0.0, 1.0])", "Array([0.    , 0.7616], dtype=float32)",
    digits=4, operands="array of numbers", result=INEXACT
))  # fmt: skip
cbrt = _float("cbrt", lax.cbrt_p, lax.cbrt, describe(
    "Returns the real cube root.", "jnp.array([8.0, -27.0])", "Array([ 2., -3.], dtype=float32)", digits=4,
    operands="array of real numbers", result=INEXACT, raises="TypeError: `x` is complex"
))  # fmt: skip
sinh = _float("sinh", lax.sinh_p, lax.sinh, describe(
    "Returns the hyperbolic sine.", "jnp.array([0.0, 1.0])", "Array([0.    , 1.1752], dtype=float32)", digits=4,
    operands="array of numbers", result=INEXACT
))  # fmt: skip
cosh = _float("cosh", lax.cosh_p, lax.cosh, describe(
    "Returns the hyperbolic cosine.", "jnp.array([0.0, 1.0])", "Array([1.    , 1.5431], dtype=float32)", digits=4,
    operands="array of numbers", result=INEXACT
))  # fmt: skip
arcsin = _float("arcsin", lax.asin_p, lax.asin, describe(
    "Returns the inverse sine, in radians.", "jnp.array([0.0, 1.0])", "Array([0.    , 1.5708], dtype=float32)",
    digits=4, operands="array of numbers",
    result=f"{INEXACT}; in [-pi/2, pi/2] for real numbers, NaN outside [-1, 1]"
))  # fmt: skip
arccos = _float("arccos", lax.acos_p, lax.acos, describe(
    "Returns the inverse cosine, in radians.", "jnp.array([1.0, 0.0])", "Array([0.    , 1.5708], dtype=float32)",
    digits=4, operands="array of numbers", result=f"{INEXACT}; in [0, pi] for real numbers, NaN outside [-1, 1]"
))  # fmt: skip
arctan = _float("arctan", lax.atan_p, lax.atan, describe(
    "Returns the inverse tangent, in radians.", "jnp.array([0.0, 1.0])", "Array([0.    , 0.7854], dtype=float32)",
    digits=4, operands="array of numbers", result=f"{INEXACT}; in [-pi/2, pi/2] for real numbers"
))  # fmt: skip
arcsinh = _float("arcsinh", lax.asinh_p, lax.asinh, describe(
    "Returns the inverse hyperbolic sine.", "jnp.array([0.0, 1.0])", "Array([0.    , 0.8814], dtype=float32)",
    digits=4, operands="array of numbers", result=INEXACT
))  # fmt: skip
arctanh = _float("arctanh", lax.atanh_p, lax.atanh, describe(
    "Returns the inverse hyperbolic tangent.", "jnp.array([0.0, 0.5])", "Array([0.    , 0.5493], dtype=float32)",
    digits=4, operands="array of numbers", result=f"{INEXACT}; NaN for real numbers outside [-1, 1]"
))  # fmt: skip
sign = _unary("sign", lax.sign_p, lax.sign, _NUMBERS, _wrap_in_tuple, describe(
    "Returns the sign of numbers.", "jnp.array([-2.0, 0.0, 3.0])", "Array([-1.,  0.,  1.], dtype=float32)",
    operands="array of numbers", result=f"{PROMOTED}; -1, 0 or 1; x / abs(x) for complex numbers, and NaN for NaN"
))  # fmt: skip
square = _unary(
    "square", lax.square_p, lax.square, _NUMBERS, promote_dtypes_numeric,
    describe("Returns x times x.", "jnp.array([-3, 2])", "Array([9, 4], dtype=int32)", operands="array of numbers"),
)  # fmt: skip
negative = _unary("negative", lax.neg_p, lax.neg, _NUMBERS, _wrap_in_tuple, describe(
    "Returns -x.", "jnp.array([1, -2])", "Array([-1,  2], dtype=int32)", operands="array of numbers",
    raises="TypeError: `x` is of dtype bool", is_ufunc=True
))  # fmt: skip
invert = _unary("invert", lax.not_p, lax.bitwise_not, _LOGICAL, _wrap_in_tuple, describe(
    "Returns integers with each bit flipped, or bools negated.", "jnp.array([0, 5])",
    "Array([-1, -6], dtype=int32)", operands="array of integers or bools",
    raises="TypeError: `x` is of another dtype"
))  # fmt: skip
fabs = _unary(
    "fabs", lax.abs_p, lambda x: lax.abs(_refuse_complex("fabs", x)), _REAL & _INEXACT, promote_dtypes_inexact,
    describe(
        "Returns the absolute value as a float.", "jnp.array([-3, 2])", "Array([3., 2.], dtype=float32)",
        operands="array of real numbers", result=INEXACT, raises="TypeError: `x` is complex"
    ),
)  # fmt: skip


def _refuse_complex(name, x):
    if dtypes.is_complex(x.dtype):
        raise TypeError(f"ufunc '{name}' does not support complex dtypes")
    return x


@static_argnames()
def absolute(x: ArrayLike, /) -> Array:
    """Returns the absolute value, of complex numbers the modulus.

    Args:
      x: array of numbers or bool.

    Returns:
      Array of the shape and real dtype of `x`.

    Examples:
      >>> jnp.absolute(jnp.array([-3, 2]))
      Array([3, 2], dtype=int32)
    """
    x = ensure_arraylike("absolute", x)
    dtype = x.dtype
    return x if dtype == np.bool_ or dtypes.is_unsigned(dtype) else lax.abs(x)


@static_argnames()
def floor(x: ArrayLike, /) -> Array:
    """Returns the largest integral value not above x.

    Args:
      x: array of real numbers.

    Returns:
      Array of the shape and dtype of `x`; unlike NumPy's, integers and bools are returned unchanged.

    Examples:
      >>> jnp.floor(jnp.array([1.7, -1.2]))
      Array([ 1., -2.], dtype=float32)
    """
    x = ensure_arraylike("floor", x)
    return x if x.dtype in _LOGICAL else lax.floor(*promote_dtypes_inexact(x))


@static_argnames()
def ceil(x: ArrayLike, /) -> Array:
    """Returns the smallest integral value not below x.

    Args:
      x: array of real numbers.

    Returns:
      Array of the shape and dtype of `x`; unlike NumPy's, integers and bools are returned unchanged.

    Examples:
      >>> jnp.ceil(jnp.array([1.2, -1.7]))
      Array([ 2., -1.], dtype=float32)
    """
    x = ensure_arraylike("ceil", x)
    return x if x.dtype in _LOGICAL else lax.ceil(*promote_dtypes_inexact(x))


@static_argnames()
def positive(x: ArrayLike, /) -> Array:
    """Returns x itself.

    Args:
      x: array of numbers.

    Returns:
      Array of the shape and dtype of `x`.

    Examples:
      >>> jnp.positive(jnp.array([1, -2]))
      Array([ 1, -2], dtype=int32)
    """
    return ensure_arraylike("positive", x)


@static_argnames()
def log10(x: ArrayLike, /) -> Array:
    """Returns the logarithm with base 10.

    Args:
      x: array of numbers.

    Returns:
      Inexact array of the shape of `x`; NaN for negative numbers, -inf for 0.

    Examples:
      >>> jnp.round(jnp.log10(jnp.array([1.0, 1000.0])), 4)
      Array([0., 3.], dtype=float32)
    """
    logarithm = lax.log(*promote_args_inexact("log10", x))
    scale = dtypes.real_dtype(logarithm.dtype).type(1 / np.log(10))
    if not dtypes.is_complex(logarithm.dtype):
        return lax.mul(logarithm, scale)
    re, im = lax.real(logarithm), lax.imag(logarithm)
    return lax.complex(lax.mul(re, scale), lax.mul(im, scale))


@static_argnames()
def log2(x: ArrayLike, /) -> Array:
    """Returns the logarithm with base 2.

    Args:
      x: array of numbers.

    Returns:
      Inexact array of the shape of `x`; NaN for negative numbers, -inf for 0.

    Examples:
      >>> jnp.round(jnp.log2(jnp.array([1.0, 8.0])), 4)
      Array([0., 3.], dtype=float32)
    """
    logarithm = lax.log(*promote_args_inexact("log2", x))
    if not dtypes.is_complex(logarithm.dtype):
        return lax.div(logarithm, lax.log(logarithm.dtype.type(2)))
    re, im = lax.real(logarithm), lax.imag(logarithm)
    two = lax.log(re.dtype.type(2))
    return lax.complex(lax.div(re, two), lax.div(im, two))


def scalar_like(like, value):
    """value as a scalar of the other's dtype and weak type: a Python number in arithmetic with it."""
    value = like.dtype.type(value)
    return make_array(np.asarray(value), weak_type=True) if like.weak_type else kept(value)


def constant_like(like, value):
    """value as a scalar of the other's dtype, weakly typed beside a weak scalar but not beside a larger weak array.

    So JAX types the constants of most formulas; where a weak scalar's result is not weak, the constant has a dtype.
    """
    return scalar_like(like, value) if not like.shape else kept(like.dtype.type(value))


@static_argnames()
def deg2rad(x: ArrayLike, /) -> Array:
    """Returns angles in degrees converted to radians.

    Args:
      x: array of real numbers.

    Returns:
      Floating array of the shape of `x`.

    Examples:
      >>> jnp.round(jnp.deg2rad(jnp.array([0.0, 180.0])), 4)
      Array([0.    , 3.1416], dtype=float32)
    """
    (x,) = promote_args_inexact("deg2rad", x)
    return lax.mul(x, constant_like(x, np.pi / 180))


@static_argnames()
def rad2deg(x: ArrayLike, /) -> Array:
    """Returns angles in radians converted to degrees.

    Args:
      x: array of real numbers.

    Returns:
      Floating array of the shape of `x`.

    Examples:
      >>> jnp.round(jnp.degrees(jnp.array([0.0, jnp.pi])), 3)
      Array([  0., 180.], dtype=float32)
    """
    (x,) = promote_args_inexact("rad2deg", x)
    return lax.mul(x, constant_like(x, 180 / np.pi))


@static_argnames()
def reciprocal(x: ArrayLike, /) -> Array:
    """Returns 1 / x.

    Args:
      x: array of numbers.

    Returns:
      Inexact array of the shape of `x`; unlike NumPy's, floats also for integers.

    Examples:
      >>> jnp.reciprocal(jnp.array([2.0, 4.0]))
      Array([0.5 , 0.25], dtype=float32)
    """
    (x,) = promote_args_inexact("reciprocal", x)
    return lax.integer_pow(x, -1)


@static_argnames()
def conjugate(x: ArrayLike, /) -> Array:
    """Returns the complex conjugate.

    Args:
      x: array of numbers.

    Returns:
      Array of the shape and dtype of `x`; real numbers are returned unchanged.

    Examples:
      >>> jnp.conjugate(jnp.array([1 + 2j]))
      Array([1.-2.j], dtype=complex64)
    """
    x = ensure_arraylike("conjugate", x)
    return lax.conj(x) if dtypes.is_complex(x.dtype) else x


def conj(x: ArrayLike, /) -> Array:
    """Alias of `conjugate`. Returns the complex conjugate.

    Args:
      x: array of numbers.

    Returns:
      Array of the shape and dtype of `x`; real numbers are returned unchanged.

    Examples:
      >>> jnp.conj(jnp.array([1 + 2j]))
      Array([1.-2.j], dtype=complex64)
    """
    return conjugate(x)


@static_argnames()
def real(val: ArrayLike, /) -> Array:
    """Returns the real part.

    Args:
      val: array of numbers.

    Returns:
      Array of the shape and real dtype of `val`; real numbers are returned unchanged.

    Examples:
      >>> jnp.real(jnp.array([1 + 2j]))
      Array([1.], dtype=float32)
    """
    val = ensure_arraylike("real", val)
    return lax.real(val) if dtypes.is_complex(val.dtype) else val


@static_argnames()
def imag(val: ArrayLike, /) -> Array:
    """Returns the imaginary part.

    Args:
      val: array of numbers.

    Returns:
      Array of the shape and real dtype of `val`; zeros for real numbers.

    Examples:
      >>> jnp.imag(jnp.array([1 + 2j]))
      Array([2.], dtype=float32)
    """
    val = ensure_arraylike("imag", val)
    return lax.imag(val) if dtypes.is_complex(val.dtype) else lax.full_like(val, 0)


# --- two arrays ---------------------------------------------------------------------------------------------------

arctan2 = _binary("arctan2", lax.atan2_p, lax.atan2, _INEXACT, promote_args_inexact, describe(
    "Returns the angle of the point with abscissa x2 and ordinate x1, in radians.",
    "jnp.array([1.0, -1.0]), jnp.array([1.0, -1.0])", "Array([ 0.7854, -2.3562], dtype=float32)", digits=4,
    operands="arrays of real numbers", result=f"{INEXACT}; in [-pi, pi]",
    raises="TypeError: an operand is complex"
))  # fmt: skip
true_divide = _binary("true_divide", lax.div_p, lax.div, _INEXACT, promote_args_inexact, describe(
    "Returns the quotient x1 / x2.", "jnp.array([1, 3]), 2", "Array([0.5, 1.5], dtype=float32)",
    result=f"{INEXACT}; inf or NaN for a division by zero"
))  # fmt: skip
nextafter = _binary("nextafter", lax.nextafter_p, lax.nextafter, _REAL & _INEXACT, promote_args_inexact, describe(
    "Returns the float next to x in the direction of y.", "jnp.array([1.0, 1.0]), jnp.array([2.0, 0.0])",
    "Array([1.0000001 , 0.99999994], dtype=float32)", operands="arrays of real numbers", result=INEXACT
), "x y")  # fmt: skip
float_power = _binary("float_power", lax.pow_p, lax.pow, _INEXACT, promote_args_inexact, describe(
    "Returns x to the power y as an inexact number.", "jnp.array([2, 3]), -1",
    "Array([0.5   , 0.3333], dtype=float32)", digits=4, result=INEXACT
), "x y")  # fmt: skip
equal = _binary("equal", lax.eq_p, lax.eq, dtypes.ALL_DTYPES, promote_args, describe(
    "Returns whether elements are equal.", "jnp.array([1, 2]), 2", "Array([False,  True], dtype=bool)",
    operands="arrays of any dtypes", result=BOOL
), "x y")  # fmt: skip
not_equal = _binary("not_equal", lax.ne_p, lax.ne, dtypes.ALL_DTYPES, promote_args, describe(
    "Returns whether elements differ.", "jnp.array([1, 2]), 2", "Array([ True, False], dtype=bool)",
    operands="arrays of any dtypes", result=BOOL
), "x y")  # fmt: skip
left_shift = _binary("left_shift", lax.shift_left_p, lax.shift_left, _INTEGERS, promote_args_numeric, describe(
    "Returns integers with their bits moved up by y positions.", "jnp.array([1, 3]), 2",
    "Array([ 4, 12], dtype=int32)", operands="arrays of integers",
    result=f"{PROMOTED}; 0 where y is at least the number of bits",
    raises="TypeError: an operand is not of an integer dtype"
), "x y")  # fmt: skip


def _complex_order(part_order):
    """Compares complex numbers by real part, and by imaginary part where those are equal."""

    def compare(x, y):
        if not dtypes.is_complex(x.dtype):
            return part_order(x, y)
        tie = lax.eq(lax.real(x), lax.real(y))
        by_imag = part_order(lax.imag(x), lax.imag(y))
        return lax.select(tie, by_imag, part_order(lax.real(x), lax.real(y)))

    return compare


_ORDERED = _REAL | {np.dtype(bool)}
less = _binary("less", lax.lt_p, _complex_order(lax.lt), _ORDERED, promote_args, describe(
    "Returns whether x is less than y.", "jnp.array([1, 2, 3]), 2", "Array([ True, False, False], dtype=bool)",
    result=f"{BOOL}; complex numbers are ordered by real, then imaginary part"
), "x y")  # fmt: skip
less_equal = _binary("less_equal", lax.le_p, _complex_order(lax.le), _ORDERED, promote_args, describe(
    "Returns whether x is at most y.", "jnp.array([1, 2, 3]), 2", "Array([ True,  True, False], dtype=bool)",
    result=f"{BOOL}; complex numbers are ordered by real, then imaginary part"
), "x y")  # fmt: skip
greater = _binary("greater", lax.gt_p, _complex_order(lax.gt), _ORDERED, promote_args, describe(
    "Returns whether x is greater than y.", "jnp.array([1, 2, 3]), 2", "Array([False, False,  True], dtype=bool)",
    result=f"{BOOL}; complex numbers are ordered by real, then imaginary part"
), "x y")  # fmt: skip
greater_equal = _binary("greater_equal", lax.ge_p, _complex_order(lax.ge), _ORDERED, promote_args, describe(
    "Returns whether x is at least y.", "jnp.array([1, 2, 3]), 2", "Array([False,  True,  True], dtype=bool)",
    result=f"{BOOL}; complex numbers are ordered by real, then imaginary part"
), "x y")  # fmt: skip


@static_argnames()
def right_shift(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Returns integers with their bits moved down.

    Args:
      x1: integer array; signed numbers keep their sign.
      x2: integer array of the numbers of positions, which broadcasts.

    Returns:
      Integer array of the promoted dtype.

    Raises:
      TypeError: an operand is not of an integer dtype.

    Examples:
      >>> jnp.right_shift(jnp.array([8, -8]), 1)
      Array([ 4, -4], dtype=int32)
    """
    return _promote_and_shift_right("right_shift", x1, x2)


def _promote_and_shift_right(name, x1, x2):
    x1, x2 = promote_args_numeric(name, x1, x2)
    return (lax.shift_right_logical if dtypes.is_unsigned(x1.dtype) else lax.shift_right_arithmetic)(x1, x2)


@static_argnames()
def bitwise_right_shift(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Alias of `right_shift`. Returns integers with their bits moved down.

    Args:
      x1: integer array; signed numbers keep their sign.
      x2: integer array of the numbers of positions, which broadcasts.

    Returns:
      Integer array of the promoted dtype.

    Raises:
      TypeError: an operand is not of an integer dtype.

    Examples:
      >>> jnp.bitwise_right_shift(jnp.array([8, -8]), 1)
      Array([ 4, -4], dtype=int32)
    """
    return _promote_and_shift_right("bitwise_right_shift", x1, x2)


bitwise_left_shift = _binary(
    "bitwise_left_shift", lax.shift_left_p, lax.shift_left, _INTEGERS, promote_args_numeric,
    describe(
        "Alias of `left_shift`. Returns integers with their bits moved up by y positions.", "jnp.array([1, 3]), 2",
        "Array([ 4, 12], dtype=int32)", operands="arrays of integers",
        result=f"{PROMOTED}; 0 where y is at least the number of bits",
        raises="TypeError: an operand is not of an integer dtype"
    ), "x y",
)  # fmt: skip


def divide(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Alias of `true_divide`. Returns the quotient x1 / x2.

    Args:
      x1, x2: arrays of numbers, which broadcast.

    Returns:
      Inexact array, also for integers; inf or NaN for a division by zero.

    Examples:
      >>> jnp.divide(jnp.array([1, 3]), 2)
      Array([0.5, 1.5], dtype=float32)
    """
    return true_divide(x1, x2)


# Elementwise functions that are `jnp.ufunc` objects in public; _ufunc_objects.py wraps them.


def _select_by_dtype(number_function, bool_function):
    """Combines a function for numbers and one for bools."""

    def function(x, y):
        return bool_function(x, y) if x.dtype == np.bool_ else number_function(x, y)

    return function


add = _binary("add", lax.add_p, _select_by_dtype(lax.add, lax.bitwise_or), _NUMBERS, promote_args, describe(
    "Returns the sum x + y, or `or` of bools.", "jnp.array([1, 2]), 10", "Array([11, 12], dtype=int32)",
    result=f"{PROMOTED}; integers wrap", is_ufunc=True
), "x y")  # fmt: skip
multiply = _binary("multiply", lax.mul_p, _select_by_dtype(lax.mul, lax.bitwise_and), _NUMBERS, promote_args, describe(
    "Returns the product x * y, or `and` of bools.", "jnp.array([1, 2]), 10", "Array([10, 20], dtype=int32)",
    result=f"{PROMOTED}; integers wrap", is_ufunc=True
), "x y")  # fmt: skip
subtract = _binary("subtract", lax.sub_p, lax.sub, _NUMBERS, promote_args, describe(
    "Returns the difference x - y.", "jnp.array([1, 2]), 10", "Array([-9, -8], dtype=int32)",
    result=f"{PROMOTED}; integers wrap", raises="TypeError: the operands are of dtype bool", is_ufunc=True
), "x y")  # fmt: skip
maximum = _binary("maximum", lax.max_p, lax.max, _NUMBERS, promote_args, describe(
    "Returns the larger of x and y.", "jnp.array([1.0, jnp.nan]), 2.0", "Array([ 2., nan], dtype=float32)",
    result=f"{PROMOTED}; NaN where either is NaN", is_ufunc=True
), "x y")  # fmt: skip
minimum = _binary("minimum", lax.min_p, lax.min, _NUMBERS, promote_args, describe(
    "Returns the smaller of x and y.", "jnp.array([1.0, jnp.nan]), 2.0", "Array([ 1., nan], dtype=float32)",
    result=f"{PROMOTED}; NaN where either is NaN", is_ufunc=True
), "x y")  # fmt: skip
bitwise_and = _binary("bitwise_and", lax.and_p, lax.bitwise_and, _LOGICAL, promote_args, describe(
    "Returns the bits set in both x and y.", "jnp.array([5, 6]), 3", "Array([1, 2], dtype=int32)",
    operands="arrays of integers or bools", raises="TypeError: an operand is of another dtype", is_ufunc=True
), "x y")  # fmt: skip
bitwise_or = _binary("bitwise_or", lax.or_p, lax.bitwise_or, _LOGICAL, promote_args, describe(
    "Returns the bits set in x or y.", "jnp.array([5, 6]), 3", "Array([7, 7], dtype=int32)",
    operands="arrays of integers or bools", raises="TypeError: an operand is of another dtype", is_ufunc=True
), "x y")  # fmt: skip
bitwise_xor = _binary("bitwise_xor", lax.xor_p, lax.bitwise_xor, _LOGICAL, promote_args, describe(
    "Returns the bits set in one of x and y.", "jnp.array([5, 6]), 3", "Array([6, 5], dtype=int32)",
    operands="arrays of integers or bools", raises="TypeError: an operand is of another dtype", is_ufunc=True
), "x y")  # fmt: skip


def as_bool(x):
    """x as bool: whether each element differs from zero."""
    return x if x.dtype == np.bool_ else lax.ne(x, constant_like(x, 0))


def _logical(name, function, doc) -> Callable[[ArrayLike, ArrayLike], Array]:
    """A function of two arrays read as truth values."""

    def ufunc(x1, x2, /):
        return function(*map(as_bool, promote_args(name, x1, x2)))

    return _set_signature(ufunc, name, "x y", doc)


logical_and = _logical("logical_and", lax.bitwise_and, describe(
    "Returns whether both x and y are nonzero.", "jnp.array([0, 1]), jnp.array([1, 1])",
    "Array([False,  True], dtype=bool)", operands="arrays of any dtypes", result=BOOL, is_ufunc=True
))  # fmt: skip
logical_or = _logical("logical_or", lax.bitwise_or, describe(
    "Returns whether x or y is nonzero.", "jnp.array([0, 1]), jnp.array([0, 1])",
    "Array([False,  True], dtype=bool)", operands="arrays of any dtypes", result=BOOL, is_ufunc=True
))  # fmt: skip
logical_xor = _logical("logical_xor", lax.bitwise_xor, describe(
    "Returns whether exactly one of x and y is nonzero.", "jnp.array([0, 1]), jnp.array([1, 1])",
    "Array([ True, False], dtype=bool)", operands="arrays of any dtypes", result=BOOL, is_ufunc=True
))  # fmt: skip


@static_argnames()
def logical_not(x: ArrayLike, /) -> Array:
    """Returns whether elements are zero.

    Args:
      x: array of any dtype.

    Returns:
      bool array of the shape of `x`.

    Examples:
      >>> jnp.logical_not(jnp.array([0, 2]))
      Array([ True, False], dtype=bool)
    """
    return lax.bitwise_not(as_bool(ensure_arraylike("logical_not", x)))
