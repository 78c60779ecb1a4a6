"""Functions akin to the gamma function, and powers, for onax.scipy.special."""

from __future__ import annotations

import math
import operator

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._control.custom_jvp import custom_jvp
from onax._ground import dtypes
from onax._ground.lazy import scipy_special
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax._prims.special_series import stirling
from onax.numpy._promotion import check_arraylike, ensure_arraylike, promote_args_inexact
from onax.scipy._special import gammasgn
from onax.scipy._special_common import broadcast_arguments, compute_in_float32, gamma_sign


def loggamma(x: ArrayLike) -> Array:
    """Returns the principal branch of the logarithm of the gamma function.

    Where gamma(x) is not positive it differs from `gammaln`.

    Args:
      x: an array of real or complex numbers; integers are converted to the default float.

    Returns:
      Float or complex array of the shape of `x`; NaN for negative real numbers.

    Examples:
      >>> onax.scipy.special.loggamma(jnp.array([-0.5, 1.0, 2.0]))
      Array([nan,  0.,  0.], dtype=float32)
    """
    x = ensure_arraylike("loggamma", x)
    if dtypes.is_complex(x.dtype):
        return _complex_loggamma(x)
    (x,) = promote_args_inexact("loggamma", x)
    value = lax.lgamma(x)
    return jnp.where(x < 0, np.nan, jnp.where(jnp.isneginf(x), np.nan, value))


def gamma(x: ArrayLike) -> Array:
    """Returns the gamma function.

    Args:
      x: an array of real or complex numbers; integers are converted to the default float.

    Returns:
      Inexact array of the shape of `x`: for complex numbers exp(loggamma(x)), NaN at poles and infinities.

    Examples:
      >>> onax.scipy.special.gamma(jnp.array([1.0, 2.0]))
      Array([1., 1.], dtype=float32)
    """
    (x,) = promote_args_inexact("gamma", x)
    if not dtypes.is_complex(x.dtype):
        return gammasgn(x) * lax.exp(lax.lgamma(x))
    pole = (x.imag == 0) & (x.real <= 0) & (x.real == jnp.floor(x.real))
    undefined = pole | ~jnp.isfinite(x)
    out = jnp.exp(_complex_loggamma(jnp.where(undefined, 1, x)))
    return jnp.where(undefined, complex(np.nan, np.nan), out).astype(x.dtype)


_SHIFT = 10  # the shift of arguments to where Stirling's series is accurate in float64
_STIRLING = stirling(9)


def _complex_loggamma(z):
    """Stirling's series (DLMF 5.11.1) after the recurrence 5.5.1; left of 1/2 by reflection (5.5.3), in whose sine the
    growing exponential is taken apart."""
    left = z.real < 0.5
    y = jnp.where(left, 1 - z, z)
    steps = sum(jnp.log(y + k) for k in range(_SHIFT))
    far = y + _SHIFT
    back = 1 / far
    square, tail = back * back, 0
    for c in _STIRLING[::-1]:
        tail = tail * square + c
    right = (far - 0.5) * jnp.log(far) - far + 0.5 * math.log(2 * np.pi) + tail * back - steps
    up = z.imag >= 0
    turned = jnp.where(up, z, jnp.conj(z))
    log_sine = (
        -1j * np.pi * (turned - 0.5)
        - math.log(2)
        + jnp.log(1 - jnp.exp(2j * np.pi * _subtract_nearest_integer(turned)))
    )
    log_sine = jnp.where(up, log_sine, jnp.conj(log_sine))
    return jnp.where(left, np.log(np.pi) - log_sine - right, right).astype(z.dtype)


def _subtract_nearest_integer(z):
    """z minus the nearest integer, which does not change exp(2 pi i z)."""
    return z - jnp.round(z.real)


@custom_jvp
def poch(z: ArrayLike, m: ArrayLike) -> Array:
    """Returns Pochhammer's symbol gamma(z + m) / gamma(z), the rising power of z.

    For integers m it is right at poles of both functions too.

    Args:
      z: an array of real numbers.
      m: an array that broadcasts with `z`.

    Returns:
      Float array of the common shape.

    Raises:
      ValueError: complex numbers.

    Examples:
      >>> onax.scipy.special.poch(1.0, jnp.array([0.0, 1.0]))
      Array([1., 1.], dtype=float32)
    """
    z, m = _promote_reals("poch", "jnp.poch", z, m)
    return compute_in_float32(_poch)(z, m)


def _promote_reals(name, label, *args):
    args = promote_args_inexact(name, *args)
    if dtypes.is_complex(args[0].dtype):
        raise ValueError(f"{label} does not support complex-valued inputs.")
    return args


poch.defjvps(
    lambda g, out, z, m: g * out * (lax.digamma(jnp.asarray(z + m)) - lax.digamma(jnp.asarray(z))),
    lambda g, out, z, m: g * out * lax.digamma(jnp.asarray(z + m)),
)


def _poch(z, m):
    z, m = broadcast_arguments("poch", z, m)
    pole = (z <= 0) & (z == jnp.floor(z))
    mirrored = pole & (m == jnp.floor(m)) & (z + m <= 0)
    # (z)_m = (-1)^m (1 - z - m)_m
    start = jnp.where(mirrored, 1 - z - m, z)
    end = jnp.where(mirrored, 1 - z, z + m)
    value = gamma_sign(end) * gamma_sign(start) * jnp.exp(lax.lgamma(end) - lax.lgamma(start))
    odd = jnp.where(mirrored, m % 2, 0)
    value = jnp.where(pole & ~mirrored, 0, jnp.where(odd == 0, value, -value))
    value = jnp.where(~pole & (z + m <= 0) & (z + m == jnp.floor(z + m)), np.inf, value)
    return jnp.where(m == 0, 1, jnp.where(jnp.isnan(z + m), np.nan, value)).astype(z.dtype)


def comb(N: ArrayLike, k: ArrayLike, *, repetition: bool = False) -> Array:
    """Returns binomial coefficients, N! / (k! (N - k)!).

    Unlike JAX, results for integers are rounded to whole numbers.

    Args:
      N: an array of real numbers.
      k: an array that broadcasts with `N`.
      repetition: True: how many multisets of k things there are; default False.

    Returns:
      Float array of the common shape; 0 for negative k or N, and for k > N.

    Examples:
      >>> onax.scipy.special.comb(5, jnp.array([0, 2, 6]))
      Array([ 1., 10.,  0.], dtype=float32)
    """
    N, k = check_arraylike("comb", N, k)
    of_integers = all(dtypes.is_integer(dtypes.dtype(x)) for x in (N, k))
    n, k = promote_args_inexact("comb", N, k)
    if repetition:
        return jnp.where((n == 0) & (k == 0), 1, _binomial_coefficient(n + k - 1, k, of_integers))
    return _binomial_coefficient(n, k, of_integers)


def _binomial_coefficient(n, k, of_integers):
    valid = (n >= 0) & (k >= 0) & (k <= n)
    n, k = jnp.where(valid, n, 1), jnp.where(valid, k, 0)
    value = jnp.exp(lax.lgamma(n + 1) - lax.lgamma(k + 1) - lax.lgamma(n - k + 1))
    return jnp.where(valid, jnp.round(value) if of_integers else value, 0)


def boxcox(x: ArrayLike, lmbda: ArrayLike) -> Array:
    """Returns the transformation of Box and Cox (1964): (x**lmbda - 1) / lmbda, and log(x) for lmbda = 0.

    Args:
      x: an array of positive numbers.
      lmbda: an array that broadcasts with `x`.

    Returns:
      Float array of the common shape.

    Examples:
      >>> onax.scipy.special.boxcox(jnp.array([1.0, 3.0]), 2.0).round(4)
      Array([0., 4.], dtype=float32)
    """
    x, lmbda = promote_args_inexact("boxcox", x, lmbda)
    return _boxcox_of_logarithm(jnp.log(x), lmbda)


def boxcox1p(x: ArrayLike, lmbda: ArrayLike) -> Array:
    """Returns the transformation of Box and Cox of 1 + x, accurate for small x.

    Args:
      x: an array of numbers above -1.
      lmbda: an array that broadcasts with `x`.

    Returns:
      Float array of the common shape.

    Examples:
      >>> onax.scipy.special.boxcox1p(jnp.array([0.0, 2.0]), 2.0).round(4)
      Array([0., 4.], dtype=float32)
    """
    x, lmbda = promote_args_inexact("boxcox1p", x, lmbda)
    return _boxcox_of_logarithm(jnp.log1p(x), lmbda)


def _boxcox_of_logarithm(logarithm, power):
    zero = power == 0
    safe = jnp.where(zero, 1, power)
    return jnp.where(zero, logarithm, jnp.expm1(safe * logarithm) / safe)


def bernoulli(n: int) -> Array:
    """Returns Bernoulli's numbers of the orders 0 to n.

    Args:
      n: an int.

    Returns:
      Array of shape (n + 1,), of the default float dtype.

    Raises:
      ValueError: `n` is negative.

    Examples:
      >>> onax.scipy.special.bernoulli(2).round(4)
      Array([ 1.    , -0.5   ,  0.1667], dtype=float32)
    """
    n = operator.index(n)
    if n < 0:
        raise ValueError("n must be a non-negative integer.")
    with np.errstate(over="ignore"):  # the later ones are infinite in float32
        return jnp.asarray(np.asarray(scipy_special.bernoulli(max(n, 2)))[: n + 1].astype(jnp.result_type(float)))
