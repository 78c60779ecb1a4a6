"""Convolutions agree with ONNX Runtime."""

import numpy as np
import pytest

from onnx_nodes import check, floats, integers

X, W = floats(2, 4, 7, 6), floats(6, 4, 3, 3)
ROWS = [
    {},
    {"strides": [2, 1], "pads": [1, 0, 2, 1]},
    {"dilations": [2, 2]},
    {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
    {"auto_pad": "SAME_LOWER", "strides": [2, 2]},
    {"auto_pad": "VALID"},
]


@pytest.mark.parametrize("attributes", ROWS)
def test_conv(attributes):
    check("Conv", X, W, floats(6), tolerance=1e-4, **attributes)


def test_groups_and_one_dimension():
    check("Conv", X, floats(8, 2, 3, 3), group=2, tolerance=1e-4)
    check("Conv", floats(1, 3, 9), floats(2, 3, 4), strides=[2], pads=[1, 1], tolerance=1e-4)


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"strides": [2, 2], "pads": [1, 0, 1, 1], "output_padding": [1, 0]},
        {"strides": [3, 2], "output_shape": [10, 8]},
        {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
        {"dilations": [2, 2]},
    ],
)
def test_conv_transpose(attributes):
    check("ConvTranspose", floats(1, 2, 3, 3), floats(2, 3, 3, 3), floats(3), tolerance=1e-4, **attributes)


def test_transposed_groups():
    check("ConvTranspose", floats(1, 4, 3, 3), floats(4, 3, 2, 2), group=2, tolerance=1e-4)


def test_integers():
    x, w = integers(1, 2, 5, 5, low=0, dtype=np.uint8), integers(3, 2, 3, 3, low=0, dtype=np.uint8)
    check("ConvInteger", x, w, np.uint8(2), np.uint8(1), grad=False)


def test_deformable():
    x, w = floats(1, 2, 5, 5), floats(3, 2, 2, 2)
    offset, mask = floats(1, 8, 4, 4, low=-0.4, high=0.4), floats(1, 4, 4, 4)
    check("DeformConv", x, w, offset, floats(3), mask, kernel_shape=[2, 2], reference=True, grad=False, tolerance=1e-4)
