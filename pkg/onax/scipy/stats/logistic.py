"""The logistic distribution."""

from onax import numpy as jnp
from onax.numpy._ufuncs import constant_like
from onax.scipy import special
from onax.scipy.stats._common import promote_parameters


def logpdf(x, loc=0, scale=1):
    """The logarithm of the density."""
    x, loc, scale = promote_parameters("logistic.logpdf", x, loc, scale, keeps_weak_type=True, takes_complex=True)
    z = (x - loc) / (scale * 2)
    return constant_like(z, -2) * jnp.logaddexp(z, -z) - jnp.log(scale)


def pdf(x, loc=0, scale=1):
    """The density."""
    return jnp.exp(logpdf(x, loc, scale))


def cdf(x, loc=0, scale=1):
    """The probability of at most x."""
    x, loc, scale = promote_parameters("logistic.cdf", x, loc, scale, keeps_weak_type=True, takes_complex=True)
    return special.expit((x - loc) / scale)


def sf(x, loc=0, scale=1):
    """The probability of more than x."""
    x, loc, scale = promote_parameters("logistic.sf", x, loc, scale, keeps_weak_type=True, takes_complex=True)
    return special.expit(-(x - loc) / scale)


def ppf(x, loc=0, scale=1):
    """The inverse of `cdf`."""
    x, loc, scale = promote_parameters("logistic.ppf", x, loc, scale, takes_complex=True)
    return special.logit(x) * scale + loc


def isf(x, loc=0, scale=1):
    """The inverse of `sf`."""
    x, loc, scale = promote_parameters("logistic.isf", x, loc, scale, takes_complex=True)
    return -special.logit(x) * scale + loc
