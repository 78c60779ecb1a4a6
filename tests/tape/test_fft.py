"""Fourier transforms on tapes: every kind, many lengths and several axes against NumPy in double precision."""

import numpy as np
import pytest

import onax as jax
from onax import lax
from tape.harness import run_tape
from tape.test_dot import x64  # noqa: F401  a fixture

LENGTHS = [*range(1, 33), 37, 49, 64, 74, 77, 100, 121, 128, 169, 210, 257, 343, 512, 997, 1024]
LENGTHS += [1344, 2048, 2688, 4096, 6000]  # one array of these is transformed as a matrix, by columns and rows
FUNCTIONS = {"FFT": np.fft.fftn, "IFFT": np.fft.ifftn, "RFFT": np.fft.rfftn, "IRFFT": np.fft.irfftn}
TOLERANCE = {np.dtype(np.complex64): 1e-6, np.dtype(np.complex128): 1e-14}  # relative to the norm of the result


def check_transform(kind, dtype, shape, axes, last=None):
    rng = np.random.default_rng(sum(shape))
    real = np.finfo(dtype).dtype
    x = rng.normal(size=shape) if kind == "RFFT" else rng.normal(size=shape) + 1j * rng.normal(size=shape)
    x = x.astype(real if kind == "RFFT" else dtype)
    lengths = [*shape[len(shape) - axes : -1], shape[-1] if last is None else last]
    (got,) = run_tape(lambda x: lax.fft(x, kind, tuple(lengths)), x)
    want = FUNCTIONS[kind](x.astype(complex if kind != "RFFT" else float), lengths, range(-axes, 0))
    assert got.dtype == (real if kind == "IRFFT" else dtype)
    assert np.linalg.norm(np.asarray(got._value) - want) <= TOLERANCE[np.dtype(dtype)] * (np.linalg.norm(want) + 1e-300)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("kind", FUNCTIONS)
def test_lengths(kind, dtype):
    for n in LENGTHS:
        lead = (n % 3,) if n % 3 else ()
        if kind == "IRFFT":
            check_transform(kind, dtype, (*lead, n // 2 + 1), 1, n)
        else:
            check_transform(kind, dtype, (*lead, n), 1)


@pytest.mark.parametrize("kind", FUNCTIONS)
@pytest.mark.parametrize(
    "shape", [(4, 6), (8, 9), (37, 5), (2, 3, 4), (3, 16, 10), (1, 1), (5, 1, 2), (20, 64)], ids=str
)
def test_several_axes(kind, shape):
    for axes in range(1, len(shape) + 1):
        if kind == "IRFFT":
            half = (*shape[:-1], shape[-1] // 2 + 1)
            check_transform(kind, np.complex128, half, axes, shape[-1])
        else:
            check_transform(kind, np.complex128, shape, axes)


def test_nothing_to_transform():
    (got,) = run_tape(lambda x: lax.fft(x, "FFT", (4,)), np.ones((0, 4), np.complex64))
    assert got.shape == (0, 4)


def test_nan_and_infinity_fill_the_result():
    x = np.ones((2, 8), np.complex64)
    x[0, 3] = np.nan
    x[1, 2] = np.inf
    (got,) = run_tape(lambda x: lax.fft(x, "FFT", (8,)), x)
    assert not np.isfinite(np.asarray(got._value)).any()


def test_an_operand_that_is_not_half_a_spectrum_keeps_the_numpy_kernel():
    x = np.arange(12, dtype=np.complex64).reshape(2, 6)
    (got,) = run_tape(lambda x: lax.fft(x, "IRFFT", (6,)), x, python=("fft",))
    np.testing.assert_allclose(np.asarray(got._value), np.fft.irfft(x, 6), rtol=1e-5, atol=1e-5)


def test_in_a_loop():
    x = np.linspace(0, 1, 64).astype(np.complex64)

    def loop(x):
        return lax.fori_loop(0, 10, lambda i, c: lax.fft(lax.fft(c, "FFT", (64,)), "IFFT", (64,)), x)

    (got,) = run_tape(lambda x: jax.jit(loop)(x), x)
    np.testing.assert_allclose(np.asarray(got._value), x, atol=1e-5)
