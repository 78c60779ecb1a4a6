"""The logistic distribution."""

from __future__ import annotations

from onax import numpy as jnp
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.numpy._ufuncs import constant_like
from onax.scipy import special
from onax.scipy.stats._common import promote_parameters


def logpdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The logarithm of the density."""
    x, loc, scale = promote_parameters("logistic.logpdf", x, loc, scale, keeps_weak_type=True, takes_complex=True)
    z = (x - loc) / (scale * 2)
    return constant_like(z, -2) * jnp.logaddexp(z, -z) - jnp.log(scale)


def pdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The density."""
    return jnp.exp(logpdf(x, loc, scale))


def cdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The probability of at most x."""
    x, loc, scale = promote_parameters("logistic.cdf", x, loc, scale, keeps_weak_type=True, takes_complex=True)
    return special.expit((x - loc) / scale)


def sf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The probability of more than x."""
    x, loc, scale = promote_parameters("logistic.sf", x, loc, scale, keeps_weak_type=True, takes_complex=True)
    return special.expit(-(x - loc) / scale)


def ppf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The inverse of `cdf`."""
    x, loc, scale = promote_parameters("logistic.ppf", x, loc, scale, takes_complex=True)
    return special.logit(x) * scale + loc


def isf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The inverse of `sf`."""
    x, loc, scale = promote_parameters("logistic.isf", x, loc, scale, takes_complex=True)
    return -special.logit(x) * scale + loc
