"""The number of successes in n trials with probability p."""

from __future__ import annotations

from onax import numpy as jnp
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.scipy import special
from onax.scipy.stats._common import keep_inside, promote_parameters


def logpmf(k: ArrayLike, n: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    """The logarithm of the probability of k."""
    k, n, p, loc = promote_parameters("binom.logpmf", k, n, p, loc, keeps_weak_type=True)
    x = k - loc
    choices = special.gammaln(n + 1) - special.gammaln(x + 1) - special.gammaln(n - x + 1)
    value = choices + special.xlogy(x, p) + special.xlog1py(n - x, -p)
    return keep_inside((x >= 0) & (x < n + 1), value)


def pmf(k: ArrayLike, n: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    """The probability of k."""
    return jnp.exp(logpmf(k, n, p, loc))
