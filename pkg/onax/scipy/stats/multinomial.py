"""The multinomial distribution of n trials with probabilities p along the last axis."""

from __future__ import annotations

import numpy as np

from onax import numpy as jnp
from onax._ground import dtypes
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.numpy._promotion import ensure_arraylikes, promote_args_inexact
from onax.scipy import special
from onax.scipy.stats._common import keep_inside


def logpmf(x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """Returns the logarithm of the probability of counts in the multinomial distribution.

    Unlike JAX, which sums over all axes, it sums over the last one only.

    Args:
      x: counts, (..., k), integers.
      n: the number of things, an integer or integers of shape (...).
      p: the probabilities of the bins, (..., k).

    Returns:
      Float array of shape (...); -inf where the counts do not sum to n.

    Raises:
      ValueError: `x` or `n` are no integers.

    Examples:
      >>> p = jnp.array([0.25, 0.75])
      >>> round(float(onax.scipy.stats.multinomial.logpmf(jnp.array([1, 2]), 3, p)), 4)
      -0.863
    """
    (p,) = promote_args_inexact("multinomial.logpmf", p)
    x, n = ensure_arraylikes("multinomial.logpmf", x, n)
    if not (dtypes.is_integer(x.dtype) and dtypes.is_integer(n.dtype)):
        raise ValueError(f"x and n must be of integer type; got x.dtype={x.dtype}, n.dtype={n.dtype}")
    counts, trials = x.astype(p.dtype), n.astype(p.dtype)
    value = special.gammaln(trials + 1) + jnp.sum(special.xlogy(counts, p) - special.gammaln(counts + 1), axis=-1)
    total = jnp.sum(x, axis=-1)
    return keep_inside(total == n.astype(total.dtype), value, -np.inf)


def pmf(x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """Returns the probability of counts in the multinomial distribution, n! times the product of p[i]**x[i] / x[i]!.

    Args:
      x: counts, (..., k), integers.
      n: the number of things, an integer or integers of shape (...).
      p: the probabilities of the bins, (..., k).

    Returns:
      Float array of shape (...); 0 where the counts do not sum to n.

    Raises:
      ValueError: `x` or `n` are no integers.

    Examples:
      >>> p = jnp.array([0.25, 0.75])
      >>> round(float(onax.scipy.stats.multinomial.pmf(jnp.array([1, 2]), 3, p)), 4)
      0.4219
    """
    return jnp.exp(logpmf(x, n, p))
