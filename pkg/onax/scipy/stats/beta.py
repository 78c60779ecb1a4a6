"""The beta distribution."""

from onax import numpy as jnp
from onax.scipy import special
from onax.scipy.stats._common import mask_outside, promote_parameters


def logpdf(x, a, b, loc=0, scale=1):
    """The logarithm of the density."""
    x, a, b, loc, scale = promote_parameters("beta.logpdf", x, a, b, loc, scale)
    z = (x - loc) / scale
    value = special.xlogy(a - 1, z) + special.xlog1py(b - 1, -z) - special.betaln(a, b) - jnp.log(scale)
    return mask_outside((z < 0) | (z > 1), value)


def pdf(x, a, b, loc=0, scale=1):
    """The density."""
    return jnp.exp(logpdf(x, a, b, loc, scale))


def cdf(x, a, b, loc=0, scale=1):
    """The probability of at most x."""
    x, a, b, loc, scale = promote_parameters("beta.cdf", x, a, b, loc, scale)
    z = jnp.clip((x - loc) / scale, 0, 1)
    return special.betainc(a, b, z)


def logcdf(x, a, b, loc=0, scale=1):
    """The logarithm of `cdf`."""
    x, a, b, loc, scale = promote_parameters("beta.logcdf", x, a, b, loc, scale)
    z = jnp.clip((x - loc) / scale, 0, 1)
    return jnp.log(special.betainc(a, b, z))


def sf(x, a, b, loc=0, scale=1):
    """The probability of more than x."""
    x, a, b, loc, scale = promote_parameters("beta.sf", x, a, b, loc, scale)
    z = jnp.clip((x - loc) / scale, 0, 1)
    return special.betainc(b, a, 1 - z)


def logsf(x, a, b, loc=0, scale=1):
    """The logarithm of `sf`."""
    x, a, b, loc, scale = promote_parameters("beta.logsf", x, a, b, loc, scale)
    z = jnp.clip((x - loc) / scale, 0, 1)
    return jnp.log(special.betainc(b, a, 1 - z))
