"""Dirichlet's distribution of probabilities that add up to 1."""

from __future__ import annotations

import numpy as np

from onax import numpy as jnp
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.numpy._promotion import promote_dtypes_inexact
from onax.scipy import special


def logpdf(x: ArrayLike, alpha: ArrayLike) -> Array:
    """Returns the logarithm of the density of Dirichlet's distribution.

    The density is the product of x[i]**(alpha[i] - 1), times gamma(sum(alpha)) / product of gamma(alpha[i]).

    Args:
      x: points, (k, ...) or (k - 1, ...): the last component may be missing.
      alpha: the concentrations, (k,), positive.

    Returns:
      Float array of the shape ``x.shape[1:]``; -inf where `x` is no point of the simplex.

    Raises:
      ValueError: an `alpha` of another rank, or points of another length.

    Examples:
      >>> x, alpha = jnp.array([0.25, 0.75]), jnp.array([2.0, 1.0])
      >>> round(float(onax.scipy.stats.dirichlet.logpdf(x, alpha)), 4)
      -0.6931
    """
    x, alpha = promote_dtypes_inexact(x, alpha)
    if alpha.ndim != 1:
        raise ValueError(f"`alpha` must be one-dimensional; got alpha.shape={alpha.shape}")
    if x.shape[0] not in (alpha.shape[0], alpha.shape[0] - 1):
        raise ValueError(
            "`x` must have either the same number of entries as `alpha` or one entry fewer; got "
            f"x.shape={x.shape}, alpha.shape={alpha.shape}"
        )
    if x.shape[0] != alpha.shape[0]:
        x = jnp.concatenate([x, 1 - x.sum(0, keepdims=True)])
    size = jnp.sum(special.gammaln(alpha)) - special.gammaln(jnp.sum(alpha))
    column = alpha.reshape((-1,) + (1,) * (x.ndim - 1))
    value = jnp.sum(special.xlogy(column - 1, x), axis=0) - size
    right = jnp.all(x >= 0, axis=0) & (jnp.abs(jnp.sum(x, axis=0) - 1) < 1e-6)
    return jnp.where(right, value, -np.inf)


def pdf(x: ArrayLike, alpha: ArrayLike) -> Array:
    """Returns the density of Dirichlet's distribution, the exponential of `logpdf`.

    Args:
      x: points, (k, ...) or (k - 1, ...): the last component may be missing.
      alpha: the concentrations, (k,), positive.

    Returns:
      Float array of the shape ``x.shape[1:]``; 0 where `x` is no point of the simplex.

    Raises:
      ValueError: an `alpha` of another rank, or points of another length.

    Examples:
      >>> x, alpha = jnp.array([0.25, 0.75]), jnp.array([2.0, 1.0])
      >>> round(float(onax.scipy.stats.dirichlet.pdf(x, alpha)), 4)
      0.5
    """
    return jnp.exp(logpdf(x, alpha))
