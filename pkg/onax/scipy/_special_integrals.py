"""Integrals for onax.scipy.special: exponential, logarithmic, trigonometric.  Series near zero, continued fractions
elsewhere; formulas are those of NIST's Digital Library of Mathematical Functions (DLMF), chapters 6, 7, 8 and 25.
"""

from __future__ import annotations

import math

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._control.custom_jvp import custom_jvp
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.numpy._promotion import check_arraylike, ensure_arraylike
from onax.numpy._ufuncs import constant_like
from onax.scipy._special_common import broadcast_arguments, compute_in_float32, polynomial, promote_real_floats

_SERIES = 150  # terms of sum x^k / (k k!) for x up to 40
_FRACTIONS = 120  # levels of the continued fractions, enough for the smallest arguments they are used for


# ---- the exponential integral


@custom_jvp
def expi(x: ArrayLike) -> Array:
    """Returns the exponential integral Ei, the principal value of the integral of exp(t) / t from -inf to x.

    Args:
      x: an array of real numbers; integers are converted to the default float.

    Returns:
      Float array of the shape of `x`.

    Raises:
      ValueError: complex numbers.

    Examples:
      >>> onax.scipy.special.expi(jnp.array([0.0, 1.0])).round(4)
      Array([  -inf, 1.8951], dtype=float32)
    """
    return compute_in_float32(_expi)(*promote_real_floats("expi", x))


expi.defjvps(lambda g, out, x: g * jnp.exp(x) / x)


def _expi(x):
    """DLMF 6.6.2 up to 40, 6.12.2 beyond; of negative numbers -E1(-x)."""
    near, far = jnp.clip(x, 0, 40), jnp.maximum(x, 40)

    def term(i, carry):
        total, power = carry
        k = (i + 1).astype(x.dtype)
        power = power * near / k
        return total + power / k, power

    total, _ = lax.fori_loop(0, _SERIES, term, (jnp.zeros_like(x), jnp.ones_like(x)))
    series = np.euler_gamma + jnp.log(near) + total
    tail = jnp.exp(far) / far * polynomial([float(math.factorial(k)) for k in range(21)], 1 / far)
    tail = jnp.where(jnp.isposinf(x), x, tail)
    negative = -_expn_of_positive(jnp.ones_like(x), jnp.where(x < 0, -x, 1))
    out = jnp.where(x < 0, negative, jnp.where(x <= 40, series, tail))
    return jnp.where(x == 0, -np.inf, jnp.where(jnp.isnan(x), x, out))


def exp1(x: ArrayLike) -> Array:
    """Returns the exponential integral E1, the integral of exp(-t) / t from x to inf.

    Args:
      x: an array of real numbers; integers are converted to the default float.

    Returns:
      Float array of the shape of `x`; NaN for negative x.

    Raises:
      ValueError: complex numbers.

    Examples:
      >>> onax.scipy.special.exp1(jnp.array([0.0, 1.0])).round(4)
      Array([   inf, 0.2194], dtype=float32)
    """
    (x,) = promote_real_floats("exp1", x)
    return expn(constant_like(x, 1), x)


@custom_jvp
def expn(n: ArrayLike, x: ArrayLike) -> Array:
    """Returns the generalised exponential integral, the integral of exp(-x t) / t**n from t = 1 to inf.

    The derivative in n counts as zero, as in JAX.

    Args:
      n: the order: nonnegative integers, or any numbers for x > 1.
      x: an array that broadcasts with `n`.

    Returns:
      Float array of the common shape; NaN for negative x and other orders.

    Raises:
      ValueError: complex numbers.

    Examples:
      >>> onax.scipy.special.expn(2, jnp.array([0.0, jnp.inf]))
      Array([1., 0.], dtype=float32)
    """
    return compute_in_float32(_expn)(*promote_real_floats("expn", n, x))


expn.defjvps(None, lambda g, out, n, x: -g * expn(n - 1, x))


def _expn(n, x):
    n, x = broadcast_arguments("expn", n, x)
    out = _expn_of_positive(n, jnp.where(x > 0, x, 1))
    at_zero = jnp.where(n > 1, 1 / jnp.where(n > 1, n - 1, 1), np.inf)
    out = jnp.where(x == 0, at_zero, jnp.where(jnp.isposinf(x), 0, out))
    return jnp.where((x < 0) | jnp.isnan(x) | jnp.isnan(n), np.nan, out)


def _expn_of_positive(n, x):
    """Of positive x: DLMF 8.19.8 up to 1, the continued fraction 8.19.17 beyond; order 0 and below by recursion."""
    far, near = jnp.where(x > 1, x, 2), jnp.where(x <= 1, x, 1)

    def level(i, value):
        k = (_FRACTIONS - i).astype(x.dtype)
        return far + n + 2 * (k - 1) - k * (n + k - 1) / value

    start = far + n + 2 * _FRACTIONS
    fraction = jnp.exp(-far) / lax.fori_loop(0, _FRACTIONS, level, start)
    order = jnp.maximum(n, 1)

    def term(i, carry):
        total, power = carry
        m = i.astype(x.dtype)
        below = m - order + 1
        total = total + jnp.where(below == 0, 0, power / jnp.where(below == 0, 1, below))
        return total, -power * near / (m + 1)

    total, _ = lax.fori_loop(0, 24, term, (jnp.zeros_like(x), jnp.ones_like(x)))
    sign = jnp.where((order - 1) % 2 == 0, 1, -1)
    power = sign * jnp.exp((order - 1) * jnp.log(near) - lax.lgamma(order))
    series = power * (lax.digamma(order) - jnp.log(near)) - total
    series = jnp.where((n == jnp.floor(n)) & (n >= 0), series, np.nan)
    return jnp.where(n == 0, jnp.exp(-x) / x, jnp.where(x > 1, fraction, series))


# ---- Spence's function


@custom_jvp
def spence(x: ArrayLike) -> Array:
    """Returns Spence's function, the dilogarithm of 1 - x.

    It is minus the integral of log(t) / (t - 1) from 1 to x.

    Args:
      x: a float32 or float64 array.

    Returns:
      Array of the shape and dtype of `x`; NaN for negative x.

    Raises:
      TypeError: another dtype.

    Examples:
      >>> onax.scipy.special.spence(jnp.array([0.0])).round(4)
      Array([1.6449], dtype=float32)
    """
    if not isinstance(x, list | tuple | None):
        (x,) = check_arraylike("spence", x)
    x = jnp.asarray(x)
    if x.dtype not in (np.float32, np.float64):
        raise TypeError(f"x.dtype={x.dtype} is not supported, see docstring for supported types.")
    return _spence(x)


@spence.defjvp
def _spence_jvp(primals, tangents):
    (x,), (g,) = primals, tangents
    near = jnp.abs(x - 1) < 1e-3
    slope = -jnp.log(x) / jnp.where(near, 1, x - 1)
    d = x - 1
    return spence(x), g * jnp.where(near, -1 + d / 2 - d * d / 3, slope)


def _dilogarithm(u):
    """Of 1 - exp(-u), |u| <= log 2: the series in Bernoulli's numbers (DLMF 25.12.4 and 24.2.1)."""
    numbers = [1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330]
    weights = [b / math.factorial(2 * k + 3) for k, b in enumerate(numbers)]
    square = u * u
    return u - square / 4 + u * square * polynomial(weights, square)


def _spence(x):
    small, large = x < 0.5, x > 2
    low = jnp.where(small & (x > 0), x, 0.25)
    middle = jnp.where(small | large | ~(x >= 0), 1, x)
    high = jnp.where(large & (x < np.inf), x, 4)
    zeta2 = np.pi**2 / 6
    of_low = zeta2 - jnp.log(low) * jnp.log1p(-low) - _dilogarithm(-jnp.log1p(-low))
    of_high = -zeta2 - jnp.log(high - 1) ** 2 / 2 - _dilogarithm(jnp.log1p(-1 / high))
    out = jnp.where(small, of_low, jnp.where(large, of_high, _dilogarithm(-jnp.log(middle))))
    out = jnp.where(x == 0, zeta2, jnp.where(jnp.isposinf(x), -np.inf, out))
    return jnp.where(x >= 0, out, np.nan)


# ---- Fresnel's integrals


def _extend_odd_function(x, odd):
    """The values of an odd function at x from those at |x|."""
    return jnp.where(x < 0, -odd, odd)


@custom_jvp
def fresnel(x: ArrayLike) -> tuple[Array, Array]:
    """Returns Fresnel's integrals of sin(pi t**2 / 2) and cos(pi t**2 / 2) from 0 to x.

    Args:
      x: an array of real numbers; integers are converted to the default float.

    Returns:
      (S, C), float arrays of the shape of `x`.

    Raises:
      NotImplementedError: complex numbers.

    Examples:
      >>> onax.scipy.special.fresnel(jnp.array([0.0, jnp.inf]))
      (Array([0. , 0.5], dtype=float32), Array([0. , 0.5], dtype=float32))
    """
    (x,) = _require_real("fresnel", x, NotImplementedError("Support for complex-valued inputs is not implemented yet."))
    return compute_in_float32(_fresnel)(x)


@fresnel.defjvp
def _fresnel_jvp(primals, tangents):
    (x,), (g,) = primals, tangents
    angle = np.pi / 2 * jnp.square(x)
    return fresnel(x), (g * jnp.sin(angle), g * jnp.cos(angle))


def _require_real(name, x, error):
    x = ensure_arraylike(name, x)
    if jnp.iscomplexobj(x):
        raise error
    return promote_real_floats(name, x)


def _fresnel(x):
    """DLMF 7.6.4 and 7.6.6 up to 1.6; beyond by the continued fraction of erfc, 7.9.1 with 7.5.10."""
    y = jnp.abs(x)
    near, far = jnp.minimum(y, 1.6), jnp.where((y > 1.6) & (y < np.inf), y, 2)
    angle = np.pi / 2 * near * near
    square = angle * angle
    sines = [(-1) ** k / (math.factorial(2 * k + 1) * (4 * k + 3)) for k in range(20)]
    cosines = [(-1) ** k / (math.factorial(2 * k) * (4 * k + 1)) for k in range(20)]
    s, c = near * angle * polynomial(sines, square), near * polynomial(cosines, square)
    # erfc(z) with z = sqrt(pi) / 2 (1 - i) y; z^2 = -i pi y^2 / 2
    z_real, z_imag = math.sqrt(np.pi) / 2 * far, -math.sqrt(np.pi) / 2 * far

    def level(i, value):
        half = (_FRACTIONS - i).astype(x.dtype) / 2
        a, b = value
        size = half / (a * a + b * b)
        return z_real + a * size, z_imag - b * size

    a, b = lax.fori_loop(0, _FRACTIONS, level, (z_real, z_imag))
    size = a * a + b * b
    turn = _reduced_fresnel_phase(far)
    # exp(-z^2) / sqrt(pi) / (a + i b)
    cos, sin = jnp.cos(turn), jnp.sin(turn)
    e_real, e_imag = (cos * a + sin * b) / size / math.sqrt(np.pi), (sin * a - cos * b) / size / math.sqrt(np.pi)
    # C + i S = (1 + i) / 2 (1 - erfc(z))
    far_c, far_s = (1 - e_real + e_imag) / 2, (1 - e_real - e_imag) / 2
    s, c = jnp.where(y > 1.6, far_s, s), jnp.where(y > 1.6, far_c, c)
    s, c = (jnp.where(jnp.isinf(x), 0.5, jnp.where(jnp.isnan(x), x, v)) for v in (s, c))
    return _extend_odd_function(x, s), _extend_odd_function(x, c)


def _reduced_fresnel_phase(y):
    """pi y^2 / 2 modulo 2 pi without cancellation: y is split into an integer and a fraction."""
    integer = jnp.round(y)
    fraction = y - integer
    even = jnp.fmod(integer, 2)  # integer^2 is even^2 modulo 4
    return np.pi / 2 * (jnp.fmod(even * even, 4) + jnp.fmod(2 * fraction * integer, 4) + fraction * fraction)


# ---- sine and cosine integrals


@custom_jvp
def sici(x: ArrayLike) -> tuple[Array, Array]:
    """Returns the sine integral from 0 to x, and the cosine integral from inf to |x|.

    Args:
      x: an array of real numbers; integers are converted to the default float.

    Returns:
      (Si, Ci), float arrays of the shape of `x`.

    Raises:
      ValueError: complex numbers.

    Examples:
      >>> si, ci = onax.scipy.special.sici(jnp.array([0.0, 1.0]))
      >>> si.round(4), ci.round(4)
      (Array([0.    , 0.9461], dtype=float32), Array([  -inf, 0.3374], dtype=float32))
    """
    x = ensure_arraylike("sici", x)
    (x,) = _require_real("sici", x, ValueError(f"Argument `x` to sici must be real-valued. Got dtype {x.dtype}."))
    return compute_in_float32(_sici)(x)


@sici.defjvp
def _sici_jvp(primals, tangents):
    (x,), (g,) = primals, tangents
    return sici(x), (g * jnp.sinc(x / np.pi), g * jnp.cos(x) / x)


def _sici(x):
    """DLMF 6.6.5 and 6.6.6 up to 4; beyond by the continued fraction 6.9.1 of E1(i x)."""
    y = jnp.abs(x)
    near, far = jnp.minimum(y, 4), jnp.where((y > 4) & (y < np.inf), y, 5)
    square = near * near
    sines = [(-1) ** k / ((2 * k + 1) * math.factorial(2 * k + 1)) for k in range(18)]
    cosines = [0.0] + [(-1) ** k / (2 * k * math.factorial(2 * k)) for k in range(1, 18)]
    si = near * polynomial(sines, square)
    ci = np.euler_gamma + jnp.log(near) + polynomial(cosines, square)

    def level(i, value):
        k = (_FRACTIONS - i).astype(x.dtype)
        a, b = value
        size = k * k / (a * a + b * b)
        return 2 * k - 1 - a * size, far + b * size

    a, b = lax.fori_loop(0, _FRACTIONS, level, (jnp.full_like(far, 2 * _FRACTIONS + 1), far))
    size = a * a + b * b
    cos, sin = jnp.cos(far), jnp.sin(far)
    # E1(i x) = exp(-i x) / (a + i b) = -Ci + i (Si - pi / 2)
    far_ci, far_si = -(cos * a - sin * b) / size, np.pi / 2 - (cos * b + sin * a) / size
    si, ci = jnp.where(y > 4, far_si, si), jnp.where(y > 4, far_ci, ci)
    si = jnp.where(jnp.isinf(x), np.pi / 2, jnp.where(jnp.isnan(x), x, si))
    ci = jnp.where(jnp.isposinf(x), 0, jnp.where(jnp.isneginf(x) | jnp.isnan(x), np.nan, ci))
    return jnp.where(x == 0, x, _extend_odd_function(x, si)), ci
