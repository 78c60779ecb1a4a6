"""Laplace's distribution, with exponential tails on both sides."""

from __future__ import annotations

from onax import numpy as jnp
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.scipy.stats._common import promote_parameters


def logpdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The logarithm of the density."""
    x, loc, scale = promote_parameters("laplace.logpdf", x, loc, scale)
    return -(jnp.abs(x - loc) / scale + jnp.log(2 * scale))


def pdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The density."""
    return jnp.exp(logpdf(x, loc, scale))


def cdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The probability of at most x."""
    x, loc, scale = promote_parameters("laplace.cdf", x, loc, scale)
    z = (x - loc) / scale
    left = z <= 0
    below, above = (
        jnp.where(left, z, 0),
        jnp.where(left, 0, z),
    )  # avoids overflow in the derivative of the branch that is not selected
    return jnp.where(left, jnp.exp(below) / 2, 1 - jnp.exp(-above) / 2)
