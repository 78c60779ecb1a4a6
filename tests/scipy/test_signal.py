"""Convolution and correlation against SciPy."""

import numpy as np
import pytest
import scipy.signal as theirs

import onax as jax
import onax.scipy.signal as ours

RNG = np.random.default_rng(0)
PAIRS = [((7,), (3,)), ((3,), (7,)), ((5, 6), (2, 3)), ((2, 4, 5), (1, 2, 3))]


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("shapes", PAIRS)
def test_same_as_scipy(shapes, mode):
    x, y = (RNG.normal(size=s) for s in shapes)
    with jax.enable_x64(True):
        for a, b in ((x, y), (x + 1j * x[::-1], y * 1j)):
            for name in ("convolve", "correlate", "fftconvolve"):
                got, want = getattr(ours, name)(a, b, mode=mode), getattr(theirs, name)(a, b, mode=mode)
                np.testing.assert_allclose(got, want, 0, 1e-12, err_msg=name)
        np.testing.assert_allclose(ours.convolve(x, y, mode, method="fft"), theirs.convolve(x, y, mode), 0, 1e-12)


def test_refusals():
    with pytest.raises(ValueError, match="same number of dimensions"):
        ours.convolve(np.ones(3), np.ones((2, 2)))
    with pytest.raises(NotImplementedError, match="boundary"):
        ours.convolve2d(np.ones((2, 2)), np.ones((2, 2)), boundary="wrap")
    with pytest.raises(ValueError, match="every dimension"):
        ours.convolve(np.ones((2, 4)), np.ones((4, 2)), mode="valid")
