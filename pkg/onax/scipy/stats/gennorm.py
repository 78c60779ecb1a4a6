"""The generalised normal distribution with shape beta."""

from __future__ import annotations

from onax import numpy as jnp
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.scipy import special
from onax.scipy.stats._common import promote_parameters


def logpdf(x: ArrayLike, beta: ArrayLike) -> Array:
    """The logarithm of the density."""
    x, beta = promote_parameters("gennorm.logpdf", x, beta, keeps_weak_type=True)
    return jnp.log(0.5 * beta) - special.gammaln(1 / beta) - jnp.abs(x) ** beta


def cdf(x: ArrayLike, beta: ArrayLike) -> Array:
    """The probability of at most x."""
    x, beta = promote_parameters("gennorm.cdf", x, beta, keeps_weak_type=True)
    return 0.5 * (1 + jnp.sign(x) * special.gammainc(1 / beta, jnp.abs(x) ** beta))


def pdf(x: ArrayLike, beta: ArrayLike) -> Array:
    """The density."""
    return jnp.exp(logpdf(x, beta))
