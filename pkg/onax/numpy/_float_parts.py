"""The parts of floats: mantissa and exponent, fraction and integral part, and the distance to the next float."""

from __future__ import annotations

import numpy as np

from onax import lax
from onax._control.custom_jvp import custom_jvp
from onax._control.jit_call import FEW, staged
from onax._core.api_functions import static_argnames
from onax._ground import dtypes
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.numpy._arithmetic import _refuse_complex, copysign
from onax.numpy._logic import isinf
from onax.numpy._promotion import (
    check_arraylike,
    ensure_arraylike,
    promote_args_inexact,
    promote_shapes,
)
from onax.numpy._ufuncs import constant_like
from onax.numpy._where import where


@staged("modf")
def modf(x: ArrayLike, /, out: None = None) -> tuple[Array, Array]:
    """Returns the fractional and the integral parts of numbers.

    Args:
      x: array of real numbers.
      out: must be None.

    Returns:
      Pair of floating arrays of the shape of `x`, both with the sign of x.

    Raises:
      NotImplementedError: `out` is given.

    Examples:
      >>> jnp.modf(jnp.array([1.5, -2.25]))
      (Array([ 0.5 , -0.25], dtype=float32), Array([ 1., -2.], dtype=float32))
    """
    (x,) = promote_args_inexact("modf", x)
    if out is not None:
        raise NotImplementedError("The 'out' argument to jnp.modf is not supported.")
    whole = where(lax.ge(x, constant_like(x, 0)), lax.floor(x), lax.ceil(x))
    return lax.sub(x, whole), whole


# --- the parts of a float -----------------------------------------------------------------------------------------


@staged("frexp", compiled_from=FEW)
def frexp(x: ArrayLike, /) -> tuple[Array, Array]:
    """Returns mantissa and exponent: x = mantissa * 2**exponent.

    Args:
      x: array of real numbers.

    Returns:
      Pair of a floating array with absolute values in [0.5, 1) or 0, and an int32 array, both of the shape of `x`.

    Raises:
      TypeError: `x` is complex.

    Examples:
      >>> jnp.frexp(jnp.array([8.0, 0.75]))
      (Array([0.5 , 0.75], dtype=float32), Array([4, 0], dtype=int32))
    """
    (x,) = promote_args_inexact("frexp", x)
    _refuse_complex("frexp", x)
    return _frexp(x)


@custom_jvp
def _frexp(x):
    dtype = x.dtype
    info = dtypes.finfo(dtype)
    bits, mantissa_bits = dtypes.itemsize_bits(dtype), int(info.nmant)
    word = np.dtype(f"int{bits}")
    exponent_mask, bias = (1 << int(info.nexp)) - 1, (1 << (int(info.nexp) - 1)) - 1
    small = lax.lt(lax.abs(x), constant_like(x, info.tiny))
    scaled = where(small, lax.mul(x, constant_like(x, 2.0**mantissa_bits)), x)
    shift = where(small, np.int32(-mantissa_bits), np.int32(0))
    pattern = lax.bitcast_convert_type(scaled, word)
    field = lax.bitwise_and(lax.shift_right_arithmetic(pattern, word.type(mantissa_bits)), word.type(exponent_mask))
    exponent = lax.add(lax.sub(field, word.type(bias)), word.type(1))
    exponent = lax.add(shift, exponent if word.itemsize == 4 else lax.convert_element_type(exponent, np.int32))
    keep = ~np.array(exponent_mask << mantissa_bits, word)
    pattern = lax.bitwise_or(lax.bitwise_and(pattern, word.type(keep)), word.type((bias - 1) << mantissa_bits))
    mantissa = lax.bitcast_convert_type(pattern, dtype)
    special = lax.bitwise_or(lax.bitwise_or(isinf(x), lax.ne(x, x)), lax.eq(x, constant_like(x, 0)))
    exponent = where(special, lax.full_like(exponent, 0), exponent)
    return where(special, x, mantissa), exponent


@_frexp.defjvp
def _frexp_jvp(primals, tangents):
    (x,), (g,) = primals, tangents
    mantissa, exponent = frexp(x)
    scale = lax.exp2(lax.neg(lax.convert_element_type(exponent, x.dtype)))
    return (mantissa, exponent), (lax.mul(g, scale), np.zeros(exponent.shape, dtypes.float0))


@staged("ldexp")
def ldexp(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Returns x1 * 2**x2 without overflow in between.

    Args:
      x1: array of real numbers.
      x2: integer array, which broadcasts against x1.

    Returns:
      Floating array.

    Raises:
      ValueError: x1 is complex, or x2 is not of an integer dtype.

    Examples:
      >>> jnp.ldexp(jnp.array([0.5, 0.75]), jnp.array([4, 0]))
      Array([8.  , 0.75], dtype=float32)
    """
    x1, x2 = check_arraylike("ldexp", x1, x2)
    x1_dtype, x2_dtype = dtypes.dtype(x1), dtypes.dtype(x2)
    if not (x2_dtype == np.bool_ or dtypes.is_integer(x2_dtype)) or dtypes.is_complex(x1_dtype):
        raise ValueError(f"ldexp not supported for input types {(x1_dtype, x2_dtype)}")
    x1, x2 = promote_shapes("ldexp", *promote_args_inexact("ldexp", x1), ensure_arraylike("ldexp", x2))
    x2 = lax.convert_element_type(x2, x1.dtype)
    mantissa, exponent = frexp(x1)
    total = lax.add(lax.convert_element_type(exponent, x2.dtype), x2)
    zero, one, two = (constant_like(total, v) for v in (0, 1, 2))
    # one factor of 2 goes to the mantissa, so that 2**total does not overflow before the product does
    mantissa = where(lax.gt(total, zero), lax.mul(mantissa, two), mantissa)
    total = where(lax.gt(total, zero), lax.sub(total, one), total)
    out = lax.mul(mantissa, lax.pow(two, total))
    return where(lax.bitwise_or(isinf(x1), lax.eq(x1, zero)), x1, out)


@static_argnames()
def spacing(x: ArrayLike, /) -> Array:
    """Returns the distance from numbers to the next float away from zero.

    Args:
      x: array of real numbers.

    Returns:
      Floating array of the shape of `x`, with the sign of x.

    Raises:
      ValueError: `x` is complex.

    Examples:
      >>> jnp.spacing(jnp.array([1.0, -2.0]))
      Array([ 1.1920929e-07, -2.3841858e-07], dtype=float32)
    """
    (x,) = promote_args_inexact("spacing", x)
    if dtypes.is_complex(x.dtype):
        raise ValueError("jnp.spacing is not defined for complex inputs.")
    if x.dtype == np.float16:  # as in JAX: towards inf on both sides of 0
        return lax.sub(lax.nextafter(x, constant_like(x, np.inf)), x)
    gap = lax.sub(lax.nextafter(x, copysign(constant_like(x, np.inf), x)), x)
    vanishes = lax.eq(gap, constant_like(gap, 0))
    return where(vanishes, copysign(x.dtype.type(dtypes.finfo(x.dtype).smallest_subnormal), x), gap)
