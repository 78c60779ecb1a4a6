"""Random vectors and matrices: normal vectors of a given covariance, orthogonal matrices.

The factors of matrices come from LAPACK, as in JAX, but not from the same build of it: results agree with JAX's to the
rounding of the factors, about 16 units in the last place of the largest element for matrices up to 10 by 10.
"""

import operator

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._control.jit_call import staged
from onax._prims.shaping import canonical_shape, refuse_sharding
from onax.random._bits import broadcast_parameter, check_shape, float_dtype
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
    factor = _covariance_factor(broadcast_parameter("multivariate_normal", cov, dtype), method)
    mean = broadcast_parameter("multivariate_normal", mean, dtype)
    normals = _normal(key, shape=shape + mean.shape[-1:], dtype=dtype)
    return mean + jnp.einsum("...ij,...j->...i", factor, normals)


def multivariate_normal(key, mean, cov, shape=None, dtype=None, method="cholesky", *, out_sharding=None):
    """Normal vectors of this mean and covariance.

    mean     (..., n)
    cov      (..., n, n), symmetric and positive: definite for "cholesky", semidefinite for "svd" and "eigh"
    shape    of the vectors, the last axis not counted: that of mean and cov together by default
    method   by which cov is taken apart

    Raises ValueError for another method, for ranks and shapes that do not fit, and for a dtype that is not floating.
    """
    key = check_single_key("multivariate_normal", key)
    dtype = float_dtype("multivariate_normal", dtype)
    refuse_sharding("multivariate_normal", out_sharding)
    methods = ("svd", "eigh", "cholesky")
    if method not in methods:
        raise ValueError(f"method must be one of {set(methods)}")
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


def orthogonal(key, n, shape=(), dtype=None, m=None, *, out_sharding=None):
    """Orthogonal (unitary, for a complex dtype) matrices, uniformly distributed: an array of shape `shape + (n, n)`.

    m   number of columns, n by default: rows or columns, whichever are fewer, are then orthonormal

    Raises ValueError for negative sizes and for a dtype that is neither floating nor complex, TypeError for sizes that
    are no integers.
    """
    key = check_single_key("orthogonal", key)
    refuse_sharding("orthogonal", out_sharding)
    shape = canonical_shape(shape)
    n, columns = operator.index(n), n if m is None else operator.index(m)
    if n < 0 or columns < 0:
        raise ValueError(f"negative dimensions are not allowed, got {n} and {m}")
    return _orthogonal(key, n=n, m=operator.index(columns), shape=shape, dtype=dtype)
