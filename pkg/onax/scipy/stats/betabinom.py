"""The number of successes in n trials whose probability is beta distributed."""

from __future__ import annotations

from onax import numpy as jnp
from onax._core.api_functions import static_argnames
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.numpy._ufuncs import constant_like
from onax.scipy import special
from onax.scipy.stats._common import mask_outside, promote_parameters


@static_argnames()
def logpmf(k: ArrayLike, n: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0) -> Array:
    """The logarithm of the probability of k."""
    k, n, a, b, loc = promote_parameters("betabinom.logpmf", k, n, a, b, loc)
    x = jnp.floor(k) - loc
    one = constant_like(x, 1)
    choices = -jnp.log(n + one) - special.betaln(n - x + one, x + one)
    value = choices + special.betaln(x + a, n - x + b) - special.betaln(a, b)
    return jnp.where((n < 0) | (a <= 0) | (b <= 0), jnp.nan, mask_outside((x < 0) | (x > n), value))


def pmf(k: ArrayLike, n: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0) -> Array:
    """The probability of k."""
    return jnp.exp(logpmf(k, n, a, b, loc))
