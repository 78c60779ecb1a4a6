"""Eigenvalues and singular values: ranges, options that are refused, derivatives."""

import numpy as np
import pytest

import onax as jax
from fuzzing_worker import portable
from onax import lax
from onax._ground import onnx_runtime
from onax._ground.config import enable_x64
from onax._native import ort


def ways(function, *operands):
    """The results of the function itself and of its exported form."""
    ort.attach(onnx_runtime.find_runtime().library)
    with enable_x64(True):
        eager = function(*operands)
        yield [np.asarray(x) for x in (eager if isinstance(eager, (list, tuple)) else [eager])]
        yield portable(function, operands)


def test_svd_of_infinities_returns():
    u, s, vh = jax.numpy.linalg.svd(np.array([[np.inf, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]]))
    assert all(np.isnan(x).all() for x in (u, s, vh))


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


X = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 5.0]], np.float32)
REFUSED = {
    "subset of eigenvalues": lambda: lax.linalg.eigh(X, subset_by_index=(0, 1)),
    "subset of singular values": lambda: lax.linalg.svd(X, full_matrices=False, subset_by_index=(0, 1)),
    "derivative of eigenvectors": lambda: jax.jvp(lambda x: lax.linalg.eig(x)[1], (X,), (X,)),
    "derivative of full vectors": lambda: jax.jvp(lambda x: lax.linalg.svd(x)[0], (X[:2],), (X[:2],)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_jax_refuses_on_a_cpu(name):
    with pytest.raises(NotImplementedError):
        REFUSED[name]()


@pytest.mark.parametrize(
    "function, error, message",
    [
        (lax.linalg.eigh, TypeError, "add got incompatible shapes for broadcasting"),  # as it symmetrizes
        (lax.linalg.eig, ValueError, "must be a square matrix"),
        (lax.linalg.schur, ValueError, "must be a square matrix"),
    ],
)
def test_matrices_must_be_square(function, error, message):
    with pytest.raises(error, match=message):
        function(X[:2])


def test_decompositions_give_back_the_matrix():
    v, w = lax.linalg.eigh(X)
    np.testing.assert_allclose((v * w) @ v.T, X, atol=1e-5)
    w, left, right = lax.linalg.eig(X + np.triu(X, 1))
    np.testing.assert_allclose((X + np.triu(X, 1)) @ right, right * w, atol=1e-4)
    np.testing.assert_allclose(np.conj(left).T @ (X + np.triu(X, 1)), w[:, None] * np.conj(left).T, atol=1e-4)
    for options in ({}, {"full_matrices": False}, {"algorithm": lax.linalg.SvdAlgorithm.QR}):
        u, s, vh = lax.linalg.svd(X[:2], **options)
        np.testing.assert_allclose((u[:, :2] * s) @ vh[:2], X[:2], atol=1e-5)
    t, z = lax.linalg.schur(X)
    np.testing.assert_allclose(z @ t @ z.T, X, atol=1e-5)


def test_the_triangle_that_is_read():
    other = X + np.array([[0, 9, 9], [0, 0, 9], [0, 0, 0]], np.float32)
    for lower, x in ((True, other), (False, other.T)):
        w = lax.linalg.eigh(x, lower=lower, symmetrize_input=False)[1]
        np.testing.assert_allclose(w, np.linalg.eigvalsh(X), rtol=1e-5)


def test_derivatives_of_values_and_vectors():
    def rebuilt(x):
        v, w = lax.linalg.eigh(x)
        return (v * w**2) @ v.T  # x squared, whatever the signs of the vectors

    _, tangent = jax.jvp(rebuilt, (X,), (X,))
    np.testing.assert_allclose(tangent, 2 * X @ X, rtol=1e-4, atol=1e-3)
    g = jax.grad(lambda x: lax.linalg.svd(x, compute_uv=False).sum())(X)
    u, _, vh = lax.linalg.svd(X)
    np.testing.assert_allclose(g, u @ vh, atol=1e-4)
