"""Activation functions agree with ONNX Runtime, which has their definitions where it has no kernels."""

import pytest

from onnx_nodes import check, combinations, floats

ROWS = [
    ("Relu", {}),
    ("Sigmoid", {}),
    ("Softplus", {}),
    ("Softsign", {}),
    ("LeakyRelu", {"alpha": 0.1}),
    ("ThresholdedRelu", {"alpha": 0.3}),
    ("Elu", {"alpha": 1.5}),
    ("Celu", {"alpha": 1.5}),
    ("HardSwish", {}),
    ("HardSigmoid", {}),
    ("Mish", {}),
    ("Selu", {}),
    ("Shrink", {"bias": 0.2, "lambd": 0.4}),
    ("Gelu", {}),
    ("Gelu", {"approximate": "tanh"}),
]


@pytest.mark.parametrize("name, attributes", ROWS)
def test_activation(name, attributes):
    check(name, floats(3, 4), grad=name not in ("Shrink", "ThresholdedRelu"), **attributes)


@pytest.mark.parametrize("name", ["Softmax", "LogSoftmax", "Hardmax"])
@pytest.mark.parametrize("attributes", combinations(opset=[11, 21], axis=[0, 1, -1]))
def test_along_an_axis(name, attributes):
    check(name, floats(2, 3, 4), grad=name != "Hardmax", **attributes)


def test_swish():
    check("Swish", floats(3, 4), opset=24, alpha=1.5, reference=True)
