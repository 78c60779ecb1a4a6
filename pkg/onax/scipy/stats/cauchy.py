"""Cauchy's distribution."""

import numpy as np

from onax import numpy as jnp
from onax.scipy.stats._common import promote_parameters


def logpdf(x, loc=0, scale=1):
    """The logarithm of the density."""
    x, loc, scale = promote_parameters("cauchy.logpdf", x, loc, scale, takes_complex=True)
    return -jnp.log(np.pi * scale) - jnp.log1p(jnp.square((x - loc) / scale))


def pdf(x, loc=0, scale=1):
    """The density."""
    return jnp.exp(logpdf(x, loc, scale))


def cdf(x, loc=0, scale=1):
    """The probability of at most x."""
    x, loc, scale = promote_parameters("cauchy.cdf", x, loc, scale, takes_complex=True)
    return jnp.arctan((x - loc) / scale) / np.pi + 0.5


def logcdf(x, loc=0, scale=1):
    """The logarithm of `cdf`."""
    x, loc, scale = promote_parameters("cauchy.logcdf", x, loc, scale, takes_complex=True)
    return jnp.log(jnp.arctan((x - loc) / scale) / np.pi + 0.5)


def sf(x, loc=0, scale=1):
    """The probability of more than x."""
    x, loc, scale = promote_parameters("cauchy.sf", x, loc, scale, takes_complex=True)
    return jnp.arctan(-(x - loc) / scale) / np.pi + 0.5


def logsf(x, loc=0, scale=1):
    """The logarithm of `sf`."""
    x, loc, scale = promote_parameters("cauchy.logsf", x, loc, scale, takes_complex=True)
    return jnp.log(jnp.arctan(-(x - loc) / scale) / np.pi + 0.5)


def ppf(q, loc=0, scale=1):
    """The inverse of `cdf`."""
    q, loc, scale = promote_parameters("cauchy.ppf", q, loc, scale, takes_complex=True)
    return loc + scale * jnp.tan(np.pi * q - np.pi / 2)


def isf(q, loc=0, scale=1):
    """The inverse of `sf`."""
    q, loc, scale = promote_parameters("cauchy.isf", q, loc, scale, takes_complex=True)
    return loc + scale * jnp.tan(np.pi / 2 - np.pi * q)
