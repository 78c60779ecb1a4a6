"""Random vectors and matrices: normal vectors of a given covariance, orthogonal matrices.

The factors of matrices come from LAPACK, as in JAX, but not from the same build of it: results agree with JAX's to the
rounding of the factors, about 16 units in the last place of the largest element for matrices up to 10 by 10.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._control.jit_call import staged
from onax._ground.typing import ArrayLike, DimSize, DTypeLike, ShardingLike
from onax._native.array import Array
from onax._prims.placement import with_out_sharding
from onax._prims.shaping import canonical_shape
from onax.numpy._creation import broadcast_to
from onax.numpy._promotion import ensure_arraylikes, promote_dtypes_inexact
from onax.random._bits import check_shape, float_dtype
from onax.random._continuous import _normal, normal
from onax.random._keys import check_single_key


def _covariance_factor(cov, method):
    """A matrix whose product with its transpose is the covariance."""
    if method == "svd":
        u, sizes, _ = lax.linalg.svd(cov)
    elif method == "eigh":
        u, sizes = lax.linalg.eigh(cov)
    else:
        return lax.linalg.cholesky(cov)
    return u * lax.sqrt(sizes[..., None, :])


@staged("_multivariate_normal", static_argnames=("shape", "dtype", "method"))
def _multivariate_normal(key, mean, cov, *, shape, dtype, method):
    normals = _normal(key, shape=shape + mean.shape[-1:], dtype=dtype)
    deviations = jnp.einsum("...ij,...j->...i", _covariance_factor(cov, method), normals)
    return jnp.add(broadcast_to(mean, normals.shape), deviations)


def multivariate_normal(
    key: ArrayLike,
    mean: ArrayLike,
    cov: ArrayLike,
    shape: Sequence[DimSize] | None = None,
    dtype: DTypeLike | None = None,
    method: str = "cholesky",
    *,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Draws normal vectors of a mean and a covariance.

    Args:
      key: one key, from `onax.random.key`.
      mean: (..., n).
      cov: (..., n, n), symmetric; positive definite for "cholesky", semidefinite for the other methods.
      shape: the shape of the result without its last axis; default the common one of `mean` and `cov`.
      dtype: a floating dtype; default float32, with 64 bits enabled float64.
      method: the factorisation of `cov`: "cholesky" (the default), "eigh" or "svd".
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of shape ``shape + (n,)`` and dtype `dtype`.

    Raises:
      ValueError: another method, shapes that do not fit, or a dtype that is not floating.

    Examples:
      >>> onax.random.multivariate_normal(onax.random.key(0), jnp.zeros(2), jnp.eye(2), (5,)).shape
      (5, 2)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, multivariate_normal, key, mean, cov, shape, dtype, method)
    key = check_single_key("multivariate_normal", key)
    mean, cov = promote_dtypes_inexact(*ensure_arraylikes("multivariate_normal", mean, cov))
    methods = ("svd", "eigh", "cholesky")
    if method not in methods:
        raise ValueError(f"method must be one of {set(methods)}")
    dtype = float_dtype("multivariate_normal", mean.dtype if dtype is None else dtype)
    of_mean, of_cov = np.shape(mean), np.shape(cov)
    if len(of_mean) < 1:
        raise ValueError(f"multivariate_normal requires mean.ndim >= 1, got mean.ndim == {len(of_mean)}")
    if len(of_cov) < 2:
        raise ValueError(f"multivariate_normal requires cov.ndim >= 2, got cov.ndim == {len(of_cov)}")
    n = of_mean[-1]
    if of_cov[-2:] != (n, n):
        raise ValueError(
            f"multivariate_normal requires cov.shape == (..., n, n) for n={n}, but got cov.shape == {of_cov}."
        )
    shape = check_shape("normal", shape, of_mean[:-1], of_cov[:-2])
    return _multivariate_normal(key, mean, cov, shape=shape, dtype=dtype, method=method)


@staged("_orthogonal", static_argnames=("n", "m", "shape", "dtype"))
def _orthogonal(key, *, n, m, shape, dtype):
    normals = normal(key, (*shape, max(n, m), min(n, m)), dtype)
    q, r = lax.linalg.qr(normals, full_matrices=False)
    # The signs of r's diagonal make the distribution uniform, whichever signs the factorization chose.
    q = q * jnp.expand_dims(lax.sign(jnp.diagonal(r, axis1=-2, axis2=-1)), -2)
    return jnp.swapaxes(q, -1, -2) if n < m else q


def orthogonal(
    key: ArrayLike,
    n: int,
    shape: Sequence[DimSize] = (),
    dtype: DTypeLike | None = None,
    m: int | None = None,
    *,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Draws orthogonal matrices uniformly (by Haar measure); unitary ones for a complex dtype.

    Args:
      key: one key, from `onax.random.key`.
      n: the number of rows.
      shape: the shape of a stack of matrices; default ``()``.
      dtype: a floating or complex dtype; default float32, with 64 bits enabled float64.
      m: the number of columns; default n.  Rows or columns, whichever are fewer, are orthonormal.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of shape ``shape + (n, m)`` and dtype `dtype`.

    Raises:
      ValueError: negative sizes, or a dtype that is neither floating nor complex.
      TypeError: sizes that are no integers.

    Examples:
      >>> q = onax.random.orthogonal(onax.random.key(0), 3)
      >>> bool(jnp.allclose(q @ q.T, jnp.eye(3), atol=1e-5))
      True
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, orthogonal, key, n, shape, dtype, m)
    key = check_single_key("orthogonal", key)
    shape = canonical_shape(shape)
    n, columns = operator.index(n), n if m is None else operator.index(m)
    if n < 0 or columns < 0:
        raise ValueError(f"negative dimensions are not allowed, got {n} and {m}")
    return _orthogonal(key, n=n, m=operator.index(columns), shape=shape, dtype=dtype)
