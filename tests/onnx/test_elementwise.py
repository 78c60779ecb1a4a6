"""Arithmetic, comparisons and functions of one number agree with ONNX Runtime."""

import numpy as np
import pytest

from onax.onnx import elementwise
from onnx_nodes import check, combinations, constant, floats, integers

POSITIVE = {"Acosh", "Log", "Sqrt", "Reciprocal"}
UNIT = {"Acos", "Asin", "Atanh"}
STEPS = {"Ceil", "Floor", "Round", "Sign", "IsNaN", "Not", "BitwiseNot"}


@pytest.mark.parametrize("name", elementwise.UNARY)
def test_unary(name):
    low, high = (1.1, 3.0) if name in POSITIVE else (-0.8, 0.8) if name in UNIT else (-1.4, 1.4)
    x = floats(3, 4, low=low, high=high)
    x = integers(3, 4) > 0 if name == "Not" else integers(3, 4) if name == "BitwiseNot" else x
    check(name, x, grad=name not in STEPS)


COMPARISONS = {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}
LOGICAL = {"And", "Or", "Xor"}


@pytest.mark.parametrize("name", elementwise.BINARY)
def test_binary(name):
    if name in LOGICAL:
        x, y = integers(3, 4) > 0, integers(4) > 0
    elif name.startswith("Bitwise"):
        x, y = integers(3, 4), integers(4)
    else:
        x, y = floats(3, 4), floats(4, low=0.5)
    check(name, x, y, grad=name not in COMPARISONS and x.dtype.kind == "f")


def test_integer_division_truncates():
    check("Div", constant(7, -7, 7, -7), constant(2, 2, -2, -2), grad=False)


@pytest.mark.parametrize("name", ["Max", "Min", "Sum", "Mean"])
def test_variadic(name):
    check(name, floats(2, 3), floats(3), floats(2, 1))


@pytest.mark.parametrize("exponent", [np.float32(2.5), np.int64(3), np.array([1, 2, 3], np.int32)])
def test_pow(exponent):
    check("Pow", floats(2, 3, low=0.5), np.asarray(exponent), grad=False)


@pytest.mark.parametrize("attributes", combinations(fmod=[0, 1]))
def test_mod(attributes):
    check("Mod", constant(7, -7, 7, -7), constant(3, 3, -3, -3), grad=False, **attributes)
    if attributes["fmod"]:
        check("Mod", floats(5), floats(5, low=0.5), grad=False, **attributes)


@pytest.mark.parametrize("direction", ["LEFT", "RIGHT"])
def test_bit_shift(direction):
    check(
        "BitShift",
        integers(4, low=0, dtype=np.uint8),
        constant(1, 2, 3, 7, dtype=np.uint8),
        grad=False,
        direction=direction,
    )


@pytest.mark.parametrize("attributes", combinations(detect_negative=[0, 1], detect_positive=[0, 1]))
def test_is_inf(attributes):
    check("IsInf", np.array([np.inf, -np.inf, np.nan, 1], np.float32), grad=False, **attributes)


def test_where_and_clip():
    check("Where", integers(3, 4) > 0, floats(3, 4), floats(4))
    check("Clip", floats(5), np.float32(-0.5), np.float32(0.5), grad=False)
    check("Clip", floats(5), None, np.float32(0.5), grad=False)
    check("Clip", floats(5), opset=10, min=-0.25, grad=False)
    check("PRelu", floats(2, 3), floats(3))
