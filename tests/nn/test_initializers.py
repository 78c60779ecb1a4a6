"""Initializers: variances, orthogonality, dtypes, refusals."""

import numpy as np
import pytest

import onax as jax
from onax import nn


@pytest.mark.parametrize("name, scale, fan", [("lecun", 1, 300), ("he", 2, 300), ("glorot", 1, 350)])
@pytest.mark.parametrize("kind", ["normal", "uniform"])
def test_variances(name, scale, fan, kind):
    init = getattr(nn.initializers, f"{name}_{kind}")()
    w = np.asarray(init(jax.random.key(0), (300, 400)))
    assert abs(w.var() * fan / scale - 1) < 0.02


def test_orthogonal():
    w = np.asarray(nn.initializers.orthogonal(2.0)(jax.random.key(1), (6, 4)))
    np.testing.assert_allclose(w.T @ w, 4 * np.eye(4), 0, 1e-5)


KEY = jax.random.key(3)


@pytest.mark.parametrize(("mode", "n"), [("fan_in", 100), ("fan_out", 400), ("fan_avg", 250), ("fan_geo_avg", 200)])
@pytest.mark.parametrize("distribution", ["normal", "truncated_normal", "uniform"])
@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_variance_scaling(mode, n, distribution, dtype):
    init = nn.initializers.variance_scaling(3.0, mode, distribution, dtype=dtype)
    w = np.asarray(init(KEY, (100, 400)))
    assert w.dtype == dtype and abs(np.var(w) * n / 3 - 1) < 0.03


def test_axes_of_inputs_outputs_and_copies():
    init = nn.initializers.lecun_normal(in_axis=(1, 2), out_axis=3, batch_axis=0)
    w = np.asarray(init(KEY, (10, 20, 30, 40)))
    assert abs(w.var() * 600 - 1) < 0.02
    convolution = np.asarray(nn.initializers.he_normal()(KEY, (3, 3, 100, 50)))
    assert abs(convolution.var() * 900 / 2 - 1) < 0.03


SIMPLE = {
    "zeros": (nn.initializers.zeros, 0, 0),
    "ones": (nn.initializers.ones, 1, 0),
    "constant": (nn.initializers.constant(2.5), 2.5, 0),
    "uniform": (nn.initializers.uniform(2.0), 1, 2 / 12**0.5),
    "normal": (nn.initializers.normal(0.5), 0, 0.5),
    "truncated_normal": (nn.initializers.truncated_normal(0.5), 0, 0.5 * 0.8796),
}


@pytest.mark.parametrize("dtype", [None, np.float16, np.float32])
@pytest.mark.parametrize("name", SIMPLE)
def test_mean_and_deviation(name, dtype):
    init, mean, deviation = SIMPLE[name]
    w = jax.jit(lambda key: init(key, (100, 200)) if dtype is None else init(key, (100, 200), dtype))(KEY)
    assert w.shape == (100, 200) and w.dtype == (dtype or np.float32) and not w.weak_type
    w = np.asarray(w, np.float64)
    assert abs(w.mean() - mean) < 0.02 and abs(w.std() - deviation) < 0.02


def test_bounds():
    w = np.asarray(nn.initializers.truncated_normal(0.5, lower=-1, upper=3)(KEY, (100, 100)))
    assert -0.5 <= w.min() < -0.48 and 1.4 < w.max() <= 1.5
    w = np.asarray(nn.initializers.glorot_uniform()(KEY, (100, 50)))
    assert 0.19 < w.max() <= 0.2 and -0.2 <= w.min() < -0.19


@pytest.mark.parametrize("column_axis", [-1, 0])
def test_delta_orthogonal(column_axis):
    w = np.array(nn.initializers.delta_orthogonal(2.0, column_axis)(KEY, (3, 5, 4, 4)))
    np.testing.assert_allclose(w[1, 2].T @ w[1, 2], 4 * np.eye(4), atol=1e-5)
    w[1, 2] = 0
    assert not w.any()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: nn.initializers.he_normal()(KEY, (3,)), ValueError, "at least 2D"),
        (lambda: nn.initializers.orthogonal()(KEY, (3,)), ValueError, "at least a 2D shape"),
        (lambda: nn.initializers.delta_orthogonal()(KEY, (3, 3)), ValueError, "3D, 4D or 5D"),
        (lambda: nn.initializers.delta_orthogonal()(KEY, (3, 5, 4)), ValueError, "fan_in"),
        (lambda: nn.initializers.variance_scaling(1.0, "fan", "normal")(KEY, (3, 3)), ValueError, "fan"),
        (lambda: nn.initializers.variance_scaling(1.0, "fan_in", "cauchy")(KEY, (3, 3)), ValueError, "cauchy"),
        (lambda: nn.initializers.Initializer.__call__(None, KEY, (3,)), NotImplementedError, "protocol"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()
