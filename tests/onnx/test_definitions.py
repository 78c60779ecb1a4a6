"""Operators that ONNX defines by others agree with ONNX Runtime or onnx's reference."""

import pytest

from onnx_nodes import check, floats, integers

Q, K, V = floats(2, 4, 3, 8), floats(2, 2, 5, 8), floats(2, 2, 5, 8)


@pytest.mark.parametrize("attributes", [{}, {"is_causal": 1}, {"softcap": 2.0}, {"scale": 0.3}])
def test_attention(attributes):
    check("Attention", Q, K, V, opset=23, reference=True, tolerance=1e-4, **attributes)


def test_attention_with_a_mask():
    check("Attention", Q, K, V, integers(3, 5) > -2, opset=23, reference=True, grad=False, tolerance=1e-4)


@pytest.mark.parametrize("name", ["NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"])
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_losses(name, reduction):
    labels = integers(3, low=0, high=5)
    check(name, floats(3, 5), labels, reduction=reduction)
    check(name, floats(3, 5), labels, floats(5, low=0.5), reduction=reduction, ignore_index=2, grad=False)


def test_rotary_embedding():
    check(
        "RotaryEmbedding",
        floats(2, 3, 4, 8),
        floats(6, 4),
        floats(6, 4),
        integers(2, 4, low=0, high=6),
        opset=23,
        reference=True,
    )
