"""Elementwise primitives, each defined by one row: name, kernel for each kind of dtype, tangent rule, docstring.

A tangent rule takes the tangent g, the result y and the operand x.  It binds the same operations in the same order as
JAX's rule, so that printed gradient programs agree.
"""

import enum
import operator

import numpy as np

from onax._core.facts import ELEMENTWISE, LINEAR, MAKES_NAN
from onax._core.rules import (
    add_any_p,
    add_tangents,
    defbilinear,
    defjvp,
    defjvp_zero,
    deflinear,
    tangent_zero,
)
from onax._core.trace import typeof
from onax._core.zeros import Zero, is_undefined_primal
from onax._ground import dims as dimensions
from onax._ground import dtypes
from onax._ground.typing import ArrayLike, DTypeLike, Result
from onax._native.array import Array
from onax._native.avals import ShapedArray
from onax._native.dispatch import Primitive
from onax._native.tree import tree_map
from onax._prims import elementwise_complex as on_complex
from onax._prims import elementwise_kernels as kernels
from onax._prims._batch_rules import defvectorized
from onax._prims.convert import convert
from onax._prims.creation import full_like, instantiate_zeros, zeros_like_aval
from onax._prims.elementwise_kernels import by_kind
from onax._prims.elementwise_rows import (
    binary,
    check_dtype,
    check_same_dtypes,
    const,
    make_unary,
    to_bool,
    to_real,
    unary,
)
from onax._prims.shaping import bdim_at_front, broadcast_bdim, broadcast_in_dim, moveaxis, reduce_sum, reshape, shape_of

# ---- trigonometric and hyperbolic ----

sin, sin_p = unary(
    "sin", by_kind(floating=np.sin, complexfloating=np.sin), lambda g, y, x: mul(g, cos(x)), accuracy=True,
    doc="Returns the sine of x, in radians. | 0.5 -> 0.4794",
)  # fmt: skip
cos, cos_p = unary(
    "cos", by_kind(floating=np.cos, complexfloating=np.cos), lambda g, y, x: neg(mul(g, sin(x))), accuracy=True,
    doc="Returns the cosine of x, in radians. | 0.5 -> 0.8776",
)  # fmt: skip
tan, tan_p = unary(
    "tan", by_kind(floating=np.tan, complexfloating=np.tan),
    lambda g, y, x: mul(g, add(const(x, 1), square(y))), accuracy=True,
    doc="Returns the tangent of x, in radians. | 0.5 -> 0.5463",
)  # fmt: skip
asin, asin_p = unary(
    "asin", by_kind(floating=np.arcsin, complexfloating=on_complex.drop_zero_sign(np.arcsin, "imag")),
    lambda g, y, x: mul(g, rsqrt(sub(const(x, 1), square(x)))),
    doc="Returns the angle in [-pi/2, pi/2] radians whose sine is x; NaN outside [-1, 1]. | 0.5 -> 0.5236",
)  # fmt: skip
acos, acos_p = unary(
    "acos", by_kind(floating=np.arccos, complexfloating=on_complex.drop_zero_signs(np.arccos)),
    lambda g, y, x: mul(g, neg(rsqrt(sub(const(x, 1), square(x))))),
    doc="Returns the angle in [0, pi] radians whose cosine is x; NaN outside [-1, 1]. | 0.5 -> 1.0472",
)  # fmt: skip
atan, atan_p = unary(
    "atan", by_kind(floating=np.arctan, complexfloating=np.arctan),
    lambda g, y, x: div(g, add(const(x, 1), square(x))),
    doc="Returns the angle in [-pi/2, pi/2] radians whose tangent is x. | 0.5 -> 0.4636",
)  # fmt: skip
sinh, sinh_p = unary(
    "sinh", by_kind(floating=np.sinh, complexfloating=np.sinh), lambda g, y, x: mul(g, cosh(x)),
    doc="Returns the hyperbolic sine of x. | 0.5 -> 0.5211",
)  # fmt: skip
cosh, cosh_p = unary(
    "cosh", by_kind(floating=np.cosh, complexfloating=np.cosh), lambda g, y, x: mul(g, sinh(x)),
    doc="Returns the hyperbolic cosine of x. | 0.5 -> 1.1276",
)  # fmt: skip
tanh, tanh_p = unary(
    "tanh", by_kind(floating=np.tanh, complexfloating=np.tanh),
    lambda g, y, x: mul(add(g, mul(g, y)), sub(const(x, 1), y)), accuracy=True,
    doc="Returns the hyperbolic tangent of x. | 0.5 -> 0.4621",
)  # fmt: skip
asinh, asinh_p = unary(
    "asinh", by_kind(floating=np.arcsinh, complexfloating=on_complex.drop_zero_sign(np.arcsinh, "real")),
    lambda g, y, x: mul(g, rsqrt(add(square(x), const(x, 1)))),
    doc="Returns the number whose hyperbolic sine is x. | 0.5 -> 0.4812",
)  # fmt: skip
acosh, acosh_p = unary(
    "acosh", by_kind(floating=np.arccosh, complexfloating=on_complex.drop_zero_signs(np.arccosh)),
    lambda g, y, x: mul(g, rsqrt(sub(square(x), const(x, 1)))),
    doc="Returns the number whose hyperbolic cosine is x; NaN below 1. | 2.0 -> 1.317",
)  # fmt: skip
atanh, atanh_p = unary(
    "atanh", by_kind(floating=np.arctanh, complexfloating=np.arctanh),
    lambda g, y, x: mul(reciprocal(add(const(x, 1), x)), div(g, sub(const(x, 1), x))),
    doc="Returns the number whose hyperbolic tangent is x; NaN outside [-1, 1]. | 0.5 -> 0.5493",
)  # fmt: skip

# ---- exponential, logarithms, powers ----

exp, exp_p = unary(
    "exp", by_kind(floating=np.exp, complexfloating=np.exp), lambda g, y, x: mul(g, y), accuracy=True,
    doc="Returns e to the power x. | 1.0 -> 2.7183",
)  # fmt: skip
exp2, exp2_p = unary(
    "exp2", by_kind(floating=np.exp2, complexfloating=kernels.exp2_complex),
    lambda g, y, x: mul(log(const(x, 2)), mul(g, y)), accuracy=True,
    makes_nan=False, doc="Returns 2 to the power x. | 3.0 -> 8.0",
)  # fmt: skip
expm1, expm1_p = unary(
    "expm1", by_kind(floating=np.expm1, complexfloating=on_complex.expm1), lambda g, y, x: mul(g, add(y, const(y, 1))),
    accuracy=True, doc="Returns exp(x) - 1, accurate near 0. | 0.5 -> 0.6487",
)  # fmt: skip
log, log_p = unary(
    "log", by_kind(floating=np.log, complexfloating=np.log), lambda g, y, x: div(g, x), accuracy=True,
    doc="Returns the natural logarithm of x; NaN below 0. | 2.0 -> 0.6931",
)  # fmt: skip
log1p, log1p_p = unary(
    "log1p", by_kind(floating=np.log1p, complexfloating=on_complex.log1p), lambda g, y, x: div(g, add(x, const(x, 1))),
    accuracy=True, doc="Returns log(1 + x), accurate near 0. | 0.5 -> 0.4055",
)  # fmt: skip
logistic, logistic_p = unary(
    "logistic", by_kind(floating=kernels.logistic, complexfloating=on_complex.logistic),
    lambda g, y, x: mul(g, mul(y, sub(const(y, 1), y))), accuracy=True,
    doc="Returns the logistic function 1 / (1 + exp(-x)). | 1.0 -> 0.7311",
)  # fmt: skip
sqrt, sqrt_p = unary(
    "sqrt", by_kind(floating=np.sqrt, complexfloating=on_complex.drop_zero_signs(np.sqrt)),
    lambda g, y, x: mul(g, div(const(x, 0.5), y)),
    accuracy=True, doc="Returns the square root of x; NaN below 0. | 9.0 -> 3.0",
)  # fmt: skip
rsqrt, rsqrt_p = unary(
    "rsqrt", by_kind(floating=kernels.rsqrt, complexfloating=on_complex.rsqrt),
    lambda g, y, x: mul(g, mul(const(x, -0.5), div(y, x))), accuracy=True,
    doc="Returns one over the square root of x. | 4.0 -> 0.5",
)  # fmt: skip
cbrt, cbrt_p = unary(
    "cbrt", by_kind(floating=np.cbrt),
    lambda g, y, x: mul(g, mul(const(x, 1 / 3), integer_pow(y, -2))), accuracy=True,
    doc="Returns the cube root of x, negative for negative x. | 27.0 -> 3.0",
)  # fmt: skip
square, square_p = unary(
    "square", by_kind(integer=np.square, floating=np.square, complexfloating=on_complex.square),
    lambda g, y, x: mul(g, mul(const(x, 2), x)),
    makes_nan=False, doc="Returns x times itself. | 3.0 -> 9.0",
)  # fmt: skip

# ---- sign, parts, rounding ----


def _abs_tangent(g, y, x):
    if dtypes.is_complex(x.dtype):
        turned, size = conj(x), convert(y, x.dtype)
        safe = select(eq(size, const(size, 0)), full_like(size, 1), size)
        return real(mul(g, div(turned, safe)))
    return select(ge(x, const(x, 0)), g, neg(g))


abs, abs_p = unary(
    "abs", by_kind(floating=np.absolute, complexfloating=on_complex.abs, signedinteger=np.absolute), _abs_tangent,
    result=to_real, makes_nan=False,
    doc="Returns the absolute value of x, real for complex x; the lowest integer is its own. | -3.0 -> 3.0",
)  # fmt: skip
neg, neg_p = unary(
    "neg", by_kind(integer=np.negative, floating=np.negative, complexfloating=np.negative),
    lambda g, y, x: neg(g), facts=frozenset({LINEAR}), makes_nan=False,
    doc="Returns x with its sign changed; unsigned integers wrap. | 3.0 -> -3.0",
)  # fmt: skip
deflinear(neg_p, lambda ct, x: [neg(ct)])

_sign = by_kind(integer=np.sign, floating=kernels.sign_float, complexfloating=on_complex.sign)
sign, sign_p = unary(
    "sign", _sign,
    doc="Returns -1, 0 or 1 by the sign of x, zeros keeping theirs; x / abs(x) for complex x. | -3.0 -> -1.0",
)  # fmt: skip
floor, floor_p = unary("floor", by_kind(floating=np.floor), doc="Returns the largest integer not above x. | 1.7 -> 1.0")
ceil, ceil_p = unary("ceil", by_kind(floating=np.ceil), doc="Returns the smallest integer not below x. | 1.2 -> 2.0")
is_finite, is_finite_p = unary(
    "is_finite",
    by_kind(floating=np.isfinite),
    result=to_bool,
    doc="Returns whether x is neither infinite nor NaN. | 1.0 -> True",
)


class RoundingMethod(enum.IntEnum):
    """What `round` does with halves."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


round_p = make_unary("round", by_kind(floating=kernels.round_float))


def round(x: ArrayLike, rounding_method: RoundingMethod = RoundingMethod.AWAY_FROM_ZERO) -> Array:
    """Returns the nearest whole number of each element.

    Differs from NumPy in halves, which go away from zero unless asked otherwise.

    Args:
      x: array of floats.
      rounding_method: a `lax.RoundingMethod`: AWAY_FROM_ZERO (default) or TO_NEAREST_EVEN, for halves.

    Returns:
      Array like `x`.

    Raises:
      TypeError: the dtype is another one.
      ValueError: the method is unknown.

    Examples:
      >>> lax.round(jnp.array([0.5, 1.5, -2.5]))
      Array([ 1.,  2., -3.], dtype=float32)
    """
    return round_p.bind(x, rounding_method=RoundingMethod(rounding_method))


def _to_complex(dtype):
    return dtypes.to_complex_dtype(dtype)


conj_p = make_unary(
    "conj",
    by_kind(float32=kernels.conj, complexfloating=kernels.conj, float64=kernels.conj),
    result=_to_complex,
    facts=frozenset({LINEAR}),
)
deflinear(
    conj_p,
    lambda ct, x, *, input_dtype: [conj(ct) if dtypes.is_complex(np.dtype(input_dtype)) else real(ct)],
)


def conj(x: ArrayLike) -> Array:
    """Returns the complex conjugate of each element.

    Args:
      x: array of floating or complex dtype; a real one (float32, float64) becomes complex.

    Returns:
      Array of complex dtype and the shape of `x`.

    Raises:
      TypeError: the dtype is another one.

    Examples:
      >>> lax.conj(jnp.array([1 + 2j]))
      Array([1.-2.j], dtype=complex64)
    """
    return conj_p.bind(x, input_dtype=typeof(x).dtype)


real, real_p = unary(
    "real", by_kind(complexfloating=lambda x: x.real.copy()), lambda g, y, x: real(g), result=to_real,
    facts=frozenset({LINEAR}), makes_nan=False, doc="Returns the real part of x. | 1 + 2j -> 1.0",
)  # fmt: skip
imag, imag_p = unary(
    "imag", by_kind(complexfloating=lambda x: x.imag.copy()), lambda g, y, x: imag(g), result=to_real,
    facts=frozenset({LINEAR}), makes_nan=False, doc="Returns the imaginary part of x. | 1 + 2j -> 2.0",
)  # fmt: skip
deflinear(real_p, lambda ct, x: [complex(ct, np.zeros((), dtypes.dtype(ct)))])
deflinear(imag_p, lambda ct, x: [complex(full_like(ct, 0), neg(ct))])

# ---- arithmetic ----


def unbroadcast(x, ct):
    """Sums a cotangent of the result to the shape of the operand x, which was broadcast."""
    shape = x.aval.shape
    out = shape_of(ct)
    if shape == out:
        return ct
    if not shape:
        return reduce_sum(ct, tuple(range(len(out))))
    axes = tuple(i for i, (a, b) in enumerate(zip(shape, out)) if not dimensions.equal(a, b))
    return reshape(reduce_sum(ct, axes), shape)


def broadcast_tangent(x, shape):
    """Broadcasts a tangent to the shape of the result; axes of length 1 are squeezed first, as in JAX's programs."""
    x_shape = shape_of(x)
    if x_shape == shape:
        return x
    equal_axes = tuple(i for i, (a, b) in enumerate(zip(x_shape, shape)) if dimensions.equal(a, b))
    return broadcast_in_dim(reshape(x, tuple(x_shape[i] for i in equal_axes)), shape, equal_axes)


def _def_sum_rules(p, second):
    """Sets jvp and transpose of x + second(y), where `second` is neg or the identity."""

    def jvp(primals, tangents):
        x_dot, y_dot = tangents
        out = p.bind(*primals)
        if type(x_dot) is not Zero and type(y_dot) is not Zero:
            return out, p.bind(x_dot, y_dot)
        if type(x_dot) is Zero and type(y_dot) is Zero:
            return out, tangent_zero(out)
        part = x_dot if type(y_dot) is Zero else second(y_dot)
        return out, broadcast_tangent(part, shape_of(out))

    def transpose(ct, x, y):
        if type(ct) is Zero:
            return [Zero(v.aval) if is_undefined_primal(v) else None for v in (x, y)]
        return [
            unbroadcast(x, ct) if is_undefined_primal(x) else None,
            unbroadcast(y, second(ct)) if is_undefined_primal(y) else None,
        ]

    p.jvp, p.transpose = jvp, transpose


_NUMBER_KINDS = ("integer", "floating", "complexfloating")


def _number_kernel(ufunc):
    return by_kind(**dict.fromkeys(_NUMBER_KINDS, ufunc))


add, add_p = binary(
    "add", _number_kernel(np.add), numpy_name="add", makes_nan=True, facts=frozenset({LINEAR}),
    doc="Returns the sum of x and y; integers wrap. | 2.0, 3.0 -> 5.0",
)  # fmt: skip
_def_sum_rules(add_p, lambda y: y)
sub, sub_p = binary(
    "sub", _number_kernel(np.subtract), numpy_name="subtract", makes_nan=True, facts=frozenset({LINEAR}),
    doc="Returns x minus y; integers wrap. | 2.0, 3.0 -> -1.0",
)  # fmt: skip
_def_sum_rules(sub_p, neg)
_, mul_p = binary(
    "mul", _number_kernel(np.multiply), numpy_name="multiply", makes_nan=True, doc="The product.",
)  # fmt: skip
defbilinear(
    mul_p,
    lhs=lambda ct, x, y: unbroadcast(x, mul(ct, y)),
    rhs=lambda ct, x, y: unbroadcast(y, mul(x, ct)),
)


def mul(x: ArrayLike, y: ArrayLike, *, out_dtype: DTypeLike | None = None) -> Array:
    """Returns the product of two arrays, element by element.

    Unlike in NumPy nothing is promoted.

    Args:
      x: array of integer, floating or complex dtype; integers wrap.
      y: array of the same dtype, and of the same shape but for axes of length 1; either may be a scalar.
      out_dtype: the dtype to which both are converted first; default: their own.

    Returns:
      Array.

    Raises:
      TypeError: dtypes or shapes do not fit.

    Examples:
      >>> lax.mul(jnp.array([1, 2]), jnp.array([3, 4]))
      Array([3, 8], dtype=int32)
    """
    if out_dtype is not None:
        out_dtype = dtypes.canonicalize_dtype(out_dtype)
        x, y = convert(x, out_dtype), convert(y, out_dtype)
    return mul_p.bind(x, y)


div, div_p = binary(
    "div",
    kernels.division(np.true_divide, kernels.divide_signed, kernels.divide_unsigned, complexfloating=on_complex.divide),
    lambda g, z, x, y: div(g, y),
    lambda g, z, x, y: mul(mul(neg(g), x), integer_pow(y, -2)),
    numpy_name="divide",
    doc="Returns x over y; integers truncate toward zero, and over 0 give -1 (unsigned: the largest). | 7, 2 -> 3",
)


def _div_transpose(ct, x, y):
    if is_undefined_primal(y):
        raise TypeError("div is linear in its first operand only")
    return [Zero(x.aval) if type(ct) is Zero else unbroadcast(x, div(ct, y)), None]


div_p.transpose = _div_transpose


def _truncated_quotient(x, y):
    return mul(sign(div(x, y)), floor(abs(div(x, y))))


rem, rem_p = binary(
    "rem",
    kernels.division(np.fmod, kernels.remainder_integer, kernels.remainder_integer),
    lambda g, z, x, y: broadcast_tangent(g, shape_of(z)),
    lambda g, z, x, y: mul(neg(g), _truncated_quotient(x, y)),
    doc="Returns the remainder of x over y, with x's sign (unlike NumPy's); over an integer 0 it is x. | -7, 3 -> -1",
)


def _tangent_share(z, x, y):
    """The factor of x's tangent: 1 where x is the result, 0 where it is not, 1/2 where both are equal."""
    chosen = select(eq(x, z), full_like(z, 1), full_like(z, 0))
    return div(chosen, select(eq(y, z), full_like(z, 2), full_like(z, 1)))


_MAX_KINDS = ("integer", "floating", "complexfloating", "bool")
max, max_p = binary(
    "max", by_kind(**dict.fromkeys(_MAX_KINDS, np.maximum) | {"complexfloating": on_complex.maximum}),
    lambda g, z, x, y: mul(g, _tangent_share(z, x, y)), lambda g, z, x, y: mul(g, _tangent_share(z, y, x)),
    numpy_name="maximum", makes_nan=False,
    doc="Returns the larger of x and y, NaN if either is; complex ones go by real, then imaginary part. | 2, 3 -> 3",
)  # fmt: skip
min, min_p = binary(
    "min", by_kind(**dict.fromkeys(_MAX_KINDS, np.minimum) | {"complexfloating": on_complex.minimum}),
    lambda g, z, x, y: mul(g, _tangent_share(z, x, y)), lambda g, z, x, y: mul(g, _tangent_share(z, y, x)),
    numpy_name="minimum", makes_nan=False,
    doc="Returns the smaller of x and y, NaN if either is; complex ones go by real, then imaginary part. | 2, 3 -> 2",
)  # fmt: skip


atan2, atan2_p = binary(
    "atan2",
    by_kind(floating=np.arctan2, complexfloating=kernels.atan2_complex),
    lambda g, z, x, y: mul(g, div(y, add(square(x), square(y)))),
    lambda g, z, x, y: mul(g, div(neg(x), add(square(x), square(y)))),
    numpy_name="arctan2",
    doc="Returns the angle in [-pi, pi] radians of the point with ordinate x and abscissa y. | 1.0, -1.0 -> 2.3562",
)
_, nextafter_p = binary("nextafter", by_kind(floating=np.nextafter), numpy_name="nextafter", doc="Next float.")
nextafter_p.jvp = None  # as in JAX: differentiating it is an error, not zero


def nextafter(x1: ArrayLike, x2: ArrayLike) -> Array:
    """Returns the float next to x1 in the direction of x2; x2 itself where they are equal.

    Args:
      x1: array of floats.
      x2: array of the same dtype, and of the same shape but for axes of length 1; either may be a scalar.

    Returns:
      Array.

    Raises:
      TypeError: dtypes or shapes do not fit.

    Examples:
      >>> float(lax.nextafter(np.float32(1), np.float32(2)) - 1)
      1.1920928955078125e-07
    """
    return nextafter_p.bind(x1, x2)


complex, complex_p = binary(
    "complex", by_kind(float32=kernels.make_complex, float64=kernels.make_complex), result=_to_complex,
    facts=frozenset({LINEAR}),
    doc="Returns the complex numbers with real part x and imaginary part y. | 1.0, 2.0 -> (1+2j)",
)  # fmt: skip


def _complex_jvp(primals, tangents):
    out = complex_p.bind(*primals)
    if all(type(t) is Zero for t in tangents):
        return out, tangent_zero(out)
    return out, complex_p.bind(*map(instantiate_zeros, tangents))


def _complex_transpose(ct, x, y):
    if type(ct) is Zero:
        return [Zero(v.aval) if is_undefined_primal(v) else None for v in (x, y)]
    return [
        unbroadcast(x, real(ct)) if is_undefined_primal(x) else None,
        unbroadcast(y, imag(neg(ct))) if is_undefined_primal(y) else None,
    ]


complex_p.jvp, complex_p.transpose = _complex_jvp, _complex_transpose

# ---- powers ----

_integer_pow_kernel = by_kind(**dict.fromkeys(_NUMBER_KINDS, kernels.integer_pow))


def _integer_pow_abstract(x, *, y):
    check_dtype("integer_pow", _integer_pow_kernel, x.dtype)
    if y < 0 and not dtypes.is_inexact(x.dtype):
        raise TypeError(f"Integers cannot be raised to negative powers, got integer_pow({x}, {y})")
    return ShapedArray(x.shape, x.dtype, x.weak_type)


def _integer_pow_tangent(g, z, x, *, y):
    if y == 0:
        return full_like(g, 0)
    return g if y == 1 else mul(g, mul(const(x, y), x if y == 2 else integer_pow(x, y - 1)))


integer_pow_p = Primitive(
    "integer_pow",
    kernel=_integer_pow_kernel.simplest(),
    abstract_eval=_integer_pow_abstract,
    facts=frozenset({ELEMENTWISE, MAKES_NAN}),
)
defjvp(integer_pow_p, _integer_pow_tangent)
defvectorized(integer_pow_p)


def integer_pow(x: ArrayLike, y: int) -> Array:
    """Returns each element to the power of a known integer.

    Args:
      x: array of integer, floating or complex dtype; integers wrap.
      y: an int, or a float without fraction.

    Returns:
      Array like `x`.

    Raises:
      TypeError: x is an array of integers and y is negative.

    Examples:
      >>> lax.integer_pow(jnp.array([2.0, -3.0]), 3)
      Array([  8., -27.], dtype=float32)
    """
    y = int(y) if isinstance(y, float) and y.is_integer() else operator.index(y)
    if y < 0 and not (isinstance(x, Array) and dtypes.is_inexact(x.dtype)):
        _integer_pow_abstract(typeof(x), y=y)
    return integer_pow_p.bind(x, y=y)


def reciprocal(x: ArrayLike) -> Array:
    """Returns 1 / x, element by element.

    Args:
      x: array of floating or complex dtype.

    Returns:
      Array like `x`.

    Raises:
      TypeError: the dtype is another one.

    Examples:
      >>> lax.reciprocal(jnp.array([2.0, 4.0]))
      Array([0.5 , 0.25], dtype=float32)
    """
    return integer_pow(x, -1)


# ---- comparisons ----


def _order_kernel(ufunc):
    return by_kind(integer=ufunc, floating=ufunc, bool=ufunc)


eq, eq_p = binary(
    "eq", kernels.accept_keys(by_kind(**dict.fromkeys(_MAX_KINDS, np.equal)), operator.eq),
    result=to_bool, numpy_name="equal", doc="Returns whether x equals y; false if either is NaN. | 1, 2 -> False",
)  # fmt: skip
ne, ne_p = binary(
    "ne", kernels.accept_keys(by_kind(**dict.fromkeys(_MAX_KINDS, np.not_equal)), operator.ne),
    result=to_bool, numpy_name="not_equal",
    doc="Returns whether x differs from y; true if either is NaN. | 1, 2 -> True",
)  # fmt: skip
lt, lt_p = binary("lt", _order_kernel(np.less), result=to_bool, doc="Returns whether x is less than y. | 1, 2 -> True")
le, le_p = binary(
    "le", _order_kernel(np.less_equal), result=to_bool, doc="Returns whether x is at most y. | 1, 2 -> True"
)
gt, gt_p = binary(
    "gt", _order_kernel(np.greater), result=to_bool, doc="Returns whether x is greater than y. | 1, 2 -> False"
)
ge, ge_p = binary(
    "ge", _order_kernel(np.greater_equal), result=to_bool, doc="Returns whether x is at least y. | 1, 2 -> False"
)

# ---- select_n ----


def _select_abstract(which, *cases):
    if not cases:
        raise ValueError("select_n() must have at least one case")
    check_same_dtypes("select", cases, "where")
    shapes = [c.shape for c in cases]
    if not all(dimensions.equal_shapes(s, shapes[0]) for s in shapes):
        raise TypeError(f"select cases must have the same shapes, got [{', '.join(map(str, shapes))}].")
    if which.shape and not dimensions.equal_shapes(which.shape, shapes[0]):
        raise TypeError(
            "select `which` must be scalar or have the same shape as cases, got `which` shape "
            f"{which.shape} but case shape {shapes[0]}."
        )
    if dtypes.is_extended(which.dtype) or not (which.dtype.kind == "b" or dtypes.is_integer(which.dtype)):
        raise TypeError(f"select `which` must be boolean or integer type, got {which.dtype}.")
    if which.dtype.kind == "b" and len(cases) > 2:
        raise TypeError("select with boolean `which` cannot have > 2 cases.")
    return ShapedArray(shapes[0], cases[0].dtype, all(c.weak_type for c in cases))


def _select_jvp(primals, tangents):
    which, *cases = primals
    out = select_n_p.bind(which, *cases)
    tangents = tangents[1:]
    if all(type(t) is Zero for t in tangents):
        return out, tangent_zero(out)
    zeros = zeros_like_aval(next(t.aval if type(t) is Zero else typeof(t) for t in tangents))
    return out, select_n_p.bind(which, *(zeros if type(t) is Zero else t for t in tangents))


def _select_transpose(ct, which, *cases):
    if is_undefined_primal(which):
        raise TypeError("select_n is linear in its cases only")
    if type(ct) is Zero:
        return [None, *(Zero(c.aval) if is_undefined_primal(c) else None for c in cases)]
    zeros = full_like(ct, 0)
    if typeof(which).dtype.kind == "b":
        cts = [
            select_n_p.bind(which, *(ct if j == i else zeros for j in range(len(cases)))) if is_undefined_primal(c)
            else None
            for i, c in enumerate(cases)
        ]  # fmt: skip
    else:
        cts = [
            select_n_p.bind(eq(which, const(which, i)), zeros, ct) if is_undefined_primal(c) else None
            for i, c in enumerate(cases)
        ]
    return [None, *cts]


def _select_batch(axis_data, operands, dims):
    shapes, size = [shape_of(x) for x in operands], axis_data.size
    which, which_dim = operands[0], dims[0]
    scalar = which_dim is None and not shapes[0]
    rest_dims, rest_shapes = (dims[1:], shapes[1:]) if scalar else (dims, shapes)
    dim = rest_dims[0]
    if dim is not None and all(d == dim and s == rest_shapes[0] for d, s in zip(rest_dims, rest_shapes)):
        return select_n_p.bind(*operands), dim
    cases = [bdim_at_front(x, d, size) for x, d in zip(operands[1:], dims[1:])]
    if not scalar:
        which = broadcast_leading(bdim_at_front(which, which_dim, size), shape_of(cases[0]))
    return select_n_p.bind(which, *cases), 0


def broadcast_leading(x, shape):
    """Broadcasts x, whose axes are the leading ones, to the shape."""
    have = shape_of(x)
    return x if len(have) == len(shape) else broadcast_in_dim(x, shape, tuple(range(len(have))))


select_n_p = Primitive(
    "select_n",
    kernel=kernels.select_n,
    abstract_eval=_select_abstract,
    jvp=_select_jvp,
    transpose=_select_transpose,
    batch=_select_batch,
    weak=lambda flags, params: all(flags[1:]),
    facts=frozenset({ELEMENTWISE}),
)


def select_n(which: ArrayLike, *cases: ArrayLike) -> Array:
    """Returns for each element that of one of several arrays, which an index chooses.

    Args:
      which: array of bool (with two cases: False chooses the first) or of integers, a scalar or of the shape of the
        cases; an index out of range is clamped.
      *cases: arrays of one dtype and shape.

    Returns:
      Array like a case.

    Raises:
      TypeError: dtypes or shapes do not fit.
      ValueError: there are no cases.

    Examples:
      >>> lax.select_n(jnp.array([2, 0]), jnp.array([1, 2]), jnp.array([3, 4]), jnp.array([5, 6]))
      Array([5, 2], dtype=int32)
    """
    if not cases:
        raise ValueError("select_n() must have at least one case")
    return select_n_p.bind(which, *cases)


def select(pred: ArrayLike, on_true: ArrayLike, on_false: ArrayLike) -> Array:
    """Returns the elements of one array where a condition holds, and those of another where it does not.

    Unlike NumPy's `where` it neither broadcasts nor promotes.

    Args:
      pred: array of bool, a scalar or of the shape of the cases.
      on_true: array of any dtype.
      on_false: array of the same dtype and shape.

    Returns:
      Array like `on_true`.

    Raises:
      TypeError: dtypes or shapes do not fit.

    Examples:
      >>> lax.select(jnp.array([True, False]), jnp.array([1, 2]), jnp.array([3, 4]))
      Array([1, 4], dtype=int32)
    """
    return select_n_p.bind(pred, on_false, on_true)


# ---- add_any and stop_gradient ----


def _add_any_batch(axis_data, operands, dims):
    """Repeats an unmapped operand, because tangents that are added have equal types."""
    dim = dims[0] if dims[1] is None else dims[1]
    x, y = (
        broadcast_bdim(v, axis_data.size, dim) if d is None else v if d == dim else moveaxis(v, d, dim)
        for v, d in zip(operands, dims)
    )
    return add_any_p.bind(x, y), dim


add_any_p.batch = _add_any_batch
_def_sum_rules(add_any_p, lambda y: y)


def add_any(x, y):
    """The sum of two tangents or cotangents of one type."""
    return add_tangents(x, y)


stop_gradient_p = Primitive(
    "stop_gradient", kernel=lambda x: x, abstract_eval=lambda x: x, facts=frozenset({ELEMENTWISE})
)
defjvp_zero(stop_gradient_p)
defvectorized(stop_gradient_p)


def stop_gradient(x: Result) -> Result:
    """Returns its argument, which differentiation takes for a constant.

    Args:
      x: a tree of arrays.

    Returns:
      The tree.

    Examples:
      >>> onax.grad(lambda x: x * lax.stop_gradient(x))(3.0)
      Array(3., dtype=float32, weak_type=True)
    """
    return tree_map(stop_gradient_p.bind, x)
