"""Linear algebra of sparse matrices."""

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._control.callbacks import pure_callback
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.derived import DerivedPrimitive
from onax._ground import lazy
from onax._ground.typing import AnyFunction, ArrayLike
from onax._native.array import Array
from onax._transforms.abstract import ShapeDtypeStruct, eval_shape
from onax.experimental.sparse.bcsr import BCSR

__all__ = ["lobpcg_standard", "spsolve", "spsolve_p"]


def spsolve(data: Array, indices: Array, indptr: Array, b: Array, tol: float = 1e-6, reorder: int = 1) -> Array:
    """Returns the solution of A x = b for a square sparse A, by SciPy's sparse LU on the host.

    It has derivatives with respect to `data` and `b`.

    Args:
      data: the values of A, (nse,).
      indices: their columns, (nse,).
      indptr: the starts of rows, (n + 1,).
      b: (n,).
      tol: accepted, without effect.
      reorder: accepted, without effect.

    Returns:
      Array of shape (n,) and the dtype of `b`.

    Raises:
      ValueError: dtypes or sizes do not fit, or `reorder` is none of 0 to 3.

    Examples:
      >>> from onax.experimental.sparse import linalg
      >>> a = onax.experimental.sparse.CSR.fromdense(2.0 * jnp.eye(2))
      >>> linalg.spsolve(a.data, a.indices, a.indptr, jnp.array([2.0, 4.0]))
      Array([1., 2.], dtype=float32)
    """
    data, indices, indptr, b = map(jnp.asarray, (data, indices, indptr, b))
    _check_system(data, indices, indptr, b, reorder)
    n = b.shape[0]
    matrix = BCSR((data, indices, indptr), shape=(n, n))
    result = ShapeDtypeStruct(b.shape, b.dtype)

    def solve(transposed):
        def on_host(data, indices, indptr, b):
            a = lazy.scipy_sparse.csr_matrix((data, indices, indptr), shape=(n, n))
            x = lazy.scipy_sparse_linalg.spsolve(a.T.tocsr() if transposed else a, b)
            return np.asarray(x, b.dtype).reshape(b.shape)

        return lambda _, b: pure_callback(
            on_host, result, *map(lax.stop_gradient, (data, indices, indptr)), b, vmap_method="sequential"
        )

    return lax.custom_linear_solve(lambda x: matrix @ x, jnp.asarray(b), solve(False), solve(True))


spsolve_p = DerivedPrimitive("spsolve", spsolve)


def _check_system(data, indices, indptr, b, reorder):
    if data.dtype != b.dtype:
        raise ValueError(f"data types do not match: {data.dtype=} {b.dtype=}")
    if not all(jnp.issubdtype(x.dtype, jnp.integer) for x in (indices, indptr)):
        raise ValueError(f"index arrays must be integer typed; got {indices.dtype=} {indptr.dtype=}")
    if not data.ndim == indices.ndim == indptr.ndim == b.ndim == 1:
        raise ValueError(
            f"Arrays must be one-dimensional. Got {data.shape=} {indices.shape=} {indptr.shape=} {b.shape=}"
        )
    if indptr.size != b.size + 1 or data.shape != indices.shape:
        raise ValueError(f"Invalid CSR buffer sizes: {data.shape=} {indices.shape=} {indptr.shape=}")
    if reorder not in (0, 1, 2, 3):
        raise ValueError(f"{reorder=} not valid, must be one of [1, 2, 3, 4]")


def lobpcg_standard(A: AnyFunction, X: Array, m: int = 100, tol: ArrayLike | None = None) -> tuple[Array, Array, Array]:
    """The largest eigenvalues of a Hermitian matrix and their eigenvectors, by a block method on products with it.

    Each step takes the best vectors of the space that the current ones, their residuals and the last directions span
    (A. Knyazev, Toward the optimal preconditioned eigensolver, 2001, without preconditioner).

    Args:
      A: an (n, n) matrix, dense or sparse, or a function that multiplies it by (n, k).
      X: (n, k) linearly independent vectors to begin with, 5 k < n; random ones contain every eigenvector.
      m: the largest number of steps.
      tol: a pair (l, v) has converged when the norm of its residual is below tol * 10 * n * (l + |A v|); by default
        the dtype's epsilon.

    Returns:
      (theta, U, i): the k largest eigenvalues in descending order, their eigenvectors (n, k), the number of steps.

    Raises:
      ValueError: the shapes or dtypes do not fit.

    Examples:
      >>> import onax, onax.numpy as jnp
      >>> from onax.experimental.sparse.linalg import lobpcg_standard
      >>> start = onax.random.normal(onax.random.key(0), (20, 2))
      >>> theta, _, _ = lobpcg_standard(jnp.diag(jnp.arange(20.0)), start)
      >>> theta.round(3).tolist()
      [19.0, 18.0]
    """
    apply = A if callable(A) else lambda x: A @ x
    n, k = X.shape
    if k == 0:
        raise ValueError(f"must have search dim > 0, got {k}")
    if 5 * k >= n:
        raise ValueError(f"expected search dim * 5 < matrix dim (got {5 * k}, {n})")
    product = eval_shape(apply, ShapeDtypeStruct((n, 1), X.dtype))
    if product.dtype != X.dtype:
        raise ValueError(f"A, X must have same dtypes (were {product.dtype}, {X.dtype})")
    if product.shape != (n, 1):
        raise ValueError(f"A must be ({n}, {n}) matrix A, got output {product.shape}")
    tol = jnp.finfo(X.dtype).eps if tol is None else tol

    def residuals(theta, x, ax):
        r = ax - x * theta[None]
        bound = tol * 10 * n * (jnp.abs(theta) + jnp.linalg.norm(ax, axis=0))
        return r, jnp.all(jnp.linalg.norm(r, axis=0) < bound)

    def best(basis):
        q, _ = jnp.linalg.qr(basis)
        aq = apply(q)
        theta, c = jnp.linalg.eigh(q.T.conj() @ aq)
        theta, c = theta[::-1][:k], c[:, ::-1][:, :k]
        return theta, q @ c, aq @ c, q[:, k:] @ c[k:]

    def step(state):
        i, (theta, x, ax, p), _ = state
        r, _ = residuals(theta, x, ax)
        scaled = [v / jnp.maximum(jnp.linalg.norm(v, axis=0, keepdims=True), jnp.finfo(X.dtype).tiny) for v in (r, p)]
        found = best(jnp.concatenate([x, *scaled], axis=1))
        return i + 1, found, residuals(*found[:3])[1]

    first = best(jnp.asarray(X))[:3]
    start = (0, (*first, jnp.zeros_like(first[1])), False)  # one step is made in any case
    i, (theta, x, _, _), _ = lax.while_loop(lambda state: (state[0] < m) & ~state[2], step, start)
    return theta, x, i


_wrap_api_functions(globals(), __name__)
