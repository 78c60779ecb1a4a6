"""Cauchy's distribution wrapped around the circle: angles from 0 to 2 pi."""

import numpy as np

from onax import numpy as jnp
from onax.scipy.stats._common import inside, promoted


def logpdf(x, c):
    """The logarithm of the density; NaN unless 0 < c < 1."""
    x, c = promoted("wrapcauchy.logpdf", x, c)
    value = jnp.log1p(-c * c) - jnp.log(2 * np.pi) - jnp.log1p(c * c - 2 * c * jnp.cos(x))
    return inside((c > 0) & (c < 1), inside((x >= 0) & (x <= 2 * np.pi), value), np.nan)


def pdf(x, c):
    """The density."""
    return jnp.exp(logpdf(x, c))
