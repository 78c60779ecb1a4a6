"""The normal distribution of vectors."""

from __future__ import annotations

import numpy as np

from onax import numpy as jnp
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.lax import linalg
from onax.numpy._promotion import promote_dtypes_inexact


def logpdf(x: ArrayLike, mean: ArrayLike, cov: ArrayLike, allow_singular: ArrayLike = None) -> Array:
    """Returns the logarithm of the density of the normal distribution of vectors.

    Args:
      x: points, (..., n).
      mean: (..., n), or a number if points are numbers.
      cov: covariances (..., n, n), positive definite, or a number, the variance of each component.
      allow_singular: None; a singular covariance gives NaN.

    Returns:
      Float array of shape (...).

    Raises:
      ValueError: shapes that do not fit.
      NotImplementedError: `allow_singular` is given.

    Examples:
      >>> logpdf = onax.scipy.stats.multivariate_normal.logpdf
      >>> round(float(logpdf(jnp.zeros(2), jnp.zeros(2), jnp.eye(2))), 4)
      -1.8379
    """
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


def pdf(x: ArrayLike, mean: ArrayLike, cov: ArrayLike) -> Array:
    """Returns the density of the normal distribution of vectors, the exponential of `logpdf`.

    Args:
      x: points, (..., n).
      mean: (..., n), or a number if points are numbers.
      cov: covariances (..., n, n), positive definite, or a number, the variance of each component.

    Returns:
      Float array of shape (...).

    Raises:
      ValueError: shapes that do not fit.

    Examples:
      >>> pdf = onax.scipy.stats.multivariate_normal.pdf
      >>> round(float(pdf(jnp.zeros(2), jnp.zeros(2), jnp.eye(2))), 4)
      0.1592
    """
    return jnp.exp(logpdf(x, mean, cov))
