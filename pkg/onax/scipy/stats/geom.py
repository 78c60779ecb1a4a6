"""The number of the first success in trials with probability p."""

from onax import numpy as jnp
from onax.scipy import special
from onax.scipy.stats._common import mask_outside, promote_parameters


def logpmf(k, p, loc=0):
    """The logarithm of the probability of k."""
    k, p, loc = promote_parameters("geom.logpmf", k, p, loc)
    x = k - loc
    return mask_outside(x <= 0, special.xlog1py(x - 1, -p) + jnp.log(p))


def pmf(k, p, loc=0):
    """The probability of k."""
    return jnp.exp(logpmf(k, p, loc))
