"""The beta distribution."""

from __future__ import annotations

from onax import numpy as jnp
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.scipy import special
from onax.scipy.stats._common import mask_outside, promote_parameters


def logpdf(x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The logarithm of the density."""
    x, a, b, loc, scale = promote_parameters("beta.logpdf", x, a, b, loc, scale)
    z = (x - loc) / scale
    value = special.xlogy(a - 1, z) + special.xlog1py(b - 1, -z) - special.betaln(a, b) - jnp.log(scale)
    value = mask_outside((x < loc) | (x > loc + scale), value)
    return mask_outside((a <= 0) | (b <= 0) | (scale <= 0), value, jnp.nan)


def pdf(x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The density."""
    return jnp.exp(logpdf(x, a, b, loc, scale))


def cdf(x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The probability of at most x."""
    x, a, b, loc, scale = promote_parameters("beta.cdf", x, a, b, loc, scale)
    z = jnp.clip((x - loc) / scale, 0, 1)
    return special.betainc(a, b, z)


def logcdf(x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The logarithm of `cdf`."""
    x, a, b, loc, scale = promote_parameters("beta.logcdf", x, a, b, loc, scale)
    z = jnp.clip((x - loc) / scale, 0, 1)
    return jnp.log(special.betainc(a, b, z))


def sf(x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The probability of more than x."""
    x, a, b, loc, scale = promote_parameters("beta.sf", x, a, b, loc, scale)
    z = jnp.clip((x - loc) / scale, 0, 1)
    return special.betainc(b, a, 1 - z)


def logsf(x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The logarithm of `sf`."""
    x, a, b, loc, scale = promote_parameters("beta.logsf", x, a, b, loc, scale)
    z = jnp.clip((x - loc) / scale, 0, 1)
    return jnp.log(special.betainc(b, a, 1 - z))
