"""Functions akin to the error function, for onax.scipy.special.

w(z) = exp(-z^2) erfc(-i z) by the rational expansion of J. Weideman, "Computation of the complex error function", SIAM
Journal on Numerical Analysis 31 (1994).
"""

from __future__ import annotations

import functools
import math

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._control.custom_jvp import custom_jvp
from onax._control.jit_call import staged
from onax._ground import dtypes
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.numpy._promotion import along_last_axis, ensure_arraylike, promote_args_inexact
from onax.scipy._special import erfc_inv_of_small
from onax.scipy._special_common import broadcast_arguments, compute_in_float32, polynomial, promote_real_floats

_TERMS = 64


@functools.lru_cache(maxsize=1)
def _weideman_expansion():
    """Returns (scale, coefficients in ascending order) of Weideman's expansion."""
    m = 2 * _TERMS
    scale = math.sqrt(_TERMS / math.sqrt(2))
    t = scale * np.tan(np.arange(-m + 1, m) * np.pi / m / 2)
    values = np.concatenate([[0.0], np.exp(-(t**2)) * (scale**2 + t**2)])
    coefficients = np.fft.fft(np.fft.fftshift(values)).real / (2 * m)
    return scale, coefficients[1 : _TERMS + 1].tolist()


def _wofz_upper_half_plane(z):
    """w(z) for z with non-negative imaginary part."""
    scale, coefficients = _weideman_expansion()
    down = scale - 1j * z
    ratio = (scale + 1j * z) / down
    value = 0
    for c in coefficients[::-1]:
        value = value * ratio + c
    return 2 * value / (down * down) + 1 / (math.sqrt(np.pi) * down)


@custom_jvp
def wofz(z: ArrayLike) -> Array:
    """Returns Faddeeva's function exp(-z**2) erfc(-i z), by Weideman's expansion (1994).

    Args:
      z: an array of real or complex numbers.

    Returns:
      Complex array of the shape of `z`.

    Examples:
      >>> onax.scipy.special.wofz(0.0).real.round(4)
      Array(1., dtype=float32)
    """
    z = ensure_arraylike("wofz", z)
    (z,) = promote_args_inexact("wofz", z)
    z = lax.convert_element_type(z, np.complex128 if z.dtype in (np.float64, np.complex128) else np.complex64)
    upper = z.imag >= 0
    value = _wofz_upper_half_plane(jnp.where(upper, z, -z))
    # w(z) = 2 exp(-z^2) - w(-z)
    square = jnp.where(upper, 0, -(z * z))
    return jnp.where(upper, value, 2 * jnp.exp(square) - value)


@wofz.defjvp
def _wofz_jvp(primals, tangents):
    (z,), (g,) = primals, tangents
    out = wofz(z)
    return out, g.astype(out.dtype) * (2j / math.sqrt(np.pi) - 2 * z * out).astype(out.dtype)


def erfcx(x: ArrayLike) -> Array:
    """Returns exp(x**2) erfc(x), without overflow for large x.

    Args:
      x: an array of real or complex numbers; integers are converted to the default float.

    Returns:
      Float or complex array of the shape of `x`.

    Examples:
      >>> onax.scipy.special.erfcx(jnp.array([0.0, jnp.inf]))
      Array([1., 0.], dtype=float32)
    """
    x = ensure_arraylike("erfcx", x)
    if dtypes.is_complex(x.dtype):
        return wofz(1j * x)
    return _erfcx(x)


@custom_jvp
def _erfcx(x):
    return compute_in_float32(_real_erfcx)(*promote_real_floats("erfcx", x))


_erfcx.defjvps(lambda g, out, x: g * (2 * x * out - 2 / math.sqrt(np.pi)))


def _real_erfcx(x):
    """erfcx(x) = w(i x) in real arithmetic; negative x by 2 exp(x^2) - erfcx(-x)."""
    scale, coefficients = _weideman_expansion()
    y = jnp.abs(x)
    down = scale + y
    ratio = (scale - y) / down
    value = 2 * polynomial(list(coefficients), ratio) / (down * down) + 1 / (math.sqrt(np.pi) * down)
    value = jnp.where(jnp.isinf(y), 0, value)
    return jnp.where(x < 0, 2 * jnp.exp(jnp.where(x < 0, x * x, 0)) - value, value)


@custom_jvp
def dawsn(x: ArrayLike) -> Array:
    """Returns Dawson's integral: exp(-x**2) times the integral of exp(t**2) from 0 to x.

    Args:
      x: an array of real numbers; integers are converted to the default float.

    Returns:
      Float array of the shape of `x`.

    Raises:
      ValueError: complex numbers.

    Examples:
      >>> onax.scipy.special.dawsn(jnp.array([0.0, 1.0])).round(4)
      Array([0.    , 0.5381], dtype=float32)
    """
    return compute_in_float32(_dawsn)(*promote_real_floats("dawsn", x))


dawsn.defjvps(lambda g, out, x: g * (1 - 2 * x * out))


def _dawsn(x):
    """sqrt(pi) / 2 times the imaginary part of w(x); near 0 a series (DLMF 7.6.2 with 7.5.1)."""
    near = jnp.clip(x, -0.5, 0.5)
    weights = [1.0]
    for k in range(1, 16):
        weights.append(weights[-1] * -2 / (2 * k + 1))
    series = near * polynomial(weights, near * near)
    y = jnp.where(jnp.abs(x) < np.inf, x, 1)
    scale, coefficients = _weideman_expansion()
    # (scale + i y) / (scale - i y) lies on the unit circle
    size = scale * scale + y * y
    ratio = lax.complex((scale * scale - y * y) / size, 2 * scale * y / size)
    value = 0
    for c in coefficients[::-1]:
        value = value * ratio + c
    back = lax.complex(scale / size, y / size)  # 1 / (scale - i y)
    far = (value * back * back).imag * math.sqrt(np.pi) + back.imag / 2
    out = jnp.where(jnp.abs(x) < 0.5, series, far)
    return jnp.where(jnp.isinf(x), 1 / jnp.where(x == 0, 1, x), jnp.where(jnp.isnan(x), x, out))


def erfcinv(y: ArrayLike) -> Array:
    """Returns the inverse of `erfc`, accurate near 0 too.

    Args:
      y: an array of real numbers; integers are converted to the default float.

    Returns:
      Float array of the shape of `y`: inf at 0, -inf at 2, NaN outside of [0, 2].

    Raises:
      ValueError: complex numbers.

    Examples:
      >>> onax.scipy.special.erfcinv(jnp.array([0.0, 1.0, 2.0]))
      Array([ inf,   0., -inf], dtype=float32)
    """
    (y,) = promote_real_floats("erfcinv", y)
    y = lax.convert_element_type(y, y.dtype)  # in JAX the result is never weakly typed
    return compute_in_float32(_erfcinv_of_floats)(y)


@custom_jvp
def _erfcinv_of_floats(y):
    return _erfcinv(y)


_erfcinv_of_floats.defjvps(lambda g, out, y: g * (-math.sqrt(np.pi) / 2 * jnp.exp(out * out)))


@staged("erfcinv")
def _erfcinv(y):
    """erf_inv(1 - y), which is exact above 1/2; of small y and of y near 2 by the tail of erfc."""
    tail = jnp.minimum(y, 2 - y)
    small = (tail > 0) & (tail < 0.1)
    far = erfc_inv_of_small(jnp.where(small, tail, 0.05))
    return jnp.where(small, jnp.where(y < 1, far, -far), lax.erf_inv(1 - y))


def owens_t(h: ArrayLike, a: ArrayLike) -> Array:
    """Returns Owen's T function: the integral of exp(-h**2 (1 + t**2) / 2) / (1 + t**2) / (2 pi) from 0 to a.

    Args:
      h: an array of real numbers.
      a: an array that broadcasts with `h`.

    Returns:
      Array of the common shape, of the default float dtype.

    Raises:
      ValueError: complex numbers.

    Examples:
      >>> onax.scipy.special.owens_t(0.0, jnp.array([0.0, 1.0])).round(4)
      Array([0.   , 0.125], dtype=float32)
    """
    dtype = dtypes.scalar_dtype(float)
    return _owens_t_of_floats(*(x.astype(dtype) for x in promote_real_floats("owens_t", h, a)))


@custom_jvp
def _owens_t_of_floats(h, a):
    return _owens_t(h, a)


_owens_t_of_floats.defjvps(
    lambda g, out, h, a: -g * jnp.exp(-h * h / 2) * lax.erf(jnp.asarray(a * h / math.sqrt(2))) / math.sqrt(8 * np.pi),
    lambda g, out, h, a: g * jnp.exp(-h * h * (1 + a * a) / 2) / (2 * np.pi * (1 + a * a)),
)


def _owens_t(h, a):
    """Gauss' rule for |a| up to 1; larger a is reduced to 1 / a (D. Owen, 1956, 2.3 and 2.5)."""
    h, a = broadcast_arguments("owens_t", h, a)
    y, b = jnp.abs(h), jnp.abs(a)
    steep = b > 1
    # outside of [0, 1] the roles of h and a h change
    first = jnp.where(steep, jnp.where(jnp.isinf(b), np.inf, y * b), y)
    slope = jnp.where(steep, 1 / b, b)
    first = jnp.where(steep & (y == 0), 0, first)
    inner = _owens_t_by_quadrature(jnp.minimum(first, 40), slope)
    q_h, q_ah = (lax.erfc(v / math.sqrt(2)) / 2 for v in (y, first))
    out = jnp.where(steep, (q_h + q_ah) / 2 - q_h * q_ah - inner, inner)
    out = jnp.where(jnp.isinf(y), 0, out)
    out = jnp.where(jnp.isinf(b) & (y == 0), 0.25, out)
    return jnp.where(jnp.isnan(h) | jnp.isnan(a), np.nan, jnp.where(a < 0, -out, out))


def _owens_t_by_quadrature(h, a):
    """The integral by quadrature; the integrand is negligible for h t beyond 10."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    end = jnp.minimum(a, 10 / jnp.maximum(h, 1e-3))[..., None]
    nodes, weights = (along_last_axis(v.astype(h.dtype), h.ndim + 1) for v in ((nodes + 1) / 2, weights / 2))
    t = end * nodes
    square = h[..., None] ** 2
    values = jnp.exp(-square * (1 + t * t) / 2) / (1 + t * t)
    return jnp.sum(values * weights, axis=-1) * end[..., 0] / (2 * np.pi)
