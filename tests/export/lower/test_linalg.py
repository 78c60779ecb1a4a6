"""Factorizations in ONNX: they give back the matrix, for stacks, for sizes 0 and 1, and say NaN where they fail."""

import numpy as np
import pytest

import onax as jax
from onax import lax
from onax.export import export

RNG = np.random.default_rng(0)
SHAPES = [(3, 3), (2, 4, 4), (1, 1), (0, 0), (0, 3, 3)]


def exported(function, *operands):
    return jax.tree.map(np.asarray, export(jax.jit(function))(*operands).call(*operands))


def matrices(shape, dtype):
    x = RNG.normal(size=shape)
    return (x + 1j * RNG.normal(size=shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def adjoint(x):
    return np.swapaxes(x, -1, -2).conj()


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_cholesky(shape, dtype):
    x = matrices(shape, dtype)
    x = x @ adjoint(x) + np.eye(shape[-1], dtype=dtype)
    factor = exported(lambda a: lax.linalg.cholesky(a), x)
    np.testing.assert_allclose(factor @ adjoint(factor), x, atol=1e-4)
    assert not np.triu(factor, 1).any()


def test_cholesky_of_an_indefinite_matrix_is_nan_alone():
    x = np.stack([np.eye(2), -np.eye(2)]).astype(np.float32)
    factor = exported(lambda a: lax.linalg.cholesky(a), x)
    assert np.isfinite(factor[0]).all() and np.isnan(factor[1]).any()


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("shape", [*SHAPES, (2, 4), (4, 2)])
def test_lu(shape, dtype):
    x = matrices(shape, dtype)
    both, pivots, order = exported(lax.linalg.lu, x)
    m, n = shape[-2:]
    lower, upper = np.tril(both[..., :, : min(m, n)], -1) + np.eye(m, min(m, n)), np.triu(both[..., : min(m, n), :])
    np.testing.assert_allclose(lower @ upper, np.take_along_axis(x, order[..., None].astype(int), -2), atol=1e-4)
    np.testing.assert_array_equal(exported(lambda p: lax.linalg.lu_pivots_to_permutation(p, m), pivots), order)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("shape", [(3, 3), (5, 3), (3, 5), (2, 4, 4)])
def test_qr(shape, full, dtype):
    x = matrices(shape, dtype)
    q, r = exported(lambda a: lax.linalg.qr(a, full_matrices=full), x)
    np.testing.assert_allclose(q @ r, x, atol=1e-4)
    np.testing.assert_allclose(
        adjoint(q) @ q, np.broadcast_to(np.eye(q.shape[-1]), (*shape[:-2], *[q.shape[-1]] * 2)), atol=1e-4
    )


@pytest.mark.parametrize("flags", range(16))
def test_triangular_systems(flags):
    options = {
        name: bool(flags >> i & 1) for i, name in enumerate(("left_side", "lower", "transpose_a", "unit_diagonal"))
    }
    a, b = matrices((2, 3, 3), "float32") + 4 * np.eye(3, dtype=np.float32), matrices((2, 3, 3), "float32")
    function = lambda a, b: lax.linalg.triangular_solve(a, b, **options)
    np.testing.assert_allclose(exported(function, a, b), function(a, b), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)])
def test_singular_values_and_eigenvalues(shape):
    x = matrices(shape, "float32")
    u, s, vh = exported(lambda a: lax.linalg.svd(a, full_matrices=False), x)
    np.testing.assert_allclose((u * s) @ vh, x, atol=1e-4)
    h = x @ adjoint(x)
    v, w = exported(lambda a: lax.linalg.eigh(a), h)
    np.testing.assert_allclose((v * w) @ v.T, h, atol=1e-3)
    assert (np.diff(w) >= -1e-4).all() and (np.diff(s) <= 0).all()
