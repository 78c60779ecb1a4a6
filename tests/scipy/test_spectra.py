"""Spectra and short-time transforms, against SciPy."""

import numpy as np
import pytest
import scipy.optimize
import scipy.signal
import scipy.stats

import onax as jax
from onax.scipy import signal

RNG = np.random.default_rng(0)
LONG = RNG.normal(size=(2, 150))


@pytest.fixture(autouse=True)
def double_precision():
    """SciPy computes in it."""
    with jax.enable_x64(True):
        yield


def close(got, want, atol=1e-12):
    np.testing.assert_allclose(got, want, 1e-9, atol)


@pytest.mark.parametrize(
    "options",
    [
        {"nperseg": 32},
        {"nperseg": 30, "noverlap": 7, "nfft": 41, "fs": 3.0, "detrend": "linear", "scaling": "spectrum"},
        {"nperseg": 24, "average": "median", "window": "hamming", "return_onesided": False},
    ],
)
def test_densities(options):
    for name, args in (("welch", (LONG,)), ("csd", (LONG, LONG[::-1])), ("csd", (LONG[:, :90], LONG))):
        for got, want in zip(getattr(signal, name)(*args, **options), getattr(scipy.signal, name)(*args, **options)):
            close(got, want)


@pytest.mark.parametrize(
    "options",
    [{"nperseg": 32}, {"nperseg": 16, "noverlap": 12, "nfft": 20}, {"nperseg": 20, "boundary": "odd", "padded": False}],
)
def test_short_time_transforms(options):
    got, want = signal.stft(LONG, **options), scipy.signal.stft(LONG, **options)
    for g, w in zip(got, want):
        close(g, w)
    back = {k: v for k, v in options.items() if k in ("nperseg", "noverlap", "nfft")}
    for g, w in zip(signal.istft(want[2], **back), scipy.signal.istft(want[2], **back)):
        close(g, w)


def test_detrending():
    for options in ({}, {"type": "constant", "axis": 0}, {"bp": [40, 90]}, {"axis": 0}):
        close(signal.detrend(LONG, **options), scipy.signal.detrend(LONG, **options))
    close(jax.jit(signal.detrend)(LONG), scipy.signal.detrend(LONG))
