"""Products of matrices agree with ONNX Runtime."""

import numpy as np
import pytest

from onnx_nodes import check, combinations, floats, integers


@pytest.mark.parametrize("shapes", [((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((3,), (3,)), ((2, 1, 2, 3), (5, 3, 2))])
def test_matmul(shapes):
    check("MatMul", *[floats(*shape) for shape in shapes])


@pytest.mark.parametrize("attributes", combinations(transA=[0, 1], transB=[0, 1], alpha=[1.0, 0.5], beta=[1.0, 2.0]))
def test_gemm(attributes):
    x = floats(*((3, 2) if attributes["transA"] else (2, 3)))
    y = floats(*((4, 3) if attributes["transB"] else (3, 4)))
    check("Gemm", x, y, floats(4), **attributes)


def test_einsum():
    check("Einsum", floats(2, 3, 4), floats(2, 4, 5), equation="bij, bjk -> bik")


def test_integers():
    x, y = integers(3, 4, low=0, high=9, dtype=np.uint8), integers(4, 2, low=0, high=9, dtype=np.uint8)
    check("MatMulInteger", x, y, np.uint8(3), np.uint8(2), grad=False)
    check("MatMulInteger", x, y, grad=False)
