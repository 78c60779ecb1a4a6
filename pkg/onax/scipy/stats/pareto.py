"""Pareto's distribution with exponent b."""

from __future__ import annotations

from onax import numpy as jnp
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.scipy.stats._common import keep_inside, mask_outside, promote_parameters


def logpdf(x: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The logarithm of the density."""
    x, b, loc, scale = promote_parameters("pareto.logpdf", x, b, loc, scale)
    z = (x - loc) / scale
    return mask_outside(z < 1, jnp.log(b) - jnp.log(scale) - (b + 1) * jnp.log(z))


def pdf(x: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The density."""
    return jnp.exp(logpdf(x, b, loc, scale))


def _clamp_to_one(z):
    return jnp.where(z < 1, 1, z)


def cdf(x: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The probability of at most x."""
    x, b, loc, scale = promote_parameters("pareto.cdf", x, b, loc, scale)
    z = _clamp_to_one((x - loc) / scale)
    return -jnp.expm1(-b * jnp.log(z))


def logcdf(x: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The logarithm of `cdf`."""
    x, b, loc, scale = promote_parameters("pareto.logcdf", x, b, loc, scale, keeps_weak_type=True)
    z = (x - loc) / scale
    below = z < 1
    share = 0 - jnp.expm1(-b * jnp.log(jnp.where(below, 2, z)))  # 0 at the edge, not -0, whose slope is -inf
    return mask_outside(below, jnp.log(share))


def sf(x: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The probability of more than x."""
    x, b, loc, scale = promote_parameters("pareto.sf", x, b, loc, scale)
    z = _clamp_to_one((x - loc) / scale)
    return jnp.exp(-b * jnp.log(z))


def logsf(x: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The logarithm of `sf`."""
    x, b, loc, scale = promote_parameters("pareto.logsf", x, b, loc, scale)
    z = _clamp_to_one((x - loc) / scale)
    return -b * jnp.log(z)


def ppf(q: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The inverse of `cdf`."""
    q, b, loc, scale = promote_parameters("pareto.ppf", q, b, loc, scale, takes_complex=True)
    return keep_inside((q >= 0) & (q <= 1), loc + scale * (1 - q) ** (-1 / b), jnp.nan)
