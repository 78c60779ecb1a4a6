"""Poisson's distribution with mean mu."""

from onax import numpy as jnp
from onax.scipy import special
from onax.scipy.stats._common import inside, promoted


def logpmf(k, mu, loc=0):
    """The logarithm of the probability of k."""
    k, mu, loc = promoted("poisson.logpmf", k, mu, loc)
    x = k - loc
    value = special.xlogy(x, mu) - special.gammaln(x + 1) - mu
    return inside((x >= 0) & (jnp.round(k) == k), value)


def pmf(k, mu, loc=0):
    """The probability of k."""
    return jnp.exp(logpmf(k, mu, loc))


def cdf(k, mu, loc=0):
    """The probability of at most k."""
    k, mu, loc = promoted("poisson.cdf", k, mu, loc)
    x = k - loc
    return jnp.where(x < 0, 0, special.gammaincc(jnp.floor(1 + jnp.maximum(x, 0)), mu))
