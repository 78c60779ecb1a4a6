"""Layers: the shapes that `init` tells are those that `apply` gives; values against NumPy; layers of layers."""

import numpy as np
import pytest

import onax as jax
from onax import numpy as jnp
from onax.example_libraries import stax

KEY = jax.random.key(0)
X = np.random.default_rng(0).normal(size=(2, 6, 5, 3)).astype(np.float32)
LAYERS = {
    "dense": stax.Dense(4),
    "conv": stax.Conv(4, (3, 2)),
    "conv with strides": stax.Conv(4, (3, 2), (2, 1), "SAME"),
    "transposed conv": stax.ConvTranspose(4, (3, 2), (2, 2), "SAME"),
    "batch norm": stax.BatchNorm(),
    "max pool": stax.MaxPool((2, 2)),
    "sum pool": stax.SumPool((3, 2), (2, 1), "SAME"),
    "avg pool": stax.AvgPool((2, 3), padding="SAME"),
    "flatten": stax.Flatten,
    "relu": stax.Relu,
    "softmax": stax.Softmax,
    "identity": stax.Identity,
    "of its shape": stax.shape_dependent(lambda shape: stax.Dense(shape[-1] + 1)),
    "serial": stax.serial(stax.Conv(2, (2, 2)), stax.Tanh, stax.Flatten, stax.Dense(3), stax.LogSoftmax),
    "fan out and in": stax.serial(stax.FanOut(2), stax.parallel(stax.Dense(4), stax.Identity), stax.FanInConcat()),
    "residual": stax.serial(stax.FanOut(2), stax.parallel(stax.Dense(3), stax.Identity), stax.FanInSum),
}


@pytest.mark.parametrize("name", LAYERS)
def test_shapes_are_told(name):
    init, apply = LAYERS[name]
    shape, params = init(KEY, (-1, *X.shape[1:]) if "flat" not in name and name != "serial" else X.shape)
    got = apply(params, X)
    assert got.shape == (2 if shape[0] == -1 else shape[0], *shape[1:])
    np.testing.assert_allclose(jax.jit(apply)(params, X), got, rtol=1e-5, atol=1e-6)


VALUES = {
    "dense": lambda p, x: x @ np.asarray(p[0]) + np.asarray(p[1]),
    "max pool": lambda p, x: np.lib.stride_tricks.sliding_window_view(x, (2, 2), (1, 2)).max((-2, -1)),
    "flatten": lambda p, x: x.reshape(2, -1),
    "softmax": lambda p, x: np.exp(x) / np.exp(x).sum(-1, keepdims=True),
    "batch norm": lambda p, x: (x - x.mean((0, 1, 2))) / np.sqrt(x.var((0, 1, 2)) + 1e-5),
    "residual": lambda p, x: x @ np.asarray(p[1][0][0]) + np.asarray(p[1][0][1]) + x,
}


@pytest.mark.parametrize("name", VALUES)
def test_values(name):
    init, apply = LAYERS[name]
    _, params = init(KEY, X.shape)
    params = jax.tree.map(np.asarray, params)
    params = [list(p) if isinstance(p, (list, tuple)) else p for p in params] if name == "residual" else params
    np.testing.assert_allclose(apply(params, X), VALUES[name](params, X), rtol=2e-5, atol=1e-5)


def test_averages_leave_the_padding_out():
    ones = np.ones((1, 3, 3, 1), np.float32)
    _, apply = stax.AvgPool((2, 2), padding="SAME")
    np.testing.assert_array_equal(apply((), ones), ones)


def test_dropout():
    init, apply = stax.Dropout(0.25)
    assert init(KEY, (4,)) == ((4,), ())
    x = np.ones((200, 100), np.float32)
    dropped = np.asarray(apply((), x, rng=KEY))
    assert set(np.unique(dropped)) == {0, 4} and abs((dropped > 0).mean() - 0.25) < 0.02
    np.testing.assert_array_equal(stax.Dropout(0.25, mode="test")[1]((), x, rng=KEY), x)
    with pytest.raises(ValueError, match="PRNG key"):
        apply((), x)


def test_layers_in_sequence_draw_from_keys_of_their_own():
    _, apply = stax.serial(stax.Dropout(0.5), stax.Dropout(0.5))
    kept = np.asarray(apply(((), ()), jnp.ones(10_000), rng=KEY)) > 0
    assert abs(kept.mean() - 0.25) < 0.03  # with one key for both it would be a half
