"""Linear algebra of what is not finite, eager and in exported form: it concerns the matrix that holds it alone."""

import numpy as np
import pytest

import onax as jax
from fuzzing_worker import portable
from onax import lax
from onax._ground import onnx_runtime
from onax._ground.config import enable_x64
from onax._native import ort

BAD = (np.nan, np.inf, -np.inf)


def ways(function, *operands):
    """The results of the function itself and of its exported form."""
    ort.attach(onnx_runtime.find_runtime().library)
    with enable_x64(True):
        eager = function(*operands)
        yield [np.asarray(x) for x in (eager if isinstance(eager, (list, tuple)) else [eager])]
        yield portable(function, operands)


SYMMETRIC = np.array([[2.0, 0.5], [0.5, 1.0]], np.float32)
CONTAINERS = {
    "lu": (lax.linalg.lu, list),
    "hessenberg": (lax.linalg.hessenberg, list),
    "tridiagonal": (lax.linalg.tridiagonal, list),
    "schur": (lax.linalg.schur, list),
    "eig": (lax.linalg.eig, list),
    "eigh": (lax.linalg.eigh, tuple),
    "svd": (lax.linalg.svd, tuple),
    "qr": (lax.linalg.qr, tuple),
    "scipy lu": (jax.scipy.linalg.lu, tuple),
    "scipy lu_factor": (jax.scipy.linalg.lu_factor, tuple),
    "scipy schur": (jax.scipy.linalg.schur, list),
}


@pytest.mark.parametrize("function, container", CONTAINERS.values(), ids=CONTAINERS)
def test_results_are_lists_and_tuples_as_in_jax(function, container):
    assert type(function(SYMMETRIC)) is container
    assert type(jax.jit(function)(SYMMETRIC)) is container


def stack(at, value):
    """Three definite matrices, an element of the second replaced."""
    x = np.stack([np.array([[4.0, 1, 0.5], [1, 3, -1], [0.5, -1, 2]]) + k * np.eye(3) for k in range(3)])
    x[(1, *at)] = value
    return x


FACTORISATIONS = {
    "cholesky": lambda x: lax.linalg.cholesky(x, symmetrize_input=False),
    "eigh": lambda x: lax.linalg.eigh(x, symmetrize_input=False),
    "svd": lambda x: lax.linalg.svd(x, full_matrices=False),
    "singular values": lambda x: lax.linalg.svd(x, compute_uv=False),
    "lu": lambda x: lax.linalg.lu(x)[0],
    "qr": lambda x: lax.linalg.qr(x),
}


@pytest.mark.parametrize("value", BAD)
@pytest.mark.parametrize("name", FACTORISATIONS)
def test_stays_in_its_matrix(name, value):
    function = FACTORISATIONS[name]
    for results in ways(function, stack((2, 0), value)):
        for x in results:
            assert np.isfinite(x[::2]).all()
        if name not in ("lu", "qr"):  # LAPACK's answer
            assert any(np.isnan(x[1]).any() for x in results)
        if name in ("eigh", "svd", "singular values"):
            assert all(np.isnan(x[1]).all() for x in results)


@pytest.mark.parametrize("name", ("cholesky", "eigh"))
def test_the_other_triangle_is_not_read(name):
    for results in ways(FACTORISATIONS[name], stack((0, 2), np.nan)):
        assert all(np.isfinite(x).all() for x in results)


def test_an_infinite_variance():
    for (factor,) in ways(FACTORISATIONS["cholesky"], stack((0, 0), np.inf)):
        assert factor[1, 0, 0] == np.inf
        assert (factor[1, 1:, 0] == 0).all()
        assert np.isfinite(factor[1, 1:, 1:]).all()


def test_svd_of_infinities_returns():
    u, s, vh = jax.numpy.linalg.svd(np.array([[np.inf, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]]))
    assert all(np.isnan(x).all() for x in (u, s, vh))


@pytest.mark.parametrize("pivots", ([5, -1], [-(2**31), 2**31 - 1]))
def test_pivots_that_name_no_row(pivots):
    nearest = np.clip(pivots, 0, 2).astype(np.int32)
    want = np.asarray(lax.linalg.lu_pivots_to_permutation(nearest, 3))
    for (got,) in ways(lambda p: lax.linalg.lu_pivots_to_permutation(p, 3), np.array(pivots, np.int32)):
        assert (got == want).all()


@pytest.mark.parametrize("perturbed", (False, True))
@pytest.mark.parametrize("dtype", (np.float32, np.float64, np.complex64))
def test_a_singular_tridiagonal_system(perturbed, dtype):
    below, middle, above = (np.array(v, dtype) for v in ([[0, 1, 1]] * 2, [[1, 1, 0], [4, 5, 6]], [[0, 0, 0]] * 2))
    b = np.ones((2, 3, 1), dtype)

    def solve(*operands):
        return lax.linalg.tridiagonal_solve(*operands, perturb_singular=perturbed)

    (eager,), (exported,) = ways(solve, below, middle, above, b)
    np.testing.assert_allclose(exported, eager, rtol=1e-5)
    assert np.isfinite(eager[1]).all()
    assert np.isfinite(eager[0]).all() if perturbed else np.isnan(eager[0]).all()


@pytest.mark.parametrize(
    "dtype, exponents", [("float32", (-120, 120)), ("float64", (-1000, 1000)), ("complex128", (900,))]
)
def test_eigenvalues_of_very_large_and_very_small_matrices(dtype, exponents):
    x = np.random.default_rng(0).normal(size=(4, 4)).astype(dtype)
    for exponent in exponents:
        moved = np.ldexp(x.real, exponent).astype(dtype)
        want = np.sort(np.abs(np.linalg.eigvals(x.real.astype(np.float64))))
        for (found,) in ways(lambda a: lax.linalg.eig(a, compute_left_eigenvectors=False)[:1], moved):
            got = np.sort(np.ldexp(np.abs(found), -exponent))
            np.testing.assert_allclose(got, want, rtol=1e-5 if dtype == "float32" else 1e-12)
