"""Kernels of linear algebra: stacks in which one matrix fails, pivots, substitution."""

import itertools

import numpy as np
import pytest

from fuzzing_worker import portable
from onax import lax
from onax._ground import onnx_runtime
from onax._ground.config import enable_x64
from onax._native import ort
from onax._prims import linalg_kernels as kernels

BAD = (np.nan, np.inf, -np.inf)


def ways(function, *operands):
    """The results of the function itself and of its exported form."""
    ort.attach(onnx_runtime.find_runtime().library)
    with enable_x64(True):
        eager = function(*operands)
        yield [np.asarray(x) for x in (eager if isinstance(eager, (list, tuple)) else [eager])]
        yield portable(function, operands)


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


@pytest.mark.parametrize("options", [
    dict(zip(("left_side", "lower", "transpose_a", "conjugate_a", "unit_diagonal"), flags))
    for flags in itertools.product((False, True), repeat=5)
])  # fmt: skip
@pytest.mark.parametrize("count", [1, 80])
def test_triangular_systems(options, count):
    """Few systems are solved by LAPACK, many small ones together."""
    rng = np.random.default_rng(0)
    a = rng.normal(size=(count, 3, 3)) + 1j * rng.normal(size=(count, 3, 3)) + 4 * np.eye(3)
    b = rng.normal(size=(count, 3, 3)) + 0j
    x = kernels.triangular_solve(a, b, **options)
    op = np.tril(a) if options["lower"] else np.triu(a)
    if options["unit_diagonal"]:
        op = op - op * np.eye(3) + np.eye(3)
    op = op.conj() if options["conjugate_a"] else op
    op = np.swapaxes(op, 1, 2) if options["transpose_a"] else op
    np.testing.assert_allclose(op @ x if options["left_side"] else x @ op, b, atol=1e-9)


@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (4, 2), (100, 3, 3), (0, 3), (3, 0), (2, 0, 0)])
def test_lu_gives_back_the_matrix(shape):
    x = np.random.default_rng(0).normal(size=shape)
    both, pivots, order = kernels.lu(x)
    m, n = shape[-2:]
    k = min(m, n)
    lower, upper = np.tril(both[..., :, :k], -1) + np.eye(m, k), np.triu(both[..., :k, :])
    np.testing.assert_allclose(lower @ upper, np.take_along_axis(x, order[..., None].astype(int), -2), atol=1e-12)
    np.testing.assert_array_equal(kernels.lu_pivots_to_permutation(pivots, permutation_size=m), order)


@pytest.mark.parametrize("name", ["qr", "eig", "svd"])
def test_dtypes_without_a_kernel_are_named(name):
    with pytest.raises(
        NotImplementedError, match=r"Unsupported dtype float16: .* has no kernel for it; convert to float32 first"
    ):
        options = {
            "qr": {"pivoting": False, "full_matrices": True},
            "eig": {"compute_left_eigenvectors": False, "compute_right_eigenvectors": True},
        }
        if name == "svd":
            kernels.geqrf(np.ones((2, 2), np.float16))
        else:
            getattr(kernels, name)(np.ones((2, 2), np.float16), **options[name])


def test_householder_products_undo_geqrf():
    x = np.random.default_rng(0).normal(size=(2, 5, 3))
    h, taus = kernels.geqrf(x)
    q = kernels.householder_product(h, taus)
    np.testing.assert_allclose(q @ np.triu(h)[:, :3], x, atol=1e-12)
    np.testing.assert_allclose(np.swapaxes(q, 1, 2) @ q, np.broadcast_to(np.eye(3), (2, 3, 3)), atol=1e-12)
    c = np.random.default_rng(1).normal(size=(2, 5, 5))
    back = kernels.ormqr(h, taus, kernels.ormqr(h, taus, c, left=True, transpose=False), left=True, transpose=True)
    np.testing.assert_allclose(back, c, atol=1e-12)
