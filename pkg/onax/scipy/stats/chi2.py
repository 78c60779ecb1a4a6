"""The chi-squared distribution with df degrees of freedom."""

from __future__ import annotations

import math

from onax import numpy as jnp
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.numpy._ufuncs import constant_like
from onax.scipy import special
from onax.scipy.stats import gamma
from onax.scipy.stats._common import mask_outside, promote_parameters


def logpdf(x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The logarithm of the density."""
    x, df, loc, scale = promote_parameters("chi2.logpdf", x, df, loc, scale)
    z = (x - loc) / scale
    half = df / 2
    value = special.xlogy(half - 1, z) - z / 2 - special.gammaln(half) - half * math.log(2) - jnp.log(scale)
    return mask_outside(x < loc, value)


def pdf(x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The density."""
    return jnp.exp(logpdf(x, df, loc, scale))


def _gamma_parameters(name, x, df, loc, scale):
    x, df, loc, scale = promote_parameters(f"chi2.{name}", x, df, loc, scale)
    two = constant_like(scale, 2)
    return x, df / two, loc, two * scale


def cdf(x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The probability of at most x."""
    return gamma.cdf(*_gamma_parameters("cdf", x, df, loc, scale))


def logcdf(x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The logarithm of `cdf`."""
    return gamma.logcdf(*_gamma_parameters("logcdf", x, df, loc, scale))


def _sf(name, x, df, loc, scale):
    x, half, loc, scale = _gamma_parameters(name, x, df, loc, scale)
    return special.gammaincc(half, jnp.maximum((x - loc) / scale, 0))


def sf(x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The probability of more than x."""
    return _sf("sf", x, df, loc, scale)


def logsf(x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The logarithm of `sf`."""
    return jnp.log(_sf("logsf", x, df, loc, scale))
