"""The uniform distribution on [loc, loc + scale]."""

from __future__ import annotations

from onax import numpy as jnp
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.scipy.stats._common import keep_inside, mask_outside, promote_parameters


def logpdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The logarithm of the density."""
    x, loc, scale = promote_parameters("uniform.logpdf", x, loc, scale, keeps_weak_type=True)
    return mask_outside((x < loc) | (x > loc + scale), -jnp.log(scale))


def pdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The density."""
    return jnp.exp(logpdf(x, loc, scale))


def cdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The probability of at most x."""
    x, loc, scale = promote_parameters("uniform.cdf", x, loc, scale)
    zero, one = x.dtype.type(0), x.dtype.type(1)
    return jnp.where(x < loc, zero, jnp.where(x > loc + scale, one, (x - loc) / scale))


def ppf(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The inverse of `cdf`."""
    q, loc, scale = promote_parameters("uniform.ppf", q, loc, scale, keeps_weak_type=True, takes_complex=True)
    return keep_inside((q >= 0) & (q <= 1), q * scale + loc, jnp.nan)
