"""The number of failures before n successes with probability p."""

from __future__ import annotations

from onax import numpy as jnp
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.scipy import special
from onax.scipy.stats._common import mask_outside, promote_parameters


def logpmf(k: ArrayLike, n: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    """The logarithm of the probability of k."""
    k, n, p, loc = promote_parameters("nbinom.logpmf", k, n, p, loc)
    x = k - loc
    choices = special.gammaln(x + n) - special.gammaln(n) - special.gammaln(x + 1)
    return mask_outside(x < 0, choices + (special.xlogy(n, p) + special.xlogy(x, 1 - p)))


def pmf(k: ArrayLike, n: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    """The probability of k."""
    return jnp.exp(logpmf(k, n, p, loc))
