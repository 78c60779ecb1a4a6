"""Laplace's distribution, with exponential tails on both sides."""

from onax import numpy as jnp
from onax.scipy.stats._common import promoted


def logpdf(x, loc=0, scale=1):
    """The logarithm of the density."""
    x, loc, scale = promoted("laplace.logpdf", x, loc, scale)
    return -(jnp.abs(x - loc) / scale + jnp.log(2 * scale))


def pdf(x, loc=0, scale=1):
    """The density."""
    return jnp.exp(logpdf(x, loc, scale))


def cdf(x, loc=0, scale=1):
    """The probability of at most x."""
    x, loc, scale = promoted("laplace.cdf", x, loc, scale)
    z = (x - loc) / scale
    tail = jnp.exp(-jnp.abs(z)) / 2
    return jnp.where(z <= 0, tail, 1 - tail)
