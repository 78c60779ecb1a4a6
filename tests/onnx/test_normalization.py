"""Normalizations agree with ONNX Runtime or onnx's reference."""

import numpy as np
import pytest

import onax as jax
from onnx_nodes import check, floats, model_of

X = floats(2, 4, 3, 5)
MEAN, VARIANCE = floats(4), floats(4, low=0.5)


def test_batch_norm():
    check("BatchNormalization", X, floats(4), floats(4), MEAN, VARIANCE, tolerance=1e-4)
    inputs = X, floats(4), floats(4), MEAN, VARIANCE
    check("BatchNormalization", *inputs, outputs=3, training_mode=1, reference=True, grad=False, tolerance=1e-4)


def test_batch_statistics_in_training():
    message = model_of("BatchNormalization", [X, np.ones(4, np.float32), np.zeros(4, np.float32), MEAN, VARIANCE])
    model = jax.onnx.load(message)
    y = model(model.params, X, np.ones(4, np.float32), np.zeros(4, np.float32), MEAN, VARIANCE, training=True)
    np.testing.assert_allclose(np.mean(np.asarray(y), (0, 2, 3)), np.zeros(4), atol=1e-5)


ROWS = [
    ("InstanceNormalization", (X, floats(4), floats(4)), {}),
    ("GroupNormalization", (X, floats(4), floats(4)), {"num_groups": 2, "reference": True}),
    ("GroupNormalization", (X, floats(2), floats(2)), {"num_groups": 2, "opset": 18, "reference": True}),
    ("LayerNormalization", (X, floats(5), floats(5)), {}),
    ("LayerNormalization", (X, floats(3, 5)), {"axis": 2, "outputs": 3}),
    ("MeanVarianceNormalization", (X,), {}),
    ("LpNormalization", (X,), {"p": 1, "axis": 1}),
    ("LpNormalization", (X,), {}),
    ("LRN", (X,), {"size": 3, "bias": 2.0}),
    ("RMSNormalization", (X, floats(5)), {"opset": 23, "reference": True}),
]


@pytest.mark.parametrize("name, inputs, attributes", ROWS)
def test_normalization(name, inputs, attributes):
    check(name, *inputs, tolerance=1e-4, grad=False, **attributes)


def test_dropout():
    x = floats(400, low=1.0)
    model = jax.onnx.load(model_of("Dropout", [x, np.float32(0.25)], 2))
    still, kept = model(model.params, x, np.float32(0.25))
    assert np.array_equal(still, x) and np.all(kept)
    y, kept = model(model.params, x, np.float32(0.25), key=jax.random.key(0), training=True)
    np.testing.assert_allclose(np.asarray(y), np.where(kept, x / 0.75, 0), rtol=1e-6)
    assert 0.6 < np.mean(np.asarray(kept)) < 0.9
    with pytest.raises(jax.errors.OperatorError, match=r"key=onax\.random\.key"):
        model(model.params, x, np.float32(0.25), training=True)
