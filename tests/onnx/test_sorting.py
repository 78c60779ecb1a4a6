"""Operators that order elements agree with ONNX Runtime."""

import numpy as np
import pytest

import onax as jax
from onnx_nodes import check, combinations, constant, distinct, expected, floats, integers, model_of


@pytest.mark.parametrize("attributes", combinations(axis=[0, -1], largest=[0, 1]))
def test_top_k(attributes):
    check("TopK", distinct(4, 5), constant(3), outputs=2, **attributes)
    check("TopK", integers(4, 5), constant(3), outputs=2, grad=False, **attributes)


def test_top_k_of_attribute():
    check("TopK", distinct(4, 5), outputs=2, opset=9, k=2)


@pytest.mark.parametrize("attributes", [{"sorted": 0}, {"sorted": 1}, {"sorted": 1, "axis": 0}])
def test_unique(attributes):
    x = np.array([[2.0, 1.0, 1.0], [3.0, 4.0, 3.0], [2.0, 1.0, 1.0]], np.float32)
    message = model_of("Unique", [x], 4, **attributes)
    model = jax.onnx.load(message)
    for got, answer in zip(model(model.params, x), expected(message, [x])):
        np.testing.assert_array_equal(got, answer)


@pytest.mark.parametrize("attributes", combinations(center_point_box=[0, 1]))
def test_non_max_suppression(attributes):
    boxes = floats(2, 6, 4, low=0, high=1)
    limit, overlap, least = np.array(3), np.float32(0.3), np.float32(0.1)
    check("NonMaxSuppression", boxes, floats(2, 2, 6, low=0, high=1), limit, overlap, least, grad=False, **attributes)
