"""The gamma distribution with shape a."""

from onax import numpy as jnp
from onax.scipy import special
from onax.scipy.stats._common import keep_inside, promote_parameters


def logpdf(x, a, loc=0, scale=1):
    """The logarithm of the density."""
    x, a, loc, scale = promote_parameters("gamma.logpdf", x, a, loc, scale)
    z = (x - loc) / scale
    value = special.xlogy(a - 1, z) - z - special.gammaln(a) - jnp.log(scale)
    return keep_inside(x >= loc, value)


def pdf(x, a, loc=0, scale=1):
    """The density."""
    return jnp.exp(logpdf(x, a, loc, scale))


def cdf(x, a, loc=0, scale=1):
    """The probability of at most x."""
    x, a, loc, scale = promote_parameters("gamma.cdf", x, a, loc, scale)
    z = jnp.maximum((x - loc) / scale, 0)
    return special.gammainc(a, z)


def logcdf(x, a, loc=0, scale=1):
    """The logarithm of `cdf`."""
    x, a, loc, scale = promote_parameters("gamma.logcdf", x, a, loc, scale)
    z = jnp.maximum((x - loc) / scale, 0)
    return jnp.log(special.gammainc(a, z))


def sf(x, a, loc=0, scale=1):
    """The probability of more than x."""
    x, a, loc, scale = promote_parameters("gamma.sf", x, a, loc, scale)
    z = jnp.maximum((x - loc) / scale, 0)
    return special.gammaincc(a, z)


def logsf(x, a, loc=0, scale=1):
    """The logarithm of `sf`."""
    x, a, loc, scale = promote_parameters("gamma.logsf", x, a, loc, scale)
    z = jnp.maximum((x - loc) / scale, 0)
    return jnp.log(special.gammaincc(a, z))
