"""Linear algebra of sparse matrices."""

import numpy as np
import pytest
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
    bound = sparse.linalg.spsolve_p.bind(a.data, a.indices, a.indptr, b, tol=1e-6, reorder=1)
    np.testing.assert_allclose(bound, expected, rtol=1e-5)
    by_data, by_b = jax.grad(lambda d, b: jnp.sum(solve(d, b) ** 2), (0, 1))(jnp.asarray(a.data), jnp.asarray(b))
    adjoint = np.linalg.solve(dense.T, 2 * expected)
    np.testing.assert_allclose(by_b, adjoint, rtol=1e-4)
    rows = np.repeat(np.arange(3), np.diff(a.indptr))
    np.testing.assert_allclose(by_data, -adjoint[rows] * expected[a.indices], rtol=1e-4)


@pytest.mark.parametrize("form", [jnp.asarray, sparse.BCOO.fromdense, lambda a: lambda x: jnp.asarray(a) @ x])
def test_largest_eigenvalues(form):
    n, k = 60, 3
    a = np.diag(2 * np.ones(n)) - np.diag(np.ones(n - 1), 1) - np.diag(np.ones(n - 1), -1) + np.diag(np.arange(n) / 4)
    a = a.astype(np.float32)
    x = jax.random.normal(jax.random.key(0), (n, k))
    solve = lambda x: sparse.linalg.lobpcg_standard(form(a), x)
    with jax.numpy_rank_promotion("raise"):
        theta, u, steps = (jax.jit(solve) if form is jnp.asarray else solve)(x)
    np.testing.assert_allclose(theta, np.linalg.eigvalsh(a)[::-1][:k], rtol=1e-5)
    np.testing.assert_allclose(a @ u, u * theta[None], atol=2e-3)
    np.testing.assert_allclose(u.T @ u, np.eye(k), atol=1e-5)
    assert 0 < steps < 100


def test_what_eigenvalues_need():
    x = jnp.ones((10, 2))
    with pytest.raises(ValueError, match="search dim"):
        sparse.linalg.lobpcg_standard(jnp.eye(10), x)
    with pytest.raises(ValueError, match="must have search dim > 0"):
        sparse.linalg.lobpcg_standard(jnp.eye(10), x[:, :0])
    with pytest.raises(ValueError, match="must have same dtypes"):
        sparse.linalg.lobpcg_standard(lambda x: x.astype("float16"), jnp.ones((10, 1)))
    with pytest.raises(ValueError, match="got output"):
        sparse.linalg.lobpcg_standard(lambda x: x[:5], jnp.ones((10, 1)))
    theta, _, steps = sparse.linalg.lobpcg_standard(jnp.diag(jnp.arange(10.0)), jnp.ones((10, 1)), m=2)
    assert steps == 2 and 6 < theta[0] < 9
    for m, tol in ((1, None), (9, 1e3)):  # a step is made though the residuals are small enough
        assert sparse.linalg.lobpcg_standard(jnp.eye(10), jnp.ones((10, 1)), m=m, tol=tol)[2] == 1
    with pytest.raises(ValueError, match=r"A must be \(10, 10\) matrix A, got output \(3, 1\)"):
        sparse.linalg.lobpcg_standard(jnp.ones((3, 10)), x[:, :1])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"b": jnp.arange(3)}, "data types do not match"),
        ({"indices": jnp.zeros(3)}, "index arrays must be integer typed"),
        ({"b": jnp.ones((3, 1))}, "Arrays must be one-dimensional"),
        ({"b": jnp.ones(4)}, "Invalid CSR buffer sizes"),
        ({"reorder": 4}, "must be one of"),
    ],
)
def test_what_systems_need(change, words):
    system = {"data": jnp.ones(3), "indices": jnp.arange(3), "indptr": jnp.arange(4), "b": jnp.ones(3)}
    with pytest.raises(ValueError, match=words):
        sparse.linalg.spsolve(**system | change)
