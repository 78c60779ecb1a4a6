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
    return mask_outside(x < loc + scale, -(jnp.log(scale / b) + (b + 1) * jnp.log(z)))


def pdf(x: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The density."""
    return jnp.exp(logpdf(x, b, loc, scale))


def cdf(x: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The probability of at most x."""
    x, b, loc, scale = promote_parameters("pareto.cdf", x, b, loc, scale)
    return mask_outside(x < loc + scale, 1 - jnp.power((x - loc) / scale, -b), 0)


def logcdf(x: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The logarithm of `cdf`."""
    x, b, loc, scale = promote_parameters("pareto.logcdf", x, b, loc, scale, keeps_weak_type=True)
    return mask_outside(x < loc + scale, jnp.log1p(-jnp.power((x - loc) / scale, -b)))


def sf(x: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The probability of more than x."""
    x, b, loc, scale = promote_parameters("pareto.sf", x, b, loc, scale)
    return jnp.exp(mask_outside(x < loc + scale, -b * jnp.log((x - loc) / scale), 0))


def logsf(x: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The logarithm of `sf`."""
    x, b, loc, scale = promote_parameters("pareto.logsf", x, b, loc, scale)
    return mask_outside(x < loc + scale, -b * jnp.log((x - loc) / scale), 0)


def ppf(q: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The inverse of `cdf`."""
    q, b, loc, scale = promote_parameters("pareto.ppf", q, b, loc, scale, takes_complex=True)
    return keep_inside((q >= 0) & (q <= 1), loc + scale * (1 - q) ** (-1 / b), jnp.nan)
