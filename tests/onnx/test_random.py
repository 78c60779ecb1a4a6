"""Random numbers come from the key of the call."""

import numpy as np
import pytest

import onax as jax
from onnx_nodes import floats, model_of

ROWS = [
    ("RandomNormal", (), {"shape": [2000], "mean": 3.0, "scale": 2.0}, 3.0, 2.0),
    ("RandomUniform", (), {"shape": [2000], "low": 1.0, "high": 4.0}, 2.5, 0.87),
    ("RandomNormalLike", (floats(2000),), {}, 0.0, 1.0),
    ("RandomUniformLike", (floats(2000),), {}, 0.5, 0.29),
    ("Bernoulli", (np.full(2000, 0.25, np.float32),), {}, 0.25, 0.43),
]


@pytest.mark.parametrize("name, inputs, attributes, mean, deviation", ROWS)
def test_moments(name, inputs, attributes, mean, deviation):
    model = jax.onnx.load(model_of(name, inputs, **attributes))
    first, second = (np.asarray(model(model.params, *inputs, key=jax.random.key(i))) for i in range(2))
    assert abs(first.mean() - mean) < 0.2 and abs(first.std() - deviation) < 0.1
    assert not np.array_equal(first, second)
    assert np.array_equal(first, model(model.params, *inputs, key=jax.random.key(0)))
    assert np.array_equal(first, jax.jit(lambda key: model(model.params, *inputs, key=key))(jax.random.key(0)))


def test_multinomial():
    x = np.log(np.array([[0.7, 0.2, 0.1]], np.float32))
    model = jax.onnx.load(model_of("Multinomial", [x], sample_size=2000))
    counts = np.bincount(np.asarray(model(model.params, x, key=jax.random.key(0)))[0], minlength=3) / 2000
    np.testing.assert_allclose(counts, [0.7, 0.2, 0.1], atol=0.05)


def test_a_key_or_a_seed_is_needed():
    with pytest.raises(jax.errors.OperatorError, match="draws random numbers"):
        jax.onnx.load(model_of("RandomNormal", (), shape=[2]))({})
    seeded = jax.onnx.load(model_of("RandomNormal", (), shape=[2], seed=1.0))
    assert np.array_equal(seeded({}), seeded({}))
