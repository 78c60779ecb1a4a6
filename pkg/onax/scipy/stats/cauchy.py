"""Cauchy's distribution."""

from __future__ import annotations

import numpy as np

from onax import numpy as jnp
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.scipy.stats._common import promote_parameters


def logpdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The logarithm of the density."""
    x, loc, scale = promote_parameters("cauchy.logpdf", x, loc, scale, takes_complex=True)
    return -jnp.log(np.pi * scale) - jnp.log1p(jnp.square((x - loc) / scale))


def pdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The density."""
    return jnp.exp(logpdf(x, loc, scale))


def cdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The probability of at most x."""
    x, loc, scale = promote_parameters("cauchy.cdf", x, loc, scale, takes_complex=True)
    return jnp.arctan((x - loc) / scale) / np.pi + 0.5


def logcdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The logarithm of `cdf`."""
    x, loc, scale = promote_parameters("cauchy.logcdf", x, loc, scale, takes_complex=True)
    return jnp.log(jnp.arctan((x - loc) / scale) / np.pi + 0.5)


def sf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The probability of more than x."""
    x, loc, scale = promote_parameters("cauchy.sf", x, loc, scale, takes_complex=True)
    return jnp.arctan(-(x - loc) / scale) / np.pi + 0.5


def logsf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The logarithm of `sf`."""
    x, loc, scale = promote_parameters("cauchy.logsf", x, loc, scale, takes_complex=True)
    return jnp.log(jnp.arctan(-(x - loc) / scale) / np.pi + 0.5)


def ppf(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The inverse of `cdf`."""
    q, loc, scale = promote_parameters("cauchy.ppf", q, loc, scale, takes_complex=True)
    return loc + scale * jnp.tan(np.pi * q - np.pi / 2)


def isf(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The inverse of `sf`."""
    q, loc, scale = promote_parameters("cauchy.isf", q, loc, scale, takes_complex=True)
    return loc + scale * jnp.tan(np.pi / 2 - np.pi * q)
