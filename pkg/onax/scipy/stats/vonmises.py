"""Von Mises' distribution of angles, with concentration kappa."""

from __future__ import annotations

import numpy as np

from onax import numpy as jnp
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.scipy import special
from onax.scipy.stats._common import keep_inside, promote_parameters


def logpdf(x: ArrayLike, kappa: ArrayLike) -> Array:
    """The logarithm of the density; NaN unless kappa is positive."""
    x, kappa = promote_parameters("vonmises.logpdf", x, kappa, keeps_weak_type=True)
    value = kappa * (jnp.cos(x) - 1) - jnp.log(2 * np.pi * special.i0e(kappa))
    return keep_inside(kappa > 0, value, np.nan)


def pdf(x: ArrayLike, kappa: ArrayLike) -> Array:
    """The density."""
    return jnp.exp(logpdf(x, kappa))
