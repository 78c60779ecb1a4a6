"""Student's distribution with df degrees of freedom."""

from __future__ import annotations

import math

from onax import numpy as jnp
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.scipy import special
from onax.scipy.stats._common import promote_parameters


def logpdf(x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The logarithm of the density."""
    x, df, loc, scale = promote_parameters("t.logpdf", x, df, loc, scale)
    z = (x - loc) / scale
    size = jnp.log(scale * scale * math.pi * df) / 2 + special.gammaln(df / 2) - special.gammaln((df + 1) / 2)
    return -size - (df + 1) / 2 * jnp.log1p(jnp.square(z) / df)


def pdf(x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The density."""
    return jnp.exp(logpdf(x, df, loc, scale))
