"""Shapes of systems of equations in onax.scipy.linalg: factors and right-hand sides with the same batch dimensions."""

import warnings

from onax import lax
from onax import numpy as jnp


def aligned(name, call, factor, b):
    """Broadcasts the batch dimensions of a factor (..., n, n) and a right-hand side against each other.

    The right-hand side is (n,), or (..., n) with one dimension less than the factor, which is deprecated, or
    (..., n, k).  In the results it has as many dimensions as the factor, or one less if it consists of vectors.
    `call`: how the function is called, for the warning.  Raises ValueError for shapes that do not fit.
    """
    is_vector = b.ndim <= 1 or (factor.ndim == b.ndim + 1 and factor.shape[-1] == b.shape[-1])
    if is_vector and b.ndim > 1:
        warnings.warn(
            f"jax.scipy.linalg.{name}: batched 1D solves with b.ndim > 1 are deprecated, and in the future will be "
            f"treated as a batched 2D solve. Use {call}.squeeze(-1) to avoid this warning.",
            FutureWarning,
            stacklevel=3,
        )
    core = 1 if is_vector else 2
    if factor.ndim < 2 or b.ndim < core:
        return factor, b  # the solver refuses it
    n = factor.shape[-1]
    for size in (factor.shape[-2], b.shape[-core]):
        if size != n:
            raise ValueError(
                f"inconsistent size for core dimension 'n': {size} vs {n} in {name} of a factor of shape "
                f"{factor.shape} and b of shape {b.shape}"
            )
    batch = lax.broadcast_shapes(factor.shape[:-2], b.shape[:-core])
    return with_batch(factor, batch, 2), with_batch(b, batch, core)


def apply_to_columns(factor, b, function):
    """Applies a function of matrices to matrices, or to vectors, which `aligned` returned, as one column each."""
    return function(b) if b.ndim >= factor.ndim else function(b[..., None])[..., 0]


def with_batch(x, batch, core):
    """Broadcasts all but the last `core` dimensions to a batch shape."""
    shape = (*batch, *x.shape[x.ndim - core :])
    return x if x.shape == shape else jnp.broadcast_to(x, shape)


def check_system(a, b):
    """Raises ValueError unless a is (..., n, n), and b (..., n) or (..., n, k) with as many batch dimensions."""
    if not (a.ndim >= 2 and b.ndim in (a.ndim, a.ndim - 1) and a.shape[-1] == a.shape[-2] == b.shape[a.ndim - 2]):
        raise ValueError(
            "The arguments to solve must have shapes a=[..., m, m] and b=[..., m, k] or b=[..., m]; got "
            f"a={a.shape} and b={b.shape}"
        )
