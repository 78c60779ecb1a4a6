"""A trial with probability p of 1."""

from __future__ import annotations

from onax import lax
from onax import numpy as jnp
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.scipy import special
from onax.scipy.stats._common import mask_outside, promote_parameters


def logpmf(k: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    """The logarithm of the probability of k."""
    k, p, loc = promote_parameters("bernoulli.logpmf", k, p, loc)
    x = k - loc
    value = special.xlogy(x, p) + special.xlog1py(1 - x, -p)
    return mask_outside((x < 0) | (x > 1), value)


def pmf(k: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    """The probability of k."""
    return jnp.exp(logpmf(k, p, loc))


def cdf(k: ArrayLike, p: ArrayLike) -> Array:
    """The probability of at most k."""
    k, p = promote_parameters("bernoulli.cdf", k, p)
    value = jnp.where(k < 0, 0, jnp.where(k < 1, 1 - p, 1))
    return jnp.where(jnp.isnan(k) | jnp.isnan(p) | (p < 0) | (p > 1), jnp.nan, value)


def ppf(q: ArrayLike, p: ArrayLike) -> Array:
    """The inverse of `cdf`."""
    q, p = promote_parameters("bernoulli.ppf", q, p)
    bad = jnp.isnan(q) | jnp.isnan(p) | (p < 0) | (p > 1) | (q < 0) | (q > 1)
    zero = lax.full_like(q, 0)
    return jnp.where(bad, zero + jnp.nan, jnp.where(q <= 1 - p, zero, zero + 1))
