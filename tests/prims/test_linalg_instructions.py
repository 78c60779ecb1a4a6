"""Instructions of linear algebra as kernels of eager operations, beside NumPy and SciPy."""

import numpy as np
import pytest
import scipy.linalg

from onax import lax
from onax._ground.config import enable_x64

SIZES = [0, 1, 2, 5, 33, 64, 65, 100, 130]
DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


def matrix(n, dtype, m=None, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n if m is None else m, n)) + 3 * np.eye(n if m is None else m, n)
    return (x + 1j * rng.normal(size=x.shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


@pytest.fixture(params=DTYPES, ids=lambda d: np.dtype(d).name)
def dtype(request):
    with enable_x64(True):
        yield request.param


def near(got, want, n):
    assert got.dtype == want.dtype
    scale = max(1.0, float(np.abs(want).max(initial=0)))
    np.testing.assert_allclose(got, want, rtol=0, atol=100 * max(n, 1) * np.finfo(want.dtype).eps * scale)


@pytest.mark.parametrize("n", SIZES)
def test_factorisations(n, dtype):
    x = matrix(n, dtype)
    definite = x @ x.conj().T + n * np.eye(n, dtype=dtype)
    near(lax.linalg.cholesky(definite), np.linalg.cholesky(definite), n)
    both, _, order = lax.linalg.lu(x)
    if n:
        lower, upper = np.tril(both, -1) + np.eye(n, dtype=dtype), np.triu(both)
        near(lower @ upper, x[np.asarray(order)], n)
    for full in (False, True):
        q, r = lax.linalg.qr(matrix(n, dtype, n + 2), full_matrices=full)
        near(np.asarray(q) @ np.asarray(r), matrix(n, dtype, n + 2), n + 2)


@pytest.mark.parametrize("n", SIZES)
def test_spectral_forms(n, dtype):
    x = matrix(n, dtype)
    values, vectors = lax.linalg.eig(x, compute_left_eigenvectors=False)
    if n:
        vectors = np.asarray(vectors)
        near(x @ vectors, vectors * np.asarray(values), 10 * n)
    form, z = map(np.asarray, lax.linalg.schur(x))
    near(z @ form @ z.conj().T, x, 10 * n)


@pytest.mark.parametrize("shape", [(0, 3, 3), (2, 0, 0), (0, 0), (3, 0, 70, 70)])
@pytest.mark.parametrize("name", ["eig", "schur", "lu", "eigh", "cholesky"])
def test_no_matrices_and_empty_matrices(name, shape, dtype):
    out = getattr(lax.linalg, name)(np.zeros(shape, dtype))
    for x in out if isinstance(out, (list, tuple)) else [out]:
        assert x.shape[: len(shape) - 2] == shape[:-2] and x.size == 0


@pytest.mark.parametrize("n", [1, 4, 70])
def test_what_is_not_finite_gives_nan(n, dtype):
    x = np.stack([matrix(n, dtype), matrix(n, dtype)])
    x[1, 0, 0] = np.inf
    for out in (*lax.linalg.eig(x), *lax.linalg.schur(x)):
        assert np.isfinite(out[0]).all() and np.isnan(out[1]).all()


def test_large_and_small_numbers_have_eigenvalues():
    with enable_x64(True):
        for scale in (1e-300, 1e300):
            x = np.array([[1.0, 2.0], [2.0, 1.0]]) * scale
            values = np.sort(np.asarray(lax.linalg.eig(x)[0]).real)
            np.testing.assert_allclose(values, np.array([-1.0, 3.0]) * scale, rtol=1e-14)


@pytest.mark.parametrize("n", [1, 2, 5, 80])
def test_tridiagonal_systems(n, dtype):
    bands = [matrix(n, dtype, seed=i)[0] + (4 if i == 1 else 0) for i in range(3)]
    b = matrix(2, dtype, n)
    full = np.diag(bands[1]) + np.diag(bands[0][1:], -1) + np.diag(bands[2][:-1], 1)
    near(lax.linalg.tridiagonal_solve(*bands, b), scipy.linalg.solve(full, b), 10 * n)


def test_permutations_are_those_of_pivots():
    pivots = np.array([[2, 2, 2], [0, 1, 2]], np.int32)
    np.testing.assert_array_equal(lax.linalg.lu_pivots_to_permutation(pivots, 4), [[2, 0, 1, 3], [0, 1, 2, 3]])
