"""The exponential distribution."""

from __future__ import annotations

from onax import numpy as jnp
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.scipy.stats._common import keep_inside, mask_outside, promote_parameters


def logpdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The logarithm of the density."""
    x, loc, scale = promote_parameters("expon.logpdf", x, loc, scale, keeps_weak_type=True)
    return mask_outside(x < loc, -(x - loc) / scale - jnp.log(scale))


def pdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The density."""
    return jnp.exp(logpdf(x, loc, scale))


def cdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The probability of at most x."""
    x, loc, scale = promote_parameters("expon.cdf", x, loc, scale, keeps_weak_type=True)
    return mask_outside(x < loc, -jnp.expm1(-(x - loc) / scale), 0)


def logcdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The logarithm of `cdf`."""
    x, loc, scale = promote_parameters("expon.logcdf", x, loc, scale, keeps_weak_type=True)
    return jnp.log1p(-jnp.exp(mask_outside(x < loc, -(x - loc) / scale, 0)))


def sf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The probability of more than x."""
    x, loc, scale = promote_parameters("expon.sf", x, loc, scale, keeps_weak_type=True)
    return mask_outside(x < loc, jnp.exp(-(x - loc) / scale), 1)


def logsf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The logarithm of `sf`."""
    x, loc, scale = promote_parameters("expon.logsf", x, loc, scale, keeps_weak_type=True)
    return mask_outside(x < loc, -(x - loc) / scale, 0)


def ppf(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The inverse of `cdf`."""
    q, loc, scale = promote_parameters("expon.ppf", q, loc, scale, keeps_weak_type=True, takes_complex=True)
    return keep_inside((q >= 0) & (q <= 1), loc - scale * jnp.log1p(-q), jnp.nan)
