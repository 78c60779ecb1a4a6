"""Quantized operators give ONNX Runtime's integers."""

import numpy as np
import pytest

from onnx_nodes import check, floats, integers

SCALE = np.float32(0.05)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, np.uint16])
def test_linear(dtype):
    check("QuantizeLinear", floats(3, 4, high=9), SCALE, np.array(3, dtype), grad=False)
    check("DequantizeLinear", integers(3, 4, low=0, high=100, dtype=dtype), SCALE, np.array(3, dtype), grad=False)


def test_along_an_axis_and_by_blocks():
    x, scales, zeros = floats(3, 4), floats(4, low=0.02, high=0.1), integers(4, low=0, dtype=np.uint8)
    check("QuantizeLinear", x, scales, zeros, grad=False, axis=1)
    q = integers(3, 4, low=0, high=200, dtype=np.uint8)
    check("DequantizeLinear", q, scales, zeros, grad=False, axis=1)
    blocks, zero_blocks = floats(3, 2, low=0.02, high=0.1), integers(3, 2, low=0, dtype=np.uint8)
    check("DequantizeLinear", q, blocks, zero_blocks, grad=False, axis=1, block_size=2)


def test_dynamic():
    check("DynamicQuantizeLinear", floats(5, 4), outputs=3, grad=False)


def test_matmul():
    x, y = integers(3, 4, low=0, high=200, dtype=np.uint8), integers(4, 2, low=0, high=200, dtype=np.uint8)
    zero = np.uint8(100)
    check("QLinearMatMul", x, SCALE, zero, y, np.float32(0.02), zero, np.float32(0.3), zero, grad=False)


def test_conv():
    x, w = integers(1, 2, 5, 5, low=0, high=200, dtype=np.uint8), integers(3, 2, 3, 3, low=0, high=200, dtype=np.uint8)
    zero, bias = np.uint8(100), integers(3, low=-500, high=500, dtype=np.int32)
    check("QLinearConv", x, SCALE, zero, w, np.float32(0.01), zero, np.float32(0.9), zero, bias, grad=False)
    scales = floats(3, low=0.01, high=0.03)
    check("QLinearConv", x, SCALE, zero, w, scales, np.full(3, 100, np.uint8), np.float32(0.9), zero, grad=False)
