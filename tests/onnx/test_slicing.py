"""Slices and padding agree with ONNX Runtime."""

import numpy as np
import pytest

from onnx_nodes import check, combinations, constant, floats

X = floats(4, 5)


@pytest.mark.parametrize(
    "starts, ends, axes, steps",
    [([1, 0], [3, 9], [0, 1], [1, 2]), ([-1], [-9], [1], [-1]), ([3], [0], [0], [-2]), ([9], [1], [0], [1])],
)
def test_slice(starts, ends, axes, steps):
    check("Slice", X, constant(*starts), constant(*ends), constant(*axes), constant(*steps))


def test_slice_by_attributes():
    check("Slice", X, opset=9, starts=[1, -3], ends=[3, -1])


@pytest.mark.parametrize("attributes", combinations(mode=["constant", "reflect", "edge", "wrap"]))
def test_pad(attributes):
    check("Pad", X, constant(1, 2, 2, 1), **attributes)


def test_pad_crops_and_fills():
    check("Pad", X, constant(1, -2, -1, 1), np.float32(3))
    check("Pad", X, constant(1, 2), np.float32(3), constant(1))
    check("Pad", X, opset=10, pads=[1, 0, 0, 2], value=1.5)
