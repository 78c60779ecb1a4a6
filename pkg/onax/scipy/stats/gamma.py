"""The gamma distribution with shape a."""

from __future__ import annotations

from onax import numpy as jnp
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.scipy import special
from onax.scipy.stats._common import keep_inside, mask_outside, promote_parameters


def logpdf(x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The logarithm of the density."""
    x, a, loc, scale = promote_parameters("gamma.logpdf", x, a, loc, scale)
    z = (x - loc) / scale
    value = special.xlogy(a - 1, z) - z - special.gammaln(a) - jnp.log(scale)
    return keep_inside(x >= loc, value)


def pdf(x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The density."""
    return jnp.exp(logpdf(x, a, loc, scale))


def _standardize(name, x, a, loc, scale, keeps_weak_type=False):
    x, a, loc, scale = promote_parameters(f"gamma.{name}", x, a, loc, scale, keeps_weak_type=keeps_weak_type)
    return a, jnp.maximum((x - loc) / scale, 0)


def cdf(x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The probability of at most x."""
    a, z = _standardize("cdf", x, a, loc, scale)
    return special.gammainc(a, z)


def logcdf(x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The logarithm of `cdf`."""
    a, z = _standardize("logcdf", x, a, loc, scale)
    return jnp.log(special.gammainc(a, z))


def _sf(name, x, a, loc, scale):
    x, a, loc, scale = promote_parameters(f"gamma.{name}", x, a, loc, scale, keeps_weak_type=True)
    z = (x - loc) / scale
    return mask_outside(z < 0, special.gammaincc(a, z), 1)


def sf(x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The probability of more than x."""
    return _sf("sf", x, a, loc, scale)


def logsf(x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The logarithm of `sf`."""
    return jnp.log(_sf("logsf", x, a, loc, scale))
