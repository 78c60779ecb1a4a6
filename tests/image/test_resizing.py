"""Resizing: weights add up, known results, shapes, derivatives."""

import numpy as np
import pytest

import onax as jax
from onax import image

X = np.random.default_rng(0).normal(size=(7, 5)).astype(np.float32)
METHODS = ("linear", "cubic", "cubic-pytorch", "lanczos3", "lanczos5", "area", "nearest")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", [(3, 9), (14, 5), (7, 5)])
def test_constants_stay_constant(method, shape):
    np.testing.assert_allclose(image.resize(np.full((7, 5), 2.5, np.float32), shape, method), np.full(shape, 2.5), 1e-6)


def test_known_results():
    np.testing.assert_allclose(
        image.resize(X[:6, :4], (3, 2), "area"), X[:6, :4].reshape(3, 2, 2, 2).mean((1, 3)), 1e-5
    )
    np.testing.assert_array_equal(image.resize(X, (14, 5), "nearest"), np.repeat(X, 2, axis=0))
    np.testing.assert_allclose(image.resize(X, (14, 5), "linear")[1], 0.75 * X[0] + 0.25 * X[1], 1e-5)
    moved = image.scale_and_translate(X, X.shape, (0,), np.ones(1, np.float32), np.array([2.0], np.float32), "linear")
    np.testing.assert_allclose(moved[2:], X[:-2], 1e-5)
    assert not np.asarray(moved[:2]).any()


def test_under_jit_and_grad():
    resized = jax.jit(lambda x: image.resize(x, (4, 8), "cubic"))(X)
    np.testing.assert_allclose(resized, image.resize(X, (4, 8), "cubic"), 1e-5, 1e-6)
    weights = jax.grad(lambda x: image.resize(x, (4, 8), "linear").sum())(X)
    np.testing.assert_allclose(np.sum(weights * X), image.resize(X, (4, 8), "linear").sum(), 1e-4)


def test_refusals():
    with pytest.raises(ValueError, match="number of dimensions"):
        image.resize(X, (3,), "linear")
    with pytest.raises(ValueError, match="resize method"):
        image.resize(X, (3, 3), "best")
