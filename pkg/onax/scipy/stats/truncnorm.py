"""The normal distribution between a and b, which are in units of scale from loc."""

from __future__ import annotations

import numpy as np

from onax import numpy as jnp
from onax._core.api_functions import static_argnames
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.scipy import special
from onax.scipy.stats import norm
from onax.scipy.stats._common import promote_parameters


def _log_diff(p, q):
    """log(exp(p) - exp(q)) for p >= q."""
    same = p == q
    return jnp.where(same, -np.inf, p + jnp.log1p(-jnp.exp(jnp.where(same, -1, q - p))))


def _log_gauss_mass(a, b):
    """The log of the normal probability of [a, b]: from the tail that holds both, or else from the complement."""
    left, right = b <= 0, a > 0
    low, high = jnp.where(right, -b, a), jnp.where(right, -a, b)
    in_tail = left | right
    safe_low, safe_high = jnp.where(in_tail, low, -2), jnp.where(in_tail, high, -1)
    tail = _log_diff(special.log_ndtr(safe_high), special.log_ndtr(safe_low))
    outside = special.ndtr(jnp.where(in_tail, -1, a)) + special.ndtr(jnp.where(in_tail, -1, -b))
    return jnp.where(in_tail, tail, jnp.log1p(-outside))


@static_argnames()
def logpdf(x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The logarithm of the density; NaN unless a < b."""
    x, a, b, loc, scale = promote_parameters("truncnorm.logpdf", x, a, b, loc, scale)
    value = norm.logpdf(x, loc, scale) - _log_gauss_mass(a, b)
    z = (x - loc) / scale
    value = jnp.where((z < a) | (z > b), -np.inf, value)
    return jnp.where(a < b, value, np.nan)


def pdf(x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The density."""
    return jnp.exp(logpdf(x, a, b, loc, scale))


@static_argnames()
def logcdf(x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The logarithm of the probability of at most x; NaN unless a < b."""
    x, a, b, loc, scale = promote_parameters("truncnorm.logcdf", x, a, b, loc, scale)
    return _log_of_share(
        (x - loc) / scale, a, b, lambda z: _log_gauss_mass(a, z), lambda z: _log_gauss_mass(z, b), -np.inf, 0
    )


@static_argnames()
def logsf(x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The logarithm of the probability of more than x; NaN unless a < b."""
    x, a, b, loc, scale = promote_parameters("truncnorm.logsf", x, a, b, loc, scale)
    return _log_of_share(
        (x - loc) / scale, a, b, lambda z: _log_gauss_mass(z, b), lambda z: _log_gauss_mass(a, z), 0, -np.inf
    )


def _log_of_share(z, a, b, tail, complement, below, above):
    """The log of the probability exp(tail(z)) relative to that of [a, b]; from the complement if it is close to 1."""
    within = (z > a) & (z < b)
    safe = jnp.where(within, z, jnp.where(jnp.isfinite(a), a, b) / 2 + jnp.where(jnp.isfinite(b), b, a) / 2)
    total = _log_gauss_mass(a, b)
    share, rest = tail(safe) - total, complement(safe) - total
    value = jnp.where(share > -0.1, jnp.log1p(-jnp.exp(rest)), share)
    value = jnp.where(z <= a, below, jnp.where(z >= b, above, jnp.where(within, value, np.nan)))
    return jnp.where(a < b, value, np.nan)


@static_argnames()
def cdf(x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The probability of at most x."""
    return jnp.exp(logcdf(x, a, b, loc, scale))


@static_argnames()
def sf(x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The probability of more than x."""
    return jnp.exp(logsf(x, a, b, loc, scale))
