"""Operators that change shapes agree with ONNX Runtime."""

import numpy as np
import pytest
from onnx import helper, numpy_helper

from onnx_nodes import check, combinations, constant, floats, integers

X = floats(2, 3, 4)
ROWS = [
    ("Shape", (X,), {"start": 1}),
    ("Size", (X,), {}),
    ("Reshape", (X, constant(0, -1)), {}),
    ("Flatten", (X,), {"axis": 2}),
    ("Flatten", (X,), {"axis": -1}),
    ("Squeeze", (floats(1, 3, 1), constant(0)), {}),
    ("Squeeze", (floats(1, 3, 1),), {}),
    ("Squeeze", (floats(1, 3, 1),), {"axes": [2], "opset": 11}),
    ("Unsqueeze", (X, constant(0, -1)), {}),
    ("Transpose", (X,), {"perm": [2, 0, 1]}),
    ("Transpose", (X,), {}),
    ("Expand", (floats(3, 1), constant(2, 1, 4)), {}),
    ("Tile", (X, constant(1, 2, 3)), {}),
    ("Concat", (X, X), {"axis": -1}),
    ("Split", (X,), {"outputs": 2, "axis": 2, "num_outputs": 2}),
    ("Split", (X, constant(1, 3)), {"outputs": 2, "axis": 2}),
    ("Split", (X,), {"outputs": 2, "axis": 2, "split": [3, 1], "opset": 11}),
    ("EyeLike", (floats(3, 4),), {"k": 1}),
    ("Range", (np.float32(1), np.float32(9), np.float32(2.5)), {}),
    ("DepthToSpace", (floats(1, 8, 2, 3),), {"blocksize": 2, "mode": "CRD"}),
    ("DepthToSpace", (floats(1, 8, 2, 3),), {"blocksize": 2}),
    ("SpaceToDepth", (floats(1, 2, 4, 6),), {"blocksize": 2}),
    ("CenterCropPad", (floats(5, 3), constant(3, 6)), {}),
]
FIXED = {"Shape", "Size", "EyeLike", "Range"}


@pytest.mark.parametrize("name, inputs, attributes", ROWS)
def test_shape(name, inputs, attributes):
    check(name, *inputs, grad=name not in FIXED, **attributes)


@pytest.mark.parametrize("attributes", combinations(upper=[0, 1]))
@pytest.mark.parametrize("k", [-1, 0, 2])
def test_trilu(attributes, k):
    check("Trilu", X, np.array(k), **attributes)


def test_constants():
    check("ConstantOfShape", constant(2, 3), grad=False, value=numpy_helper.from_array(np.array([7], np.int32)))
    check("Constant", grad=False, value_floats=[1.0, 2.0])
    check("Constant", grad=False, value=helper.make_tensor("", 7, [2], [3, 4]))


def test_parts_must_make_up_the_whole():
    with pytest.raises(ValueError, match="do not make up the size 4"):
        check("Split", X, constant(1, 2), outputs=2, axis=2, reference=True)


def test_reshape_of_integers_under_jit():
    check("Reshape", integers(2, 6), constant(3, 4), grad=False)
