"""Special functions: i0, the modified Bessel function of order 0, and sinc."""

from __future__ import annotations

import numpy as np

from onax import lax
from onax._control.custom_jvp import custom_jvp
from onax._control.jit_call import FEW, staged
from onax._ground import dtypes
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.numpy._promotion import promote_args_inexact
from onax.numpy._ufuncs import constant_like
from onax.numpy._where import where


@custom_jvp
def _i0(x):
    x = lax.abs(x)
    return lax.mul(lax.exp(x), lax.bessel_i0e(x))


@_i0.defjvp
def _i0_jvp(primals, tangents):
    (x,), (g,) = primals, tangents
    return _i0(x), lax.mul(g, lax.mul(lax.exp(lax.abs(x)), lax.bessel_i1e(x)))


@staged("i0", compiled_from=None)
def i0(x: ArrayLike) -> Array:
    """Returns the modified Bessel function of the first kind and order 0.

    Args:
      x: array of real numbers.

    Returns:
      Floating array of the shape of `x`.

    Raises:
      ValueError: `x` is complex.

    Examples:
      >>> jnp.round(jnp.i0(jnp.array([0.0, 1.0])), 4)
      Array([1.    , 1.2661], dtype=float32)
    """
    (x,) = promote_args_inexact("i0", x)
    if dtypes.is_complex(x.dtype):
        raise ValueError(f"Unsupported input type to jax.numpy.i0: {x.dtype}")
    return _i0(x)


@staged("sinc", compiled_from=FEW)
def sinc(x: ArrayLike, /) -> Array:
    """Returns the normalized sinc function sin(pi x) / (pi x).

    It is 1 at 0, with the right derivatives of all orders.

    Args:
      x: array of numbers.

    Returns:
      Inexact array of the shape of `x`.

    Examples:
      >>> jnp.round(jnp.sinc(jnp.array([0.0, 0.5])), 4)
      Array([1.    , 0.6366], dtype=float32)
    """
    (x,) = promote_args_inexact("sinc", x)
    is_zero = lax.eq(x, constant_like(x, 0))
    pi_x = lax.mul(constant_like(x, np.pi), x)
    safe = where(is_zero, constant_like(x, 1), pi_x)
    return where(is_zero, _sinc_series(0, pi_x), lax.div(lax.sin(safe), safe))


def _sinc_series(k, x):
    """The k-th derivative of sin(x)/x at 0, constant in x but differentiable as a Taylor series.

    sin(x)/x = sum over j of (-1)**j x**(2j) / (2j+1)!, so it is 0 for odd k and (-1)**(k/2) / (k+1) for even k.
    """

    @custom_jvp
    def _sinc_maclaurin(x):
        value = 0.0 if k % 2 else (-1.0) ** (k // 2) / (k + 1)
        return lax.add(lax.mul(x, constant_like(x, 0)), constant_like(x, value))

    @_sinc_maclaurin.defjvp
    def _sinc_maclaurin_jvp(primals, tangents):
        (x,), (t,) = primals, tangents
        return _sinc_maclaurin(x), lax.mul(_sinc_series(k + 1, x), t)

    return _sinc_maclaurin(x)
