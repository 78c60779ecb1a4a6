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


SAMPLES = np.array([0, 1, 4, 9, 5], np.float32)
CUBIC_AS_IN_PYTORCH = [  # length, antialias, what JAX gives: Keys' slope with antialias; edges repeated without
    (3, True, [0.169231057, 4.60465193, 6.90769339]),
    (3, False, [0.148149893, 4.0, 6.53704023]),
    (
        8,
        True,
        [-0.0719557181, 0.243749276, 1.12890625, 2.84765625, 5.71691895, 8.93103027, 6.83091688, 4.7121768],
    ),
    (
        8,
        False,
        [-0.0928344727, 0.187561035, 1.17651367, 2.61938477, 5.99554443, 8.92462158, 7.12298584, 4.62866211],
    ),
    (1, True, [3.93738127]),
    (1, False, [4.0]),
]


@pytest.mark.parametrize("length, antialias, wanted", CUBIC_AS_IN_PYTORCH)
def test_cubic_as_in_pytorch(length, antialias, wanted):
    resized = lambda x: image.resize(x, (length,), "cubic-pytorch", antialias=antialias)
    for function in (resized, jax.jit(resized), lambda x: jax.vmap(resized)(x[None])[0]):
        np.testing.assert_allclose(function(SAMPLES), wanted, rtol=1e-5)
    weights = jax.jacobian(resized)(SAMPLES)  # resizing is linear
    np.testing.assert_allclose(weights @ SAMPLES, wanted, rtol=1e-5, atol=1e-6)


def test_edges_are_repeated_in_any_direction():
    one = image.resize(np.full(1, 2, np.float32), (3,), "cubic-pytorch", antialias=False)
    np.testing.assert_allclose(one, [2, 2, 2], rtol=1e-6)
    moved = image.scale_and_translate(
        SAMPLES, (6,), (0,), np.float32([1.5]), np.float32([-1]), "cubic-pytorch", antialias=False
    )
    wanted = [0.21875, 1.43055487, 3.15277648, 7.15625286, 8.85995293, 5.66087866]  # JAX's
    np.testing.assert_allclose(moved, wanted, rtol=1e-5)


@pytest.mark.parametrize("scale, translation", [([0.5, 0.5], [0.0]), ([0.5], [0.0, 1.0]), ([], [])])
def test_each_axis_has_a_scale_and_a_translation(scale, translation):
    with pytest.raises(AssertionError, match="for each of 1 axes"):
        image.scale_and_translate(SAMPLES, (6,), (0,), np.float32(scale), np.float32(translation), "linear")


@pytest.mark.parametrize("axis", [1, -2, 5])
def test_axes_out_of_bounds_are_refused(axis):
    one = np.ones(1, np.float32)
    with pytest.raises(ValueError, match=f"axis {axis} is out of bounds for array of dimension 1"):
        image.scale_and_translate(SAMPLES, (6,), (axis,), one, one, "linear")
