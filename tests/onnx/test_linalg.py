"""Determinants agree with ONNX Runtime."""

from onnx_nodes import check, floats


def test_det():
    check("Det", floats(3, 4, 4), tolerance=1e-4)
    check("Det", floats(3, 3))
