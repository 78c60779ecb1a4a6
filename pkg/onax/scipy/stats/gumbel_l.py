"""Gumbel's distribution of the smallest of many."""

from __future__ import annotations

from onax import numpy as jnp
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.scipy.stats._common import keep_inside, promote_parameters


def logpdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The logarithm of the density."""
    x, loc, scale = promote_parameters("gumbel_l.logpdf", x, loc, scale, keeps_weak_type=True)
    z = -(x - loc) / scale
    return keep_inside(scale > 0, -(z + jnp.exp(-z)) - jnp.log(scale), jnp.nan)


def pdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The density."""
    return jnp.exp(logpdf(x, loc, scale))


def cdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The probability of at most x."""
    x, loc, scale = promote_parameters("gumbel_l.cdf", x, loc, scale, keeps_weak_type=True)
    z = -(x - loc) / scale
    return keep_inside(scale > 0, -jnp.expm1(-jnp.exp(-z)), jnp.nan)


def logcdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The logarithm of `cdf`."""
    x, loc, scale = promote_parameters("gumbel_l.logcdf", x, loc, scale, keeps_weak_type=True)
    z = -(x - loc) / scale
    return keep_inside(scale > 0, jnp.log(-jnp.expm1(-jnp.exp(-z))), jnp.nan)


def sf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The probability of more than x."""
    x, loc, scale = promote_parameters("gumbel_l.sf", x, loc, scale, keeps_weak_type=True)
    z = -(x - loc) / scale
    return keep_inside(scale > 0, jnp.exp(-jnp.exp(-z)), jnp.nan)


def logsf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The logarithm of `sf`."""
    x, loc, scale = promote_parameters("gumbel_l.logsf", x, loc, scale, keeps_weak_type=True)
    z = -(x - loc) / scale
    return keep_inside(scale > 0, -jnp.exp(-z), jnp.nan)


def ppf(p: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The inverse of `cdf`."""
    p, loc, scale = promote_parameters("gumbel_l.ppf", p, loc, scale, keeps_weak_type=True)
    return keep_inside((p > 0) & (p < 1), loc + scale * jnp.log(-jnp.log1p(-p)), jnp.nan)
