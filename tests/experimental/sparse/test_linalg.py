"""Linear algebra of sparse matrices."""

import numpy as np
import scipy.sparse

import onax as jax
import onax.numpy as jnp
from onax.experimental import sparse


def test_solutions_and_their_derivatives():
    dense = np.array([[4, 1, 0], [0, 3, -1], [2, 0, 5]], np.float32)
    a = scipy.sparse.csr_matrix(dense)
    b = np.array([1, 2, 3], np.float32)
    solve = lambda data, b: sparse.linalg.spsolve(data, jnp.asarray(a.indices), jnp.asarray(a.indptr), b)
    expected = np.linalg.solve(dense, b)
    np.testing.assert_allclose(solve(a.data, b), expected, rtol=1e-5)
    np.testing.assert_allclose(jax.jit(solve)(a.data, b), expected, rtol=1e-5)
    by_data, by_b = jax.grad(lambda d, b: jnp.sum(solve(d, b) ** 2), (0, 1))(jnp.asarray(a.data), jnp.asarray(b))
    adjoint = np.linalg.solve(dense.T, 2 * expected)
    np.testing.assert_allclose(by_b, adjoint, rtol=1e-4)
    rows = np.repeat(np.arange(3), np.diff(a.indptr))
    np.testing.assert_allclose(by_data, -adjoint[rows] * expected[a.indices], rtol=1e-4)
