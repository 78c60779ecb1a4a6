"""The number of the first success in trials with probability p."""

from __future__ import annotations

from onax import numpy as jnp
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.scipy import special
from onax.scipy.stats._common import mask_outside, promote_parameters


def logpmf(k: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    """The logarithm of the probability of k."""
    k, p, loc = promote_parameters("geom.logpmf", k, p, loc)
    x = k - loc
    return mask_outside(x <= 0, special.xlog1py(x - 1, -p) + jnp.log(p))


def pmf(k: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    """The probability of k."""
    return jnp.exp(logpmf(k, p, loc))
