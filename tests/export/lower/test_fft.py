"""Fourier transforms in ONNX: every kind of length, the operators of powers of 2, refusals."""

import numpy as np
import pytest

import onax as jax
from onax import lax
from onax._ground.errors import LoweringError
from onax.export import export, symbolic_shape

RNG = np.random.default_rng(0)


def exported(function, x, opset=21):
    return export(jax.jit(function), opset=opset)(x)


# 1; powers of 2; smooth lengths; a prime by a matrix; a prime too long for one (convolutions of a power of 2)
@pytest.mark.parametrize("n", [1, 2, 8, 64, 6, 12, 45, 13, 61, 67, 134])
@pytest.mark.parametrize("kind", ["fft", "ifft", "rfft", "irfft"])
def test_every_length(n, kind):
    size = n // 2 + 1 if kind == "irfft" else n
    x = RNG.normal(size=(2, size)).astype(np.float32)
    x = x if kind == "rfft" else (x + 1j * RNG.normal(size=(2, size))).astype(np.complex64)
    function = lambda v: lax.fft(v, kind, n)
    got, want = np.asarray(exported(function, x).call(x)), getattr(np.fft, kind)(x, n)
    np.testing.assert_allclose(got, want, atol=4e-7 * n * np.abs(x).max() + 1e-6)


@pytest.mark.parametrize("n, used", [(8, True), (12, True), (7, False)])
def test_the_operator_is_used_for_powers_of_two_only(n, used):
    x = np.ones(n, np.complex64)
    nodes = exported(lambda v: lax.fft(v, "fft", n), x).onnx_model.graph.node
    assert ("DFT" in [node.op_type for node in nodes]) == used


def test_several_axes_and_empty_ones():
    x = (RNG.normal(size=(2, 4, 6)) + 0j).astype(np.complex64)
    function = lambda v: lax.fft(v, "fft", (4, 6))
    np.testing.assert_allclose(exported(function, x).call(x), np.fft.fft2(x), atol=1e-5)
    empty = x[:0]
    assert exported(function, empty).call(empty).shape == (0, 4, 6)


def test_axes_of_unknown_length_are_refused():
    (n,) = symbolic_shape("n")
    with pytest.raises(LoweringError, match="fft along axes of unknown length has no ONNX form"):
        export(jax.jit(lambda v: lax.fft(v, "fft", v.shape)))(jax.ShapeDtypeStruct((n,), np.complex64))
