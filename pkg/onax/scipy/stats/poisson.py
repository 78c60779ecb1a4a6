"""Poisson's distribution with mean mu."""

from __future__ import annotations

import numpy as np

from onax import numpy as jnp
from onax._core.api_functions import static_argnames
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.scipy import special
from onax.scipy.stats._common import keep_inside, promote_parameters


def logpmf(k: ArrayLike, mu: ArrayLike, loc: ArrayLike = 0) -> Array:
    """The logarithm of the probability of k."""
    k, mu, loc = promote_parameters("poisson.logpmf", k, mu, loc, keeps_weak_type=True)
    x = k - loc
    value = special.xlogy(x, mu) - special.gammaln(x + 1) - mu
    return keep_inside((x >= 0) & (jnp.round(k) == k), value)


def pmf(k: ArrayLike, mu: ArrayLike, loc: ArrayLike = 0) -> Array:
    """The probability of k."""
    return jnp.exp(logpmf(k, mu, loc))


def cdf(k: ArrayLike, mu: ArrayLike, loc: ArrayLike = 0) -> Array:
    """The probability of at most k."""
    k, mu, loc = promote_parameters("poisson.cdf", k, mu, loc)
    x = k - loc
    return jnp.where(x < 0, 0, special.gammaincc(jnp.floor(1 + jnp.maximum(x, 0)), mu))


# The mean from where the series of the entropy has the digits of float64, of float32; more terms than matter below.
_LARGE, _LARGE_SINGLE, _TERMS = 100, 16, 260


@static_argnames()
def entropy(mu: ArrayLike, loc: ArrayLike = 0) -> Array:
    """The entropy in nats, which does not depend on loc; NaN for a negative mu.

    Below a mean of 100 (16 in float32) the sum of -p log(p), above it the asymptotic series in 1 / mu.
    """
    mu, loc = promote_parameters("poisson.entropy", mu, loc)
    large = _LARGE if mu.dtype == np.float64 else _LARGE_SINGLE
    small = mu < large
    safe = jnp.where(small & (mu > 0), mu, 1)
    k = np.arange(_TERMS, dtype=mu.dtype)
    logarithm = special.xlogy(k, safe[..., None]) - safe[..., None] - special.gammaln(k + 1)
    total = -jnp.sum(jnp.exp(logarithm) * logarithm, axis=-1)
    large_mu = jnp.where(small, large, mu)
    tail = -1 / (12 * large_mu) - 1 / (24 * large_mu**2) - 19 / (360 * large_mu**3)
    series = 0.5 * (jnp.log(2 * np.pi * large_mu) + 1) + tail
    value = jnp.where(small, jnp.where(mu == 0, 0.0, total), series)
    value = jnp.where(mu >= 0, value, np.nan)
    return jnp.broadcast_to(value, jnp.broadcast_shapes(mu.shape, loc.shape))
