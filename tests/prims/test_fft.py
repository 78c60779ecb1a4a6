"""Transforms: shapes, types of operands, empty operands, transposes of the half spectrum, errors."""

import numpy as np
import pytest

import onax as jax
from onax import lax
from onax._ground.config import enable_x64
from onax._prims.fft import FftType, canonical_type, convert_operand, half_spectrum_size

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize("kind, lengths, like", [
    ("fft", (4,), np.fft.fftn), ("IFFT", (3, 4), np.fft.ifftn), (FftType.RFFT, (4,), np.fft.rfftn),
    ("rfft", (2, 3, 4), np.fft.rfftn),
])  # fmt: skip
def test_values(kind, lengths, like):
    x = X if canonical_type(kind) == FftType.RFFT else X + 1j
    want = like(x, lengths, tuple(range(3 - len(lengths), 3)))
    np.testing.assert_allclose(lax.fft(x, kind, lengths), want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("n", [1, 2, 5, 6])
def test_half_spectra(n):
    x = np.arange(n, dtype=np.float32) + 1
    spectrum = lax.fft(x, "rfft", n)
    assert spectrum.shape == (half_spectrum_size(n),) == np.fft.rfft(x).shape
    np.testing.assert_allclose(lax.fft(spectrum, "irfft", n), x, rtol=1e-5, atol=1e-5)
    # The transposes count the outputs that stand for two.
    for kind, given, shape in (("rfft", x, spectrum), ("irfft", spectrum, x)):
        f = lambda v, kind=kind: lax.fft(v, kind, n)
        ct = np.asarray(shape) * (1 + 0.5j if kind == "rfft" else 1)
        (back,) = jax.linear_transpose(f, given)(ct)
        left, right = np.sum(ct * f(given)).real, np.sum(back * given).real
        np.testing.assert_allclose(left, right, rtol=1e-4, atol=1e-4)


def test_empty_operands():
    assert lax.fft(np.zeros((0, 4), np.complex64), "fft", 4).shape == (0, 4)
    assert lax.fft(np.zeros((2, 0), np.complex64), "irfft", 0).shape == (2, 0)


@pytest.mark.parametrize("dtype, kind, wanted", [
    ("int32", "RFFT", "float32"), ("float16", "FFT", "complex64"), ("float64", "FFT", "complex128"),
    ("bool", "IFFT", "complex64"), ("float64", "RFFT", "float64"), ("complex64", "IRFFT", "complex64"),
])  # fmt: skip
def test_operands_are_converted(dtype, kind, wanted):
    with enable_x64(True):
        x = jax.numpy.asarray(np.ones(3, dtype))
        assert convert_operand(x, FftType[kind]).dtype == wanted


WRONG = {
    "Unknown FFT type 'dct'": (lambda: lax.fft(X, "dct", 4), ValueError),
    "Unknown FFT type value '7'": (lambda: lax.fft(X, 7, 4), TypeError),
    "must have at least as many input dimensions": (lambda: lax.fft(X[0, 0], "fft", (3, 4)), ValueError),
    "minor dimensions must be equal to fft_lengths": (lambda: lax.fft(X, "fft", (5,)), ValueError),
    "RFFT input shape": (lambda: lax.fft(X, "rfft", (5,)), ValueError),
    "all except the last fft_length": (lambda: lax.fft(X, "irfft", (5, 4)), ValueError),
    "only real valued inputs supported for rfft": (lambda: lax.fft(X + 1j, "rfft", 4), ValueError),
    "RFFT input must be float32 or float64": (lambda: lax.fft(X.astype(np.float16), "rfft", 4), ValueError),
}


@pytest.mark.parametrize("text", WRONG)
def test_errors(text):
    call, error = WRONG[text]
    with pytest.raises(error, match=text):
        call()
