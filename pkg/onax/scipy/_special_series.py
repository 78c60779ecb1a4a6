"""Hypergeometric functions, Bessel functions and spherical harmonics for onax.scipy.special: sums and recurrences.

Formulas are those of NIST's Digital Library of Mathematical Functions (DLMF), chapters 10, 13, 14 and 15.
"""

from __future__ import annotations

import math
import operator

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._control.custom_jvp import custom_jvp
from onax._core.api_functions import static_argnames
from onax._core.trace import to_concrete_value
from onax._ground.errors import ConcretizationTypeError
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.numpy._promotion import check_arraylike, ensure_arraylike
from onax.scipy._special_common import broadcast_arguments, compute_in_float32, gamma_sign, promote_real_floats

_MOST_TERMS = 20000


def _hypergeometric_sum(over, under, x, differentiated=False):
    """The sum of prod (a)_n / prod (b)_n x^n / n!, and its derivatives in each of a and b, as a tuple, on request.

    The loop ends when no term changes its sum any more.
    """
    parameters = (*over, *under) if differentiated else ()
    eps = jnp.finfo(x.dtype).eps

    def goes_on(state):
        return state[-1] & (state[0] < _MOST_TERMS)

    def step(state):
        n, term, slopes, total, sums, _ = state
        k = n.astype(x.dtype)
        factors = [a + k for a in over], [b + k for b in under]
        ratio = x / (k + 1)
        for f in factors[0]:
            ratio = ratio * f
        for f in factors[1]:
            ratio = ratio / f
        new = []
        for i, slope in enumerate(slopes):
            mine = i if i < len(over) else i - len(over)
            f = (factors[0] if i < len(over) else factors[1])[mine]
            # the derivative of the ratio is ratio / f, or -ratio / f; of a factor 0 the others are left
            if i < len(over):
                rest = x / (k + 1)
                for j, other in enumerate(factors[0]):
                    rest = rest if j == mine else rest * other
                for other in factors[1]:
                    rest = rest / other
                new.append(slope * ratio + term * rest)
            else:
                new.append(slope * ratio - term * ratio / f)
        term = term * ratio
        total, sums = total + term, tuple(s + t for s, t in zip(sums, new))
        large = jnp.any((jnp.abs(term) > eps * jnp.abs(total)) & jnp.isfinite(total))
        for s, t in zip(sums, new):
            large = large | jnp.any((jnp.abs(t) > eps * jnp.abs(s)) & jnp.isfinite(s))
        return n + 1, term, tuple(new), total, sums, large

    one, zero = jnp.ones_like(x), jnp.zeros_like(x)
    zeros = (zero,) * len(parameters)
    state = lax.while_loop(goes_on, step, (0, one, zeros, one, zeros, jnp.array(True)))
    return state[3], state[4]


def _jvp_by_series(name, function, series, primals, tangents):
    """The value and its derivative, whose partial derivatives `series` sums."""
    out = function(*primals)
    args = broadcast_arguments(name, *promote_real_floats(name, *primals))
    slopes = compute_in_float32(lambda *xs: series(*xs, differentiated=True))(*args)
    return out, sum(s * g for s, g in zip(slopes, tangents))


# ---- the confluent function


@custom_jvp
def hyp1f1(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """Returns the confluent hypergeometric function, Kummer's M(a, b, x), by its series.

    It has derivatives in all three arguments.

    Args:
      a: an array of real numbers.
      b: an array of real numbers.
      x: an array of real numbers.

    Returns:
      Float array of the common shape.

    Raises:
      ValueError: complex numbers.

    Examples:
      >>> onax.scipy.special.hyp1f1(1.0, 1.0, jnp.array([0.0]))
      Array([1.], dtype=float32)
    """
    args = broadcast_arguments("hyp1f1", *promote_real_floats("hyp1f1", a, b, x))
    return compute_in_float32(_kummer)(*args)


@hyp1f1.defjvp
def _hyp1f1_jvp(primals, tangents):
    return _jvp_by_series("hyp1f1", hyp1f1, _kummer, primals, tangents)


def _kummer(a, b, x, differentiated=False):
    """The value, or the derivatives in a, b and x; left of 0 by DLMF 13.2.39, for terms of one sign."""
    left = x < 0
    upper, argument = jnp.where(left, b - a, a), jnp.abs(x)
    usable = argument < np.inf
    argument = jnp.where(usable, argument, 1)
    value, slopes = _hypergeometric_sum((upper,), (b,), argument, differentiated)
    scale = jnp.where(left, jnp.exp(-argument), 1)
    if not differentiated:
        beyond = jnp.where(x == np.inf, np.inf, jnp.where(left, 0, np.nan))
        return jnp.where(usable, scale * value, beyond)
    in_upper, in_b = slopes
    in_x = upper / b * _hypergeometric_sum((upper + 1,), (b + 1,), argument)[0]
    return (
        scale * jnp.where(left, -in_upper, in_upper),
        scale * jnp.where(left, in_upper + in_b, in_b),
        scale * jnp.where(left, value - in_x, in_x),
    )


# ---- Gauss' function


@custom_jvp
def hyp2f1(a: ArrayLike, b: ArrayLike, c: ArrayLike, x: ArrayLike) -> Array:
    """Returns Gauss' hypergeometric function F(a, b; c; x), by its series.

    Close to 1 the reflection of DLMF 15.8.4 takes its place; digits are lost there if c - a - b is close to an integer.
    It has derivatives in all four arguments.

    Args:
      a: an array of real numbers.
      b: an array of real numbers.
      c: an array of real numbers.
      x: an array of real numbers up to 1.

    Returns:
      Float array of the common shape; inf for x > 1.

    Raises:
      ValueError: complex numbers.

    Examples:
      >>> onax.scipy.special.hyp2f1(1.0, 1.0, 2.0, jnp.array([0.0]))
      Array([1.], dtype=float32)
    """
    args = broadcast_arguments("hyp2f1", *promote_real_floats("hyp2f1", a, b, c, x))
    return compute_in_float32(_gauss)(*args)


@hyp2f1.defjvp
def _hyp2f1_jvp(primals, tangents):
    return _jvp_by_series("hyp2f1", hyp2f1, _gauss, primals, tangents)


def _gauss(a, b, c, x, differentiated=False):
    """The value, or the derivatives in a, b, c and x; left of 0 by Pfaff's transformation, DLMF 15.8.1."""
    left = x < 0
    argument = jnp.where(left, x / (x - 1), x)
    inside = (argument >= 0) & (argument < 1)
    argument = jnp.where(inside, argument, 0.5)
    second = jnp.where(left, c - b, b)
    value, slopes = _hypergeometric_sum((a, second), (c,), argument, differentiated)
    value = _gauss_near_one(a, second, c, argument, value)
    safe = jnp.where(left, x, 0)
    scale, log = (1 - safe) ** -a, jnp.log1p(-safe)
    if not differentiated:
        out = jnp.where(inside, scale * value, jnp.where(jnp.isnan(x), x, np.inf))
        out = jnp.where(x == 1, _gauss_at_one(a, b, c), out)
        return jnp.where(((a == 0) | (b == 0)) & (c != 0) & ~jnp.isnan(x), 1, out).astype(out.dtype)
    in_a, in_second, in_c = slopes
    in_place = a * second / c * _hypergeometric_sum((a + 1, second + 1), (c + 1,), argument)[0]
    return (
        scale * (in_a - jnp.where(left, log * value, 0)),
        scale * jnp.where(left, -in_second, in_second),
        scale * jnp.where(left, in_second + in_c, in_c),
        scale * jnp.where(left, a * value / (1 - safe) - in_place / (1 - safe) ** 2, in_place),
    )


def _gamma_quotient(over, under):
    """The quotient of products of gamma functions; 0 at poles of the denominator."""
    logarithm, sign = 0, 1
    for g in over:
        logarithm, sign = logarithm + lax.lgamma(g), sign * gamma_sign(g)
    for g in under:
        pole = (g <= 0) & (g == jnp.floor(g))
        logarithm, sign = logarithm - lax.lgamma(g), jnp.where(pole, 0, sign * jnp.where(pole, 1, gamma_sign(g)))
    return jnp.where(sign == 0, 0, sign * jnp.exp(jnp.where(sign == 0, 0, logarithm)))


def _gauss_at_one(a, b, c):
    """Gauss' sum, DLMF 15.4.20; a polynomial where a or b is an integer not above 0."""
    return jnp.where(c - a - b > 0, _gamma_quotient((c, c - a - b), (c - a, c - b)), np.inf)


def _gauss_near_one(a, b, c, x, value):
    """DLMF 15.8.4 where x is above 0.9 and c - a - b is not an integer, else the value."""
    apart = c - a - b
    used = (x > 0.9) & (jnp.abs(apart - jnp.round(apart)) > 0.01)
    apart = jnp.where(used, apart, 0.5)
    rest = jnp.where(used, 1 - x, 0.01)
    first, _ = _hypergeometric_sum((a, b), (1 - apart,), rest)
    second, _ = _hypergeometric_sum((c - a, c - b), (1 + apart,), rest)
    turned = _gamma_quotient((c, apart), (c - a, c - b)) * first
    turned = turned + rest**apart * _gamma_quotient((c, -apart), (a, b)) * second
    return jnp.where(used, turned, value)


# ---- Bessel functions


@static_argnames("n_iter", "v")
def bessel_jn(z: ArrayLike, *, v: int, n_iter: int = 50) -> Array:
    """Returns Bessel functions of the first kind of the orders 0 to v.

    The method is Miller's recurrence, downward from order `n_iter`, which must exceed |z| and v by some 20.

    Args:
      z: an array of real numbers.
      v: the highest order, an int.
      n_iter: the order at which the recurrence begins, an int; default 50.

    Returns:
      Float array of shape (v + 1, *z.shape).

    Raises:
      TypeError: `v` or `n_iter` is not an integer.
      ValueError: complex numbers.

    Examples:
      >>> onax.scipy.special.bessel_jn(jnp.array([0.0, 1.0]), v=1).round(4)
      Array([[1.    , 0.7652],
             [0.    , 0.4401]], dtype=float32)
    """
    (z,) = promote_real_floats("bessel_jn", ensure_arraylike("bessel_jn", z))
    v, n_iter = operator.index(v), operator.index(n_iter)
    return compute_in_float32(lambda x: _miller(x, v, n_iter))(z)


def _miller(z, v, n_iter):
    """DLMF 3.6(iii): a multiple of the functions, scaled by J0 + 2 J2 + 2 J4 + ... = 1."""
    start = max(n_iter, v + 1)
    y = jnp.where(z == 0, 1, jnp.abs(z))
    large = np.sqrt(np.finfo(z.dtype).max)

    def step(carry, n):
        above, here, total, results = carry
        below = 2 * n.astype(z.dtype) / y * here - above
        # below is of order n - 1
        scale = jnp.where(jnp.abs(below) > large, 1 / large, 1)
        above, here, total, results = here * scale, below * scale, total * scale, results * scale[None]
        total = total + jnp.where(n % 2 == 1, here, 0) * jnp.where(n == 1, 1, 2)
        at = jnp.arange(v + 1, dtype=n.dtype).reshape(-1, *[1] * z.ndim)
        return (above, here, total, jnp.where(at == n - 1, here[None], results)), None

    tiny = jnp.full_like(y, np.finfo(z.dtype).tiny)
    carry = jnp.zeros_like(y), tiny, jnp.zeros_like(y), jnp.zeros((v + 1, *z.shape), z.dtype)
    orders = np.arange(start, 0, -1, dtype=np.int32)
    (_, _, total, results), _ = lax.scan(step, carry, orders)
    scaled = results / total[None]
    order = np.arange(v + 1).reshape(-1, *[1] * z.ndim)
    scaled = jnp.where((z < 0)[None] & (order % 2 == 1), -scaled, scaled)
    return jnp.where((z == 0)[None], np.asarray(order == 0, z.dtype), scaled)


# ---- spherical harmonics


def sph_harm_y(
    n: ArrayLike, m: ArrayLike, theta: ArrayLike, phi: ArrayLike, diff_n: int | None = None, n_max: int | None = None
) -> Array:
    """Returns spherical harmonics.

    Args:
      n: the degree, nonnegative integers.
      m: the order, integers with |m| <= n.
      theta: the polar angle in radians.
      phi: the azimuth in radians.
      diff_n: None: derivatives are not returned.
      n_max: an int, to which larger `n` are reduced; needed where `n` is traced.

    Returns:
      Complex array of the common shape.

    Raises:
      TypeError: degrees that are not integers.
      NotImplementedError: `diff_n` is given.
      ConcretizationTypeError: `n` is traced, and `n_max` is None.

    Examples:
      >>> onax.scipy.special.sph_harm_y(0, 0, 0.0, 0.0).real.round(4)
      Array(0.2821, dtype=float32)
    """
    if diff_n is not None:
        raise NotImplementedError("The 'diff_n' argument to jax.scipy.special.sph_harm_y is not supported.")
    n, m, theta, phi = check_arraylike("sph_harm_y", n, m, theta, phi)
    n, m = jnp.asarray(n), jnp.asarray(m)
    for name, x in (("n", n), ("m", m)):
        if not jnp.issubdtype(x.dtype, jnp.integer):
            raise TypeError(f"sph_harm_y: {name} must be an integer, got dtype {x.dtype}")
    if n_max is None:
        concrete = to_concrete_value(n)
        if concrete is None:
            raise ConcretizationTypeError(
                n, "The `n_max` argument of `sph_harm_y` must be statically specified where n is traced."
            )
        n_max = int(np.max(concrete, initial=0))
    theta, phi = promote_real_floats("sph_harm_y", theta, phi)
    n, m, theta, phi = jnp.broadcast_arrays(n, m, theta, phi)
    order, n_max = jnp.abs(m), operator.index(n_max)
    legendre = _legendre(jnp.minimum(n, n_max), order, theta, n_max)
    value = lax.complex(legendre * jnp.cos(order * phi), legendre * jnp.sin(order * phi))
    mirrored = jnp.where(order % 2 == 1, -jnp.conj(value), jnp.conj(value))
    return jnp.where(m < 0, mirrored, value)


def _legendre(n, m, theta, n_max):
    """Normalised associated Legendre functions of cos(theta), upward in the degree (DLMF 14.10.3); 0 for m > n.  sin
    stands for the root of 1 - cos^2, also of negative angles."""
    x, order = jnp.cos(theta), m.astype(theta.dtype)
    # P_m^m: (-1)^m sqrt((2 m + 1) / (4 pi) (1/2)_m / m!) |sin|^m
    size = lax.lgamma(order + 0.5) - lax.lgamma(order + 1) - 0.5 * math.log(np.pi)
    start = jnp.sqrt((2 * order + 1) / (4 * np.pi)) * jnp.exp(size / 2) * jnp.abs(jnp.sin(theta)) ** m
    start = jnp.where(m % 2 == 1, -start, start)

    def step(carry, k):
        before, here = carry
        degree = order + k
        square = degree * degree
        a = jnp.sqrt((4 * square - 1) / (square - order * order))
        below = (degree - 1) ** 2
        b = jnp.sqrt((below - order * order) / (4 * below - 1))
        b = jnp.where(k == 1, 0, b)
        after = jnp.where(m + k.astype(m.dtype) <= n, a * (x * here - b * before), here)
        before = jnp.where(m + k.astype(m.dtype) <= n, here, before)
        return (before, after), None

    steps = np.arange(1, n_max + 1).astype(theta.dtype)
    (_, values), _ = lax.scan(step, (jnp.zeros_like(start), start), steps)
    return jnp.where(m <= n, values, 0)


def lpmn_values(m, n, z, is_normalized):
    """Returns the associated Legendre functions of the first kind, of all orders and degrees up to a largest one.

    By recurrence upward in the degree (DLMF 14.10.3), with the phase (-1)^m.

    Args:
      m: the largest order, an int.
      n: the largest degree, an int; it must equal `m`.
      z: where the functions are computed, (k,), float32 or float64.
      is_normalized: whether they are scaled so that spherical harmonics made of them are orthonormal.

    Returns:
      Array (n + 1, n + 1, k) of the dtype of `z`: by order, degree and point; 0 where the order exceeds the degree.

    Raises:
      TypeError: another dtype.
      ValueError: `z` has another number of axes.
      NotImplementedError: `m` and `n` differ.

    Examples:
      >>> from onax.scipy.special import lpmn_values
      >>> lpmn_values(1, 1, jnp.array([0.5]), False)[0, 1]
      Array([0.5], dtype=float32)
    """
    z = jnp.asarray(z)
    if z.dtype not in (np.float32, np.float64):
        raise TypeError(f"z.dtype={z.dtype} is not supported, see docstring for supported types.")
    if z.ndim != 1:
        raise ValueError("z must be a 1D array.")
    m, n = operator.index(m), operator.index(n)
    if m != n:
        raise NotImplementedError("Computations for m!=n are not yet supported.")
    order = np.arange(n + 1.0)
    sine = jnp.sqrt(1 - z * z)
    diagonal = jnp.full_like(z, math.sqrt(0.25 / np.pi) if is_normalized else 1)
    before, here = jnp.zeros((n + 1, len(z)), z.dtype), jnp.zeros((n + 1, len(z)), z.dtype)
    degrees = []
    for degree in range(n + 1):
        if degree:
            factor = math.sqrt(1 + 0.5 / degree) if is_normalized else 2 * degree - 1
            diagonal = -factor * sine * diagonal
        a, b = (c.astype(z.dtype)[:, None] for c in _recurrence(degree, order, is_normalized))
        after = jnp.where((order < degree)[:, None], a * (z[None] * here) - b * before, 0)
        before, here = here, after.at[degree].set(diagonal)
        degrees.append(here)
    return jnp.stack(degrees, 1)


def lpmn(m, n, z):
    """Returns the associated Legendre functions of the first kind and their derivatives, up to a largest degree.

    With the phase (-1)^m.  Derivatives are those of DLMF 14.10.5, written with functions of one degree less that are
    finite where the argument is 1 or -1.

    Args:
      m: the largest order, an int.
      n: the largest degree, an int; it must equal `m`.
      z: where the functions are computed, (k,), float32 or float64.

    Returns:
      (values, derivatives): two arrays (n + 1, n + 1, k) of the dtype of `z`, by order, degree and point; 0 where the
      order exceeds the degree.

    Raises:
      TypeError: another dtype.
      ValueError: `z` has another number of axes.
      NotImplementedError: `m` and `n` differ.

    Examples:
      >>> from onax.scipy.special import lpmn
      >>> lpmn(1, 1, jnp.array([0.5]))[1][0, 1]
      Array([1.], dtype=float32)
    """
    z = jnp.asarray(z)
    values = lpmn_values(m, n, z, False)
    size = values.shape[0]
    order, degree = (x[..., None].astype(z.dtype) for x in np.ogrid[0 : size + 1, 0:size])
    below = jnp.pad(values[:, :-1], ((0, 3), (1, 0), (0, 0)))  # of one degree less, for orders up to size + 2
    # P_l^m / sin for m = 1, 2, ..., size, and for m = 0
    k = order[1:]
    shares = (below[2 : size + 2] + (degree + k - 1) * (degree + k) * below[:size]) / (-2 * k)
    first = values[:1] / jnp.sqrt(1 - z * z)[None, None]
    left = jnp.concatenate([first, shares[: size - 1]])
    k = order[1:size]
    others = ((degree + k) * (degree - k + 1) * left[: size - 1] - shares[1:]) / 2
    derivatives = jnp.concatenate([-shares[:1], others])
    return values, jnp.where(order[:size] <= degree, derivatives, 0)


def _recurrence(degree, order, is_normalized):
    """Factors of z P_{l-1}^m and of P_{l-2}^m in P_l^m, for each order m below the degree l."""
    below = order < degree
    m = np.where(below, order, 0)
    if not is_normalized:
        left = np.where(below, degree - m, 1)
        return (2 * degree - 1) / left, (degree - 1 + m) / left
    a = np.sqrt((4 * degree**2 - 1) / np.where(below, degree**2 - m**2, 1)) if degree else 0 * m
    square = (degree - 1) ** 2
    b = np.sqrt(np.maximum(square - m**2, 0) / (4 * square - 1)) if degree > 1 else 0 * m
    return a, a * b
