"""Convolutions in ONNX: which operator computes them, for which types, and their values in each layout."""

import numpy as np
import pytest

from lowering_runner import OPSETS, operators, run_kernel, run_lowering
from onax._prims.conv import conv_general_dilated_p
from onax.lax import ConvDimensionNumbers

RNG = np.random.default_rng(0)
PLAIN = {
    "window_strides": (1, 1), "padding": ((0, 0), (0, 0)), "lhs_dilation": (1, 1), "rhs_dilation": (1, 1),
    "dimension_numbers": ConvDimensionNumbers((0, 1, 2, 3), (0, 1, 2, 3), (0, 1, 2, 3)), "feature_group_count": 1,
    "batch_group_count": 1, "precision": None, "preferred_element_type": None,
}  # fmt: skip
CHANGES = {  # name: parameters, shapes of the operands, an operator that must be there
    "plain": ({}, (2, 4, 7, 6), (3, 4, 3, 2), "Conv"),
    "strides": ({"window_strides": (2, 3)}, (2, 4, 7, 6), (3, 4, 3, 2), "Conv"),
    "padding": ({"padding": ((1, 2), (0, 1))}, (2, 4, 7, 6), (3, 4, 3, 2), "Conv"),
    "negative padding": ({"padding": ((-1, 1), (0, -2))}, (2, 4, 7, 6), (3, 4, 3, 2), "Conv"),
    "a dilated window": ({"rhs_dilation": (2, 1)}, (2, 4, 7, 6), (3, 4, 3, 2), "Conv"),
    "a dilated operand": ({"lhs_dilation": (2, 3)}, (2, 4, 4, 3), (3, 4, 3, 2), "ConvTranspose"),
    "both": ({"lhs_dilation": (2, 1), "window_strides": (2, 2)}, (2, 4, 4, 3), (3, 4, 3, 2), "Conv"),
    "feature groups": ({"feature_group_count": 2}, (2, 4, 7, 6), (6, 2, 3, 2), "Conv"),
    "depthwise": ({"feature_group_count": 4}, (2, 4, 7, 6), (8, 1, 3, 2), "Conv"),
    "batch groups": ({"batch_group_count": 2}, (4, 3, 7, 6), (2, 3, 3, 2), "Conv"),
    "features last": (
        {"dimension_numbers": ConvDimensionNumbers((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))},
        (2, 7, 6, 4), (3, 2, 4, 3), "Conv",
    ),
    "no positions": ({}, (2, 4, 2, 6), (3, 4, 3, 2), None),
    "no features": ({}, (2, 0, 7, 6), (3, 0, 3, 2), None),
}  # fmt: skip


def operands(name, dtype):
    _, left, right, _ = CHANGES[name]
    return [RNG.integers(-3, 4, shape).astype(dtype) for shape in (left, right)]


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("name", CHANGES)
def test_operators_and_values(name, opset):
    params, x = {**PLAIN, **CHANGES[name][0]}, operands(name, np.float32)
    (got,), (want,) = (
        run_lowering(conv_general_dilated_p, x, params, opset),
        run_kernel(conv_general_dilated_p, x, params),
    )
    np.testing.assert_array_equal(got, want)
    if CHANGES[name][3] is not None:
        assert CHANGES[name][3] in operators(conv_general_dilated_p, x, params, opset)


@pytest.mark.parametrize("dtype", ["float64", "float16", "int8", "uint8", "int32", "bool"])
@pytest.mark.parametrize("name", ["plain", "feature groups", "a dilated operand"])
def test_other_types(name, dtype):
    params, x = {**PLAIN, **CHANGES[name][0]}, operands(name, dtype)
    (got,), (want,) = run_lowering(conv_general_dilated_p, x, params), run_kernel(conv_general_dilated_p, x, params)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)
