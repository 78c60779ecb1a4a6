"""Von Mises' distribution of angles, with concentration kappa."""

import numpy as np

from onax import numpy as jnp
from onax.scipy import special
from onax.scipy.stats._common import keep_inside, promote_parameters


def logpdf(x, kappa):
    """The logarithm of the density; NaN unless kappa is positive."""
    x, kappa = promote_parameters("vonmises.logpdf", x, kappa, keeps_weak_type=True)
    value = kappa * (jnp.cos(x) - 1) - jnp.log(2 * np.pi * special.i0e(kappa))
    return keep_inside(kappa > 0, value, np.nan)


def pdf(x, kappa):
    """The density."""
    return jnp.exp(logpdf(x, kappa))
