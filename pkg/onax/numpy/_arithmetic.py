"""Elementwise functions of several primitives; most are staged under their own name, as in JAX."""

from __future__ import annotations

import operator

import numpy as np

from onax import lax
from onax._control.custom_jvp import custom_jvp
from onax._control.jit_call import FEW, staged
from onax._ground import dtypes
from onax._ground.typing import ArrayLike
from onax._native.array import Array, ArrayImpl
from onax._native.tree import tree_leaves
from onax.numpy._creation import array
from onax.numpy._promotion import (
    check_arraylike,
    ensure_arraylike,
    ensure_arraylikes,
    promote_args,
    promote_args_inexact,
    promote_args_numeric,
    promote_dtypes_inexact,
    promote_shapes,
    refuse_float0,
    to_dtype,
)
from onax.numpy._ufuncs import constant_like, greater, less, maximum, minimum, rad2deg, scalar_like
from onax.numpy._where import where


def _refuse_complex(name, *args):
    if any(dtypes.is_complex(x.dtype) for x in args):
        raise TypeError(f"{name} does not support complex-valued inputs")


# --- division -----------------------------------------------------------------------------------------------------


@staged("floor_divide", compiled_from=FEW)
def floor_divide(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Returns the largest integral value not above x1 / x2.

    Unlike NumPy, integers divided by zero give -1 or -2, as in JAX, without a warning.

    Args:
      x1, x2: arrays of real numbers, which broadcast.

    Returns:
      Array of the promoted dtype.

    Examples:
      >>> jnp.floor_divide(jnp.array([7, -7]), 2)
      Array([ 3, -4], dtype=int32)
    """
    x1, x2 = promote_args_numeric("floor_divide", x1, x2)
    dtype = x1.dtype
    if dtypes.is_unsigned(dtype):
        return lax.div(x1, x2)
    if dtypes.is_integer(dtype):
        quotient = lax.div(x1, x2)
        select = lax.bitwise_and(lax.ne(lax.sign(x1), lax.sign(x2)), lax.ne(lax.rem(x1, x2), constant_like(x1, 0)))
        return where(select, lax.sub(quotient, scalar_like(x1, 1)), quotient)
    _refuse_complex("floor_divide", x1)
    return _round_quotient_down(x1, x2, lax.rem(x1, x2))


def _round_quotient_down(x1, x2, mod):
    """The quotient of floats, rounded down; `mod` is their `rem`.

    A quotient that is 0 has the sign of x1 / x2, as in NumPy, which x1 - mod does not tell.
    """
    zero, one = scalar_like(x1, 0), scalar_like(x1, 1)
    whole = where(lax.eq(x1, mod), lax.mul(x1, zero), lax.sub(x1, mod))
    div = lax.div(where(lax.eq(x2, zero), x1, whole), x2)
    differ = lax.bitwise_and(lax.ne(mod, zero), lax.ne(lax.sign(x2), lax.sign(mod)))
    return lax.round(lax.select(differ, lax.sub(div, one), div))


def _turn_remainder(mod, x2):
    """The remainder of floats with the sign of x2, zeros included, from their `rem`, which has that of the dividend.

    The remainder is turned to a positive divisor and back; a sum with 0 makes a zero positive and keeps the derivative.
    """
    zero = scalar_like(mod, 0)
    side = where(lax.lt(x2, constant_like(x2, 0)), scalar_like(x2, -1), scalar_like(x2, 1))
    mod = lax.mul(mod, side)
    mod = lax.select(lax.lt(mod, zero), lax.add(mod, lax.mul(x2, side)), lax.add(mod, zero))
    return lax.mul(mod, side)


def _replace_zero_divisors(x):
    """Replaces integer zeros of x by 1."""
    if not dtypes.is_integer(x.dtype):
        return x
    one = constant_like(x, 1)
    return where(lax.eq(x, constant_like(x, 0)), lax.full_like(x, one) if x.ndim else one, x)


@staged("remainder", compiled_from=FEW)
def remainder(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Returns the remainder x1 - floor(x1 / x2) * x2, with the sign of x2.

    Args:
      x1, x2: arrays of real numbers, which broadcast.

    Returns:
      Array of the promoted dtype; NaN for floats modulo 0, and 0 for integers.

    Examples:
      >>> jnp.remainder(jnp.array([7, -7]), 3)
      Array([1, 2], dtype=int32)
    """
    x1, x2 = promote_args_numeric("remainder", x1, x2)
    zero = constant_like(x1, 0)
    x2 = _replace_zero_divisors(x2)
    mod = lax.rem(x1, x2)
    if dtypes.is_inexact(x1.dtype):
        return _turn_remainder(mod, x2)
    nonzero = lax.ne(mod, zero)
    differ = lax.bitwise_and(lax.ne(lax.lt(mod, zero), lax.lt(x2, zero)), nonzero)
    return lax.select(differ, lax.add(mod, x2), mod)


def mod(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Alias of `remainder`. Returns the remainder x1 - floor(x1 / x2) * x2, with the sign of x2.

    Args:
      x1, x2: arrays of real numbers, which broadcast.

    Returns:
      Array of the promoted dtype; NaN for floats modulo 0, and 0 for integers.

    Examples:
      >>> jnp.mod(jnp.array([7, -7]), 3)
      Array([1, 2], dtype=int32)
    """
    return remainder(x1, x2)


@staged("fmod", compiled_from=None)
def fmod(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Returns the remainder of x1 / x2 with the sign of x1.

    Args:
      x1, x2: arrays of real numbers, which broadcast.

    Returns:
      Array of the promoted dtype; NaN for floats modulo 0, and 0 for integers.

    Examples:
      >>> jnp.fmod(jnp.array([7, -7]), 3)
      Array([ 1, -1], dtype=int32)
    """
    x1, x2 = check_arraylike("fmod", x1, x2)
    bools = dtypes.issubdtype(dtypes.result_type(x1, x2), np.bool_)
    x1, x2 = promote_args_numeric("fmod", x1, x2)
    return lax.rem(x1, x2 if bools else _replace_zero_divisors(x2))


@staged("divmod")
def divmod(x1: ArrayLike, x2: ArrayLike, /) -> tuple[Array, Array]:
    """Returns quotient and remainder: the pair of `floor_divide` and `remainder`.

    Args:
      x1, x2: arrays of real numbers, which broadcast.

    Returns:
      Pair of arrays of the promoted dtype.

    Examples:
      >>> jnp.divmod(jnp.array([7, -7]), 3)
      (Array([ 2, -3], dtype=int32), Array([1, 2], dtype=int32))
    """
    x1, x2 = promote_args_numeric("divmod", x1, x2)
    if dtypes.is_integer(x1.dtype):
        return floor_divide(x1, x2), remainder(x1, x2)
    mod = lax.rem(x1, x2)
    return _round_quotient_down(x1, x2, mod), _turn_remainder(mod, x2)


# --- powers -------------------------------------------------------------------------------------------------------


def power(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Returns x1 to the power x2.

    A Python integer as x2 is a static exponent, for which products are formed.  Integers wrap; 0 to a negative power
    gives 0 where x2 is an array.

    Args:
      x1, x2: arrays of numbers, which broadcast.

    Returns:
      Array of the promoted dtype.

    Raises:
      TypeError: x2 is a negative Python integer and x1 of an integer dtype.

    Examples:
      >>> jnp.power(jnp.array([1.0, 2.0, 3.0]), 2)
      Array([1., 4., 9.], dtype=float32)
    """
    x1, x2 = check_arraylike("power", x1, x2)
    refuse_float0("power", (x1, x2))
    exponent = _static_exponent(x2)
    if exponent is not None:
        base = ensure_arraylike("power", x1)
        if base.dtype == np.bool_:
            (base,) = promote_args_numeric("power", x1)
        return lax.integer_pow(base, exponent)
    dtype, weak_type = dtypes.result_type(x1, x2, return_weak_type_flag=True)
    dtype = dtypes.to_numeric_dtype(dtype)
    if dtypes.is_integer(dtype):
        return _integer_power(*promote_shapes("power", *(to_dtype(x, dtype, weak_type) for x in (x1, x2))))
    base, exponent = to_dtype(x1, dtype, weak_type), to_dtype(x2, dtype, weak_type)
    if isinstance(x2, (Array, np.ndarray, np.generic)) and dtypes.is_integer(dtypes.dtype(x2)):
        (exponent,) = ensure_arraylikes("power", x2)  # an integer exponent stays one: x ** 3 has a derivative at x < 0
    return lax.pow(*promote_shapes("power", base, exponent))


def _static_exponent(x):
    """The int value of a Python integer or a concrete 0-d integer array; None for anything else."""
    if isinstance(x, int):
        return int(x)
    if isinstance(x, (np.integer, np.ndarray, ArrayImpl)) and x.ndim == 0 and dtypes.is_integer(x.dtype):
        return int(x)
    return None


def pow(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Alias of `power`. Returns x1 to the power x2.

    Args:
      x1, x2: arrays of numbers, which broadcast.

    Returns:
      Array of the promoted dtype.

    Raises:
      TypeError: x2 is a negative Python integer and x1 of an integer dtype.

    Examples:
      >>> jnp.pow(jnp.array([1.0, 2.0, 3.0]), 2)
      Array([1., 4., 9.], dtype=float32)
    """
    return power(x1, x2)


def _integer_power(x, y):
    """Integer powers by repeated squaring.  Results wrap; as in JAX only the lowest six bits of y count."""
    zero, one = x.dtype.type(0), x.dtype.type(1)
    acc = where(lax.bitwise_and(lax.eq(x, zero), lax.ne(y, zero)), zero, one)
    for _ in range(6):
        acc = where(lax.bitwise_and(y, one), lax.mul(acc, x), acc)
        x, y = lax.mul(x, x), lax.shift_right_logical(y, one)
    return acc


@staged("hypot", compiled_from=FEW)
def hypot(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Returns sqrt(x1**2 + x2**2) without overflow in between.

    Args:
      x1, x2: arrays of real numbers, which broadcast.

    Returns:
      Floating array; inf where either operand is infinite.

    Raises:
      ValueError: an operand is complex.

    Examples:
      >>> jnp.hypot(jnp.array([3.0, 5.0]), jnp.array([4.0, 12.0]))
      Array([ 5., 13.], dtype=float32)
    """
    x1, x2 = promote_args_inexact("hypot", x1, x2)
    if dtypes.is_complex(x1.dtype):
        raise ValueError(
            "jnp.hypot is not well defined for complex-valued inputs. Please convert to real values first, such as by "
            "using abs(x)"
        )
    x1, x2 = lax.abs(x1), lax.abs(x2)
    inf, zero, one = (scalar_like(x1, v) for v in (np.inf, 0, 1))
    infinite = lax.bitwise_or(lax.eq(x1, inf), lax.eq(x2, inf))
    large, small = lax.max(x1, x2), lax.min(x1, x2)
    is_zero = lax.eq(large, zero)
    ratio = lax.div(small, where(lax.eq(large, zero), lax.full_like(large, 1), large))
    root = lax.mul(large, lax.sqrt(lax.add(one, lax.square(ratio))))
    return where(infinite, constant_like(root, np.inf), where(is_zero, large, root))


# --- logarithms of sums -------------------------------------------------------------------------------------------


def _wrap_angle(x, half):
    """Wraps the imaginary part into [-half, half)."""
    re, im = lax.real(x), lax.imag(x)
    half, full, zero = constant_like(re, half), constant_like(re, 2 * half), constant_like(re, 0)
    turned = lax.rem(lax.add(im, half), full)
    turned = lax.select(lax.lt(turned, zero), lax.add(turned, full), turned)
    return lax.complex(re, lax.sub(turned, half))


def _log_add_exp(x1, x2, exp, scale, half_turn):
    """log(base**x1 + base**x2) / log(base), relative to the larger operand; `scale` is 1 / log(base), None for 1."""
    larger = lax.max(x1, x2)

    def correction(delta):
        result = lax.log1p(exp(delta))
        return result if scale is None else lax.mul(constant_like(result, scale), result)

    if dtypes.is_complex(x1.dtype):
        delta = lax.sub(lax.add(x1, x2), lax.mul(larger, constant_like(larger, 2)))
        return _wrap_angle(lax.add(larger, correction(delta)), half_turn)
    delta = lax.sub(x1, x2)
    undefined = lax.ne(delta, delta)
    total = lax.add(x1, x2)  # nan, or inf of one sign: what the sum is too
    return lax.select(undefined, total, lax.add(larger, correction(lax.neg(lax.abs(delta)))))


def _replace_inf_by_zero(x):
    """Replaces +inf by 0, so that inf - inf counts as 0 below."""
    re = lax.real(x) if dtypes.is_complex(x.dtype) else x
    return lax.select(lax.eq(re, constant_like(re, np.inf)), lax.full_like(x, 0), x)


def _log_add_exp_jvp(function, exp, primals, tangents):
    """Each operand's tangent times base**(operand - result)."""
    (x1, x2), (t1, t2) = primals, tangents
    out = function(x1, x2)
    finite = _replace_inf_by_zero(out)
    parts = [lax.mul(t, exp(lax.sub(_replace_inf_by_zero(x), finite))) for x, t in ((x1, t1), (x2, t2))]
    return out, lax.add(*parts)


@custom_jvp
def logaddexp(x1, x2):
    """log(exp(x1) + exp(x2)), of promoted operands."""
    return _log_add_exp(x1, x2, lax.exp, None, np.pi)


@logaddexp.defjvp
def _logaddexp_jvp(primals, tangents):
    return _log_add_exp_jvp(logaddexp, lax.exp, primals, tangents)


@custom_jvp
def logaddexp2(x1, x2):
    """log2(2**x1 + 2**x2), of promoted operands."""
    return _log_add_exp(x1, x2, lax.exp2, 1 / np.log(2), np.pi / np.log(2))


@logaddexp2.defjvp
def _logaddexp2_jvp(primals, tangents):
    return _log_add_exp_jvp(logaddexp2, lax.exp2, primals, tangents)


# --- functions of one array ---------------------------------------------------------------------------------------


@staged("arccosh", compiled_from=None)
def arccosh(x: ArrayLike, /) -> Array:
    """Returns the inverse hyperbolic cosine.

    Args:
      x: array of numbers.

    Returns:
      Inexact array of the shape of `x`, whose real part is not negative; NaN for real x below 1.

    Examples:
      >>> jnp.arccosh(jnp.array([1.0, 0.5]))
      Array([ 0., nan], dtype=float32)
    """
    (x,) = promote_args_inexact("arccosh", x)
    out = lax.acosh(x)
    if dtypes.is_complex(out.dtype):
        re = lax.real(out)
        out = where(lax.lt(re, constant_like(re, 0)), lax.neg(out), out)
    return out


@staged("angle", ("deg",), compiled_from=None)
def angle(z: ArrayLike, deg: bool = False) -> Array:
    """Returns the argument of complex numbers.

    Args:
      z: array of numbers.
      deg: whether the result is in degrees instead of radians.

    Returns:
      Floating array of the shape of `z`, in (-pi, pi]; 0 or pi for real numbers.

    Examples:
      >>> jnp.round(jnp.angle(jnp.array([1j, -1.0]), deg=True), 3)
      Array([ 90., 180.], dtype=float32)
    """
    z = ensure_arraylike("angle", z)
    if dtypes.is_complex(z.dtype):
        re, im = lax.real(z), lax.imag(z)
    else:
        re, im = z, lax.full_like(z, 0)
    if not dtypes.is_inexact(re.dtype) or (not z.ndim and dtypes.is_float(z.dtype)):
        re, im = (lax.convert_element_type(x, dtypes.scalar_dtype(float)) for x in (re, im))
    out = lax.atan2(im, re)
    return rad2deg(out) if deg else out


@staged("copysign", compiled_from=FEW)
def copysign(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Returns the magnitude of x1 with the sign of x2.

    Args:
      x1, x2: arrays of real numbers, which broadcast.

    Returns:
      Floating array.

    Raises:
      TypeError: an operand is complex.

    Examples:
      >>> jnp.copysign(jnp.array([1.0, 2.0]), -1.0)
      Array([-1., -2.], dtype=float32)
    """
    x1, x2 = promote_args_inexact("copysign", x1, x2)
    _refuse_complex("copysign", x1)
    return where(signbit(x2), lax.neg(lax.abs(x1)), lax.abs(x1))


@staged("signbit")
def signbit(x: ArrayLike, /) -> Array:
    """Returns whether the sign bit is set.

    Args:
      x: array of real numbers.

    Returns:
      bool array of the shape of `x`: True for negative numbers, -0.0 and negative NaN.

    Raises:
      ValueError: `x` is complex.

    Examples:
      >>> jnp.signbit(jnp.array([-1.0, -0.0, 2.0]))
      Array([ True,  True, False], dtype=bool)
    """
    x = ensure_arraylike("signbit", x)
    dtype = x.dtype
    if dtype == np.bool_ or dtypes.is_unsigned(dtype):
        return lax.full_like(x, False, dtype=np.bool_)
    if dtypes.is_integer(dtype):
        return lax.lt(x, dtype.type(0))
    if dtypes.is_complex(dtype):
        raise ValueError(f"jax.numpy.signbit is not well defined for {dtype}")
    bits = dtypes.itemsize_bits(dtype)
    word = np.dtype(f"int{bits}")
    return lax.convert_element_type(
        lax.shift_right_arithmetic(lax.bitcast_convert_type(x, word), word.type(bits - 1)), np.bool_
    )


@staged("heaviside", compiled_from=FEW)
def heaviside(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Returns the step function of x1: 0 below zero, x2 at zero, and 1 above.

    Args:
      x1, x2: arrays of real numbers, which broadcast.

    Returns:
      Floating array.

    Examples:
      >>> jnp.heaviside(jnp.array([-1.0, 0.0, 2.0]), 0.5)
      Array([0. , 0.5, 1. ], dtype=float32)
    """
    x1, x2 = check_arraylike("heaviside", x1, x2)
    x1, x2 = promote_dtypes_inexact(x1, x2)
    zero = constant_like(x1, 0)
    negative, positive = lax.lt(x1, zero), lax.gt(x1, zero)
    at_zero = where(lax.ne(x1, x1), x1, x2)
    return where(negative, zero, where(positive, constant_like(x1, 1), at_zero))


@staged("fmax")
def fmax(x1: ArrayLike, x2: ArrayLike) -> Array:
    """Returns the larger of x1 and x2; where one is NaN, the other.

    Args:
      x1, x2: arrays of real numbers, which broadcast.

    Returns:
      Array of the promoted dtype.

    Examples:
      >>> jnp.fmax(jnp.array([1.0, jnp.nan]), 0.5)
      Array([1. , 0.5], dtype=float32)
    """
    return where(_true_or_nan(greater(x1, x2), x2), x1, x2)


@staged("fmin")
def fmin(x1: ArrayLike, x2: ArrayLike) -> Array:
    """Returns the smaller of x1 and x2; where one is NaN, the other.

    Args:
      x1, x2: arrays of real numbers, which broadcast.

    Returns:
      Array of the promoted dtype.

    Examples:
      >>> jnp.fmin(jnp.array([1.0, jnp.nan]), 0.5)
      Array([0.5, 0.5], dtype=float32)
    """
    return where(_true_or_nan(less(x1, x2), x2), x1, x2)


def _true_or_nan(order, x):
    """Whether `order` holds or x is nan."""
    x = ensure_arraylike("isnan", x)
    return lax.bitwise_or(*promote_args("logical_or", order, lax.ne(x, x)))


@staged("trunc")
def trunc(x: ArrayLike) -> Array:
    """Returns numbers rounded towards zero.

    Args:
      x: array of real numbers.

    Returns:
      Array of the shape and dtype of `x`; integers and bools are returned unchanged.

    Examples:
      >>> jnp.trunc(jnp.array([1.7, -1.7]))
      Array([ 1., -1.], dtype=float32)
    """
    x = ensure_arraylike("trunc", x)
    if not dtypes.is_inexact(x.dtype):
        return x
    return where(lax.lt(x, constant_like(x, 0)), lax.ceil(x), lax.floor(x))


@staged("rint")
def rint(x: ArrayLike, /) -> Array:
    """Returns the nearest integral values, halves to even.

    Args:
      x: array of numbers; of complex ones both parts are rounded.

    Returns:
      Inexact array of the shape of `x`.

    Examples:
      >>> jnp.rint(jnp.array([0.5, 1.5, -1.2]))
      Array([ 0.,  2., -1.], dtype=float32)
    """
    x = ensure_arraylike("rint", x)
    if not dtypes.is_inexact(x.dtype):
        return lax.convert_element_type(x, dtypes.scalar_dtype(float))
    if dtypes.is_complex(x.dtype):
        return lax.complex(rint(lax.real(x)), rint(lax.imag(x)))
    return lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)


def _round(name, a, decimals, out):
    a = ensure_arraylike(name, a)
    if out is not None:
        raise NotImplementedError("The 'out' argument to jnp.round is not supported.")
    decimals = operator.index(decimals)
    dtype = a.dtype
    if dtypes.is_integer(dtype):
        if decimals < 0:
            raise NotImplementedError("integer np.round not implemented for decimals < 0")
        return a
    if not dtypes.is_inexact(dtype):
        raise ValueError(f"data type {dtype.type!r} not inexact")

    def round_float(x):
        if decimals == 0:
            return lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)
        # float16 holds no 10**decimals worth using: compute in float32
        wide = lax.convert_element_type(x, np.float32) if dtype in (np.float16, dtypes.bfloat16) else x
        factor = constant_like(wide, 10**decimals)
        near = lax.div(lax.round(lax.mul(wide, factor), lax.RoundingMethod.TO_NEAREST_EVEN), factor)
        return lax.convert_element_type(near, dtype) if wide is not x else near

    if dtypes.is_complex(dtype):
        return lax.complex(round_float(lax.real(a)), round_float(lax.imag(a)))
    return round_float(a)


@staged("round", static_argnames=("decimals",))
def round(a: ArrayLike, decimals: int = 0, out: None = None) -> Array:
    """Returns numbers rounded to a decimal place, halves to even.

    Args:
      a: array of numbers; of complex ones both parts are rounded.
      decimals: int, the number of places after the point, or before it where negative.
      out: must be None.

    Returns:
      Array of the shape and dtype of `a`.

    Raises:
      ValueError: `a` is of dtype bool.
      NotImplementedError: `a` is of an integer dtype and decimals negative.

    Examples:
      >>> jnp.round(jnp.array([1.25, 2.347]), 1)
      Array([1.2, 2.3], dtype=float32)
    """
    return _round("round", a, decimals, out)


@staged("around", static_argnames=("decimals",))
def around(a: ArrayLike, decimals: int = 0, out: None = None) -> Array:
    """Alias of `round`. Returns numbers rounded to a decimal place.

    Args:
      a: array of numbers; of complex ones both parts are rounded.
      decimals: int, the number of places after the point, or before it where negative.
      out: must be None.

    Returns:
      Array of the shape and dtype of `a`.

    Raises:
      ValueError: `a` is of dtype bool.
      NotImplementedError: `a` is of an integer dtype and decimals negative.

    Examples:
      >>> jnp.around(jnp.array([1.25, 2.347]), 1)
      Array([1.2, 2.3], dtype=float32)
    """
    return round(a, decimals, out)


@staged("nan_to_num", compiled_from=FEW)
def nan_to_num(
    x: ArrayLike,
    copy: bool = True,
    nan: ArrayLike = 0.0,
    posinf: ArrayLike | None = None,
    neginf: ArrayLike | None = None,
) -> Array:
    """Returns an array with NaN and infinities replaced by numbers.

    Args:
      x: array of numbers; of complex ones both parts are treated.
      copy: accepted as in NumPy; the result is always a new array.
      nan: number that replaces NaN.
      posinf: number that replaces inf; default: the largest finite one.
      neginf: number that replaces -inf; default: the lowest finite one.

    Returns:
      Array of the shape and dtype of `x`.

    Examples:
      >>> jnp.nan_to_num(jnp.array([1.0, jnp.nan, jnp.inf]), posinf=9.0)
      Array([1., 0., 9.], dtype=float32)
    """
    x = ensure_arraylike("nan_to_num", x)
    if copy is not True:
        check_arraylike("nan_to_num", *tree_leaves(copy))
    if isinstance(nan, (list, tuple)):
        nan = array(nan, dtype=x.dtype)
    dtype = x.dtype
    if not dtypes.is_inexact(dtype):
        return x
    if dtypes.is_complex(dtype):
        re = nan_to_num(lax.real(x), nan=nan, posinf=posinf, neginf=neginf)
        return lax.complex(re, nan_to_num(lax.imag(x), nan=nan, posinf=posinf, neginf=neginf))
    info = dtypes.finfo(dtype)
    posinf = info.max if posinf is None else posinf
    neginf = info.min if neginf is None else neginf
    x = where(lax.ne(x, x), to_dtype(nan, dtype), x)
    x = where(lax.eq(x, constant_like(x, np.inf)), to_dtype(posinf, dtype), x)
    return where(lax.eq(x, constant_like(x, -np.inf)), to_dtype(neginf, dtype), x)


@staged("clip")
def clip(arr: ArrayLike | None = None, /, min: ArrayLike | None = None, max: ArrayLike | None = None) -> Array:
    """Returns the elements of an array limited to an interval.

    Args:
      arr: an array of real numbers.
      min, max: the bounds, arrays or scalars that broadcast with `arr`, or None for no bound.  Where min is larger than
        max the result is max.

    Returns:
      Array of the broadcast shape and common dtype; NaN stays NaN.

    Raises:
      ValueError: an operand is complex.

    Examples:
      >>> jnp.clip(jnp.array([-2, 3, 9]), 0, 5)
      Array([0, 3, 5], dtype=int32)
    """
    if arr is None:
        raise ValueError("No input was provided to the clip function.")
    (arr,) = check_arraylike("clip", arr)
    if any(type(x) is complex or dtypes.is_complex(getattr(x, "dtype", None)) for x in (arr, min, max)):
        raise ValueError(
            "Clip received a complex value either through the input or the min/max keywords. Complex values have no "
            "ordering and cannot be clipped. Please convert to a real value or array by taking the real or imaginary "
            "components via jax.numpy.real/imag respectively."
        )
    if min is not None:
        arr = maximum(min, arr)
    if max is not None:
        arr = minimum(max, arr)
    return ensure_arraylike("clip", arr)
