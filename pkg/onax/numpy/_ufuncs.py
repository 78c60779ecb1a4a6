"""Elementwise functions that are one primitive after promotion: rows.

Each row: public name, the primitive's bind, the lax function for everything but the common case, the promotion
(`as_is`: checked only; `same`: common dtype; `inexact`: common floating dtype; `numeric`: bool becomes int), dtypes for
which two Arrays of one dtype go straight to the primitive, and the parameter names that `inspect.signature` shows.
"""

import numpy as np

from onax import lax
from onax._core.api_functions import static_argnames
from onax._ground import dtypes
from onax._native.array import ArrayImpl, make_array
from onax.numpy._promotion import (
    ensure_arraylike,
    promote_args,
    promote_args_inexact,
    promote_args_numeric,
    promote_dtypes_inexact,
    promote_dtypes_numeric,
    refuse_float0,
)

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
    function.__doc__ = doc
    function.static_argnames = ()  # JAX compiles it
    code = function.__code__
    count = code.co_argcount
    function.__code__ = code.replace(co_varnames=(*parameters.split(), *code.co_varnames[count:]), co_name=name)
    return function


def _unary(name, primitive, function, direct, promote, doc):
    """A function of one array; `promote` returns a list of one."""
    bind = primitive.bind

    def ufunc(x, /):
        if type(x) is ArrayImpl and x.dtype in direct:
            return bind(x)
        x = ensure_arraylike(name, x)
        refuse_float0(name, (x,))
        return function(*promote(x))

    return _set_signature(ufunc, name, "x", doc)


def _float(name, primitive, function, doc):
    """A function of one array, computed in floats or complex numbers."""
    return _unary(name, primitive, function, _INEXACT, promote_dtypes_inexact, doc)


def _binary(name, primitive, function, direct, promote, doc, parameters="x1 x2"):
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
            elif not x1.weak_type and (
                (type(x2) is float and dtype in floats) or (type(x2) is int and x2 in _SMALL and dtype in numbers)
            ):
                return bind(x1, dtype.type(x2))
        elif type(x2) is ArrayImpl and not x2.weak_type:
            dtype = x2.dtype
            if (type(x1) is float and dtype in floats) or (type(x1) is int and x1 in _SMALL and dtype in numbers):
                return bind(dtype.type(x1), x2)
        return function(*promote(name, x1, x2))

    return _set_signature(ufunc, name, parameters, doc)


def _wrap_in_tuple(x):
    return (x,)


# --- one array ----------------------------------------------------------------------------------------------------

sin = _float("sin", lax.sin_p, lax.sin, "Sine of x, in radians.  Integers give float32.")
cos = _float("cos", lax.cos_p, lax.cos, "Cosine of x, in radians.  Integers give float32.")
tan = _float("tan", lax.tan_p, lax.tan, "Tangent of x, in radians.  Integers give float32.")
exp = _float("exp", lax.exp_p, lax.exp, "e to the power x.")
exp2 = _float("exp2", lax.exp2_p, lax.exp2, "2 to the power x.")
expm1 = _float("expm1", lax.expm1_p, lax.expm1, "exp(x) - 1, exact for small x.")
log = _float("log", lax.log_p, lax.log, "Natural logarithm; nan for negative x, -inf for 0.")
log1p = _float("log1p", lax.log1p_p, lax.log1p, "log(1 + x), exact for small x.")
sqrt = _float("sqrt", lax.sqrt_p, lax.sqrt, "Square root; nan for negative x.")
tanh = _float("tanh", lax.tanh_p, lax.tanh, "Hyperbolic tangent.")
cbrt = _float("cbrt", lax.cbrt_p, lax.cbrt, "Real cube root.  Raises TypeError for complex x.")
sinh = _float("sinh", lax.sinh_p, lax.sinh, "Hyperbolic sine.")
cosh = _float("cosh", lax.cosh_p, lax.cosh, "Hyperbolic cosine.")
arcsin = _float("arcsin", lax.asin_p, lax.asin, "Inverse sine, in radians.")
arccos = _float("arccos", lax.acos_p, lax.acos, "Inverse cosine, in radians.")
arctan = _float("arctan", lax.atan_p, lax.atan, "Inverse tangent, in radians.")
arcsinh = _float("arcsinh", lax.asinh_p, lax.asinh, "Inverse hyperbolic sine.")
arctanh = _float("arctanh", lax.atanh_p, lax.atanh, "Inverse hyperbolic tangent.")
sign = _unary(
    "sign", lax.sign_p, lax.sign, _NUMBERS, _wrap_in_tuple, "-1, 0 or 1; x / abs(x) for complex x; nan for nan."
)
square = _unary("square", lax.square_p, lax.square, _NUMBERS, promote_dtypes_numeric, "x times x.")
negative = _unary("negative", lax.neg_p, lax.neg, _NUMBERS, _wrap_in_tuple, "-x.  Raises TypeError for bool.")
invert = _unary("invert", lax.not_p, lax.bitwise_not, _LOGICAL, _wrap_in_tuple, "Each bit flipped; `not` for bool.")
fabs = _unary(
    "fabs", lax.abs_p, lambda x: lax.abs(_refuse_complex("fabs", x)), _REAL & _INEXACT, promote_dtypes_inexact,
    "Absolute value as a float.  Raises TypeError for complex x.",
)  # fmt: skip


def _refuse_complex(name, x):
    if dtypes.is_complex(x.dtype):
        raise TypeError(f"ufunc '{name}' does not support complex dtypes")
    return x


@static_argnames()
def absolute(x, /):
    """Absolute value; the modulus (a real dtype) for complex x."""
    x = ensure_arraylike("absolute", x)
    dtype = x.dtype
    return x if dtype == np.bool_ or dtypes.is_unsigned(dtype) else lax.abs(x)


@static_argnames()
def floor(x, /):
    """Largest integral value not above x, in x's dtype; integers and bools are returned unchanged."""
    x = ensure_arraylike("floor", x)
    return x if x.dtype in _LOGICAL else lax.floor(*promote_dtypes_inexact(x))


@static_argnames()
def ceil(x, /):
    """Smallest integral value not below x, in x's dtype; integers and bools are returned unchanged."""
    x = ensure_arraylike("ceil", x)
    return x if x.dtype in _LOGICAL else lax.ceil(*promote_dtypes_inexact(x))


@static_argnames()
def positive(x, /):
    """x itself."""
    return ensure_arraylike("positive", x)


@static_argnames()
def log10(x, /):
    """Logarithm to base 10."""
    logarithm = lax.log(*promote_args_inexact("log10", x))
    scale = dtypes.real_dtype(logarithm.dtype).type(1 / np.log(10))
    if not dtypes.is_complex(logarithm.dtype):
        return lax.mul(logarithm, scale)
    re, im = lax.real(logarithm), lax.imag(logarithm)
    return lax.complex(lax.mul(re, scale), lax.mul(im, scale))


@static_argnames()
def log2(x, /):
    """Logarithm to base 2."""
    logarithm = lax.log(*promote_args_inexact("log2", x))
    if not dtypes.is_complex(logarithm.dtype):
        return lax.div(logarithm, lax.log(logarithm.dtype.type(2)))
    re, im = lax.real(logarithm), lax.imag(logarithm)
    two = lax.log(re.dtype.type(2))
    return lax.complex(lax.div(re, two), lax.div(im, two))


def scalar_like(like, value):
    """value as a scalar of the other's dtype and weak type: a Python number in arithmetic with it."""
    value = like.dtype.type(value)
    return make_array(np.asarray(value), weak_type=True) if like.weak_type else value


def constant_like(like, value):
    """value as a scalar of the other's dtype, weakly typed beside a weak scalar but not beside a larger weak array.

    So JAX types the constants of most formulas; where a weak scalar's result is not weak, the constant has a dtype.
    """
    return scalar_like(like, value) if not like.shape else like.dtype.type(value)


@static_argnames()
def deg2rad(x, /):
    """Degrees to radians."""
    (x,) = promote_args_inexact("deg2rad", x)
    return lax.mul(x, constant_like(x, np.pi / 180))


@static_argnames()
def rad2deg(x, /):
    """Radians to degrees."""
    (x,) = promote_args_inexact("rad2deg", x)
    return lax.mul(x, constant_like(x, 180 / np.pi))


@static_argnames()
def reciprocal(x, /):
    """1 / x as a float."""
    return lax.integer_pow(*promote_args_inexact("reciprocal", x), -1)


@static_argnames()
def conjugate(x, /):
    """The complex conjugate; real x is returned unchanged."""
    x = ensure_arraylike("conjugate", x)
    return lax.conj(x) if dtypes.is_complex(x.dtype) else x


def conj(x, /):
    """The complex conjugate; real x is returned unchanged."""
    return conjugate(x)


@static_argnames()
def real(val, /):
    """The real part; real x is returned unchanged."""
    val = ensure_arraylike("real", val)
    return lax.real(val) if dtypes.is_complex(val.dtype) else val


@static_argnames()
def imag(val, /):
    """The imaginary part; zeros for real x."""
    val = ensure_arraylike("imag", val)
    return lax.imag(val) if dtypes.is_complex(val.dtype) else lax.full_like(val, 0)


# --- two arrays ---------------------------------------------------------------------------------------------------

arctan2 = _binary(
    "arctan2", lax.atan2_p, lax.atan2, _INEXACT, promote_args_inexact, "Angle of the point (x2, x1), in radians."
)
true_divide = _binary(
    "true_divide", lax.div_p, lax.div, _INEXACT, promote_args_inexact,
    "x1 / x2 as floats; inf and nan for division by zero.",
)  # fmt: skip
nextafter = _binary(
    "nextafter", lax.nextafter_p, lax.nextafter, _REAL & _INEXACT, promote_args_inexact,
    "The float next to x in the direction of y.", "x y",
)  # fmt: skip
float_power = _binary(
    "float_power", lax.pow_p, lax.pow, _INEXACT, promote_args_inexact, "x to the power y as floats.", "x y"
)
equal = _binary("equal", lax.eq_p, lax.eq, dtypes.ALL_DTYPES, promote_args, "Whether x == y, elementwise.", "x y")
not_equal = _binary(
    "not_equal", lax.ne_p, lax.ne, dtypes.ALL_DTYPES, promote_args, "Whether x != y, elementwise.", "x y"
)
left_shift = _binary(
    "left_shift", lax.shift_left_p, lax.shift_left, _INTEGERS, promote_args_numeric,
    "The bits of x moved up by y positions; 0 when y is at least the width.", "x y",
)  # fmt: skip


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
less = _binary("less", lax.lt_p, _complex_order(lax.lt), _ORDERED, promote_args, "Whether x < y.", "x y")
less_equal = _binary(
    "less_equal", lax.le_p, _complex_order(lax.le), _ORDERED, promote_args, "Whether x <= y, elementwise.", "x y"
)
greater = _binary("greater", lax.gt_p, _complex_order(lax.gt), _ORDERED, promote_args, "Whether x > y.", "x y")
greater_equal = _binary(
    "greater_equal", lax.ge_p, _complex_order(lax.ge), _ORDERED, promote_args, "Whether x >= y, elementwise.", "x y"
)


@static_argnames()
def right_shift(x1, x2, /):
    """x1 with its bits shifted right by x2; signed integers keep their sign."""
    return _promote_and_shift_right("right_shift", x1, x2)


def _promote_and_shift_right(name, x1, x2):
    x1, x2 = promote_args_numeric(name, x1, x2)
    return (lax.shift_right_logical if dtypes.is_unsigned(x1.dtype) else lax.shift_right_arithmetic)(x1, x2)


@static_argnames()
def bitwise_right_shift(x1, x2, /):
    """x1 with its bits shifted right by x2; signed integers keep their sign."""
    return _promote_and_shift_right("bitwise_right_shift", x1, x2)


bitwise_left_shift = _binary(
    "bitwise_left_shift", lax.shift_left_p, lax.shift_left, _INTEGERS, promote_args_numeric,
    "The bits of x moved up by y positions; 0 when y is at least the width.", "x y",
)  # fmt: skip


def divide(x1, x2, /):
    """x1 / x2 as floats; inf and nan for division by zero."""
    return true_divide(x1, x2)


# Elementwise functions that are `jnp.ufunc` objects in public; _ufunc_objects.py wraps them.


def _select_by_dtype(number_function, bool_function):
    """Combines a function for numbers and one for bools."""

    def function(x, y):
        return bool_function(x, y) if x.dtype == np.bool_ else number_function(x, y)

    return function


add = _binary(
    "add", lax.add_p, _select_by_dtype(lax.add, lax.bitwise_or), _NUMBERS, promote_args, "x + y; `or` for bools.", "x y"
)
multiply = _binary(
    "multiply",
    lax.mul_p,
    _select_by_dtype(lax.mul, lax.bitwise_and),
    _NUMBERS,
    promote_args,
    "x * y; `and` for bools.",
    "x y",
)
subtract = _binary("subtract", lax.sub_p, lax.sub, _NUMBERS, promote_args, "x - y.  Raises TypeError for bools.", "x y")
maximum = _binary(
    "maximum", lax.max_p, lax.max, _NUMBERS, promote_args, "The larger of x and y; nan if either is.", "x y"
)
minimum = _binary(
    "minimum", lax.min_p, lax.min, _NUMBERS, promote_args, "The smaller of x and y; nan if either is.", "x y"
)
bitwise_and = _binary("bitwise_and", lax.and_p, lax.bitwise_and, _LOGICAL, promote_args, "x & y.", "x y")
bitwise_or = _binary("bitwise_or", lax.or_p, lax.bitwise_or, _LOGICAL, promote_args, "x | y.", "x y")
bitwise_xor = _binary("bitwise_xor", lax.xor_p, lax.bitwise_xor, _LOGICAL, promote_args, "x ^ y.", "x y")


def as_bool(x):
    """x as bool: whether each element differs from zero."""
    return x if x.dtype == np.bool_ else lax.ne(x, constant_like(x, 0))


def _logical(name, function, doc):
    """A function of two arrays read as truth values."""

    def ufunc(x1, x2, /):
        return function(*map(as_bool, promote_args(name, x1, x2)))

    return _set_signature(ufunc, name, "x y", doc)


logical_and = _logical("logical_and", lax.bitwise_and, "Whether both x and y are nonzero.")
logical_or = _logical("logical_or", lax.bitwise_or, "Whether x or y is nonzero.")
logical_xor = _logical("logical_xor", lax.bitwise_xor, "Whether exactly one of x and y is nonzero.")


@static_argnames()
def logical_not(x, /):
    """Whether x is zero."""
    return lax.bitwise_not(as_bool(ensure_arraylike("logical_not", x)))
