"""Fourier transforms and windows agree with ONNX Runtime."""

import numpy as np
import pytest

from onnx_nodes import check, combinations, constant, floats

X = floats(2, 6, 5, 2)


@pytest.mark.parametrize("attributes", combinations(inverse=[0, 1]))
def test_dft(attributes):
    check("DFT", X, None, np.array(1), tolerance=1e-4, **attributes)
    check("DFT", X, None, np.array(-2), tolerance=1e-4, **attributes)
    check("DFT", X, np.array(4), np.array(1), tolerance=1e-4, grad=False, **attributes)
    check("DFT", X, opset=17, axis=2, tolerance=1e-4, grad=False, **attributes)


def test_one_side():
    check("DFT", X[..., :1], None, np.array(1), tolerance=1e-4, onesided=1)


@pytest.mark.parametrize("attributes", combinations(onesided=[0, 1]))
def test_stft(attributes):
    check("STFT", floats(1, 32, 1), constant(4)[0], floats(8), constant(8)[0], tolerance=1e-4, **attributes)


@pytest.mark.parametrize("name", ["HannWindow", "HammingWindow", "BlackmanWindow"])
@pytest.mark.parametrize("attributes", combinations(periodic=[0, 1]))
def test_window(name, attributes):
    check(name, np.array(10), grad=False, **attributes)


def test_mel():
    values = np.array(8), np.array(64), np.array(8000), np.float32(0), np.float32(4000)
    check("MelWeightMatrix", *values, grad=False)
