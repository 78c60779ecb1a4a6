"""Reductions agree with ONNX Runtime."""

import numpy as np
import pytest

from onax.onnx.reductions import REDUCTIONS
from onnx_nodes import check, combinations, constant, floats, integers

X = floats(2, 3, 4, low=0.5)


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("attributes", combinations(keepdims=[0, 1]))
def test_reduction(name, attributes):
    check(name, X, constant(0, -1), **attributes)
    check(name, X, grad=False, **attributes)
    check(name, X, grad=False, opset=11, axes=[1], **attributes)


@pytest.mark.parametrize("name", ["ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd"])
def test_integers_and_no_axes(name):
    check(name, integers(3, 4), constant(1), grad=False)
    check(name, X, constant(), grad=False, noop_with_empty_axes=1)


@pytest.mark.parametrize("name", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("attributes", combinations(axis=[0, -1], keepdims=[0, 1], select_last_index=[0, 1]))
def test_extremes(name, attributes):
    check(name, np.round(floats(3, 5)), grad=False, **attributes)
