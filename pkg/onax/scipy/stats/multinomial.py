"""The multinomial distribution of n trials with probabilities p along the last axis."""

import numpy as np

from onax import numpy as jnp
from onax._ground import dtypes
from onax.numpy._promotion import ensure_arraylikes, promote_args_inexact
from onax.scipy import special
from onax.scipy.stats._common import keep_inside


def logpmf(x, n, p):
    """The logarithm of the probability of the counts x.

    Counts lie along the last axis; the result has the axes before it (JAX sums over all of them).  ValueError unless x
    and n are integers.
    """
    (p,) = promote_args_inexact("multinomial.logpmf", p)
    x, n = ensure_arraylikes("multinomial.logpmf", x, n)
    if not (dtypes.is_integer(x.dtype) and dtypes.is_integer(n.dtype)):
        raise ValueError(f"x and n must be of integer type; got x.dtype={x.dtype}, n.dtype={n.dtype}")
    counts, trials = x.astype(p.dtype), n.astype(p.dtype)
    value = special.gammaln(trials + 1) + jnp.sum(special.xlogy(counts, p) - special.gammaln(counts + 1), axis=-1)
    return keep_inside(jnp.sum(x, axis=-1) == n, value, -np.inf)


def pmf(x, n, p):
    """The probability of the counts x."""
    return jnp.exp(logpmf(x, n, p))
