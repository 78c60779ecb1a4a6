"""The normal distribution of vectors."""

import numpy as np

from onax import numpy as jnp
from onax.lax import linalg
from onax.numpy._promotion import promote_dtypes_inexact


def logpdf(x, mean, cov, allow_singular=None):
    """The logarithm of the density; cov is a variance, or a matrix.  NotImplementedError for allow_singular."""
    if allow_singular is not None:
        raise NotImplementedError("allow_singular argument of multivariate_normal.logpdf")
    x, mean, cov = promote_dtypes_inexact(x, mean, cov)
    if not mean.shape:
        return -1 / 2 * jnp.square(x - mean) / cov - 1 / 2 * (jnp.log(2 * np.pi) + jnp.log(cov))
    n = mean.shape[-1]
    if not jnp.shape(cov):
        y = x - mean
        return -1 / 2 * jnp.einsum("...i,...i->...", y, y) / cov - n / 2 * (jnp.log(2 * np.pi) + jnp.log(cov))
    if cov.ndim < 2 or cov.shape[-2:] != (n, n):
        raise ValueError("multivariate_normal.logpdf got incompatible shapes")
    factor = jnp.linalg.cholesky(cov)
    y = x - mean
    lead = jnp.broadcast_shapes(y.shape[:-1], factor.shape[:-2])
    y = jnp.broadcast_to(y, (*lead, n))[..., None]
    factor = jnp.broadcast_to(factor, (*lead, n, n))
    y = linalg.triangular_solve(factor, y, left_side=True, lower=True)[..., 0]
    size = n / 2 * jnp.log(2 * np.pi) + jnp.log(jnp.diagonal(factor, axis1=-1, axis2=-2)).sum(-1)
    return -1 / 2 * jnp.einsum("...i,...i->...", y, y) - size


def pdf(x, mean, cov):
    """The density."""
    return jnp.exp(logpdf(x, mean, cov))
