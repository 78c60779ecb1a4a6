"""lax.fft against NumPy: kinds by name, number and member, several axes."""

import numpy as np
import pytest

import onax as jax
from agreement import assert_agrees
from onax import lax

X = np.random.default_rng(0).normal(size=(2, 4, 6))
Z = X + 1j * X[::-1]
CASES = [
    ("FFT", Z, (6,), lambda z: np.fft.fft(z)),
    ("fft", Z, (4, 6), lambda z: np.fft.fft2(z)),
    (lax.FftType.IFFT, Z, (2, 4, 6), lambda z: np.fft.ifftn(z)),
    (lax.FftType.RFFT, X, (4, 6), lambda x: np.fft.rfft2(x)),
    ("IRFFT", Z[..., :4], (6,), lambda z: np.fft.irfft(z, 6)),
    ("FFT", Z, (), lambda z: z),
]


@pytest.mark.parametrize(("kind", "x", "lengths", "meaning"), CASES)
def test_as_in_numpy(kind, x, lengths, meaning):
    assert_agrees(lambda x: lax.fft(x, kind, lengths), meaning, x)


def test_is_a_named_call():
    assert "name=fft" in str(jax.make_jaxpr(lambda x: lax.fft(x, "RFFT", (6,)))(X.astype(np.float32)))


@pytest.mark.parametrize(
    ("x", "kind", "lengths", "error"),
    [
        (Z, "FFT", (5,), ValueError),
        (Z, "RFFT", (6,), ValueError),
        (X, "SPLIT", (6,), ValueError),
        (Z[0, 0], "FFT", (4, 6), ValueError),
    ],
)
def test_refusals(x, kind, lengths, error):
    with pytest.raises(error):
        lax.fft(x.astype(np.complex64 if x.dtype.kind == "c" else np.float32), kind, lengths)
