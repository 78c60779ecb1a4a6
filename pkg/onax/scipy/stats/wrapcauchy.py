"""Cauchy's distribution wrapped around the circle: angles from 0 to 2 pi."""

from __future__ import annotations

import numpy as np

from onax import numpy as jnp
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.scipy.stats._common import keep_inside, promote_parameters


def logpdf(x: ArrayLike, c: ArrayLike) -> Array:
    """The logarithm of the density; NaN unless 0 < c < 1."""
    x, c = promote_parameters("wrapcauchy.logpdf", x, c, keeps_weak_type=True)
    value = jnp.log1p(-c * c) - jnp.log(2 * np.pi) - jnp.log1p(c * c - 2 * c * jnp.cos(x))
    return keep_inside((c > 0) & (c < 1), keep_inside((x >= 0) & (x <= 2 * np.pi), value), np.nan)


def pdf(x: ArrayLike, c: ArrayLike) -> Array:
    """The density."""
    return jnp.exp(logpdf(x, c))
