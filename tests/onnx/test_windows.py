"""Pooling agrees with ONNX Runtime."""

import numpy as np
import pytest

from onnx_nodes import check, floats

X = floats(2, 3, 7, 6)
ROWS = [
    {"kernel_shape": [2, 3]},
    {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]},
    {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1},
    {"kernel_shape": [3, 2], "auto_pad": "SAME_UPPER", "strides": [2, 2]},
    {"kernel_shape": [2, 2], "dilations": [2, 2]},
]


@pytest.mark.parametrize("attributes", ROWS)
def test_max_pool(attributes):
    check("MaxPool", X, grad="dilations" not in attributes, **attributes)
    check("MaxPool", X, outputs=2, grad=False, **attributes)


@pytest.mark.parametrize("attributes", ROWS)
@pytest.mark.parametrize("count_include_pad", [0, 1])
def test_average_pool(attributes, count_include_pad):
    check("AveragePool", X, count_include_pad=count_include_pad, **attributes)


@pytest.mark.parametrize("attributes", ROWS[:2])
def test_lp_pool(attributes):
    check("LpPool", floats(1, 2, 6, 6, low=0.5), p=2, **attributes)


@pytest.mark.parametrize("name", ["GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"])
def test_global(name):
    check(name, X, tolerance=1e-4, grad=name != "GlobalMaxPool")


def test_storage_order():
    x = np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4)
    check("MaxPool", x, outputs=2, grad=False, kernel_shape=[2, 2], storage_order=1)
