"""Gamma draws: each number depends on its own key, moments, small and large shapes, logarithms, dtypes."""

import numpy as np
import pytest

import onax as jax
from onax import random
from onax._prims.random import draw_gamma

KEYS = random.split(random.key(11), 6)


def draws(alpha, n, log_space=False):
    return np.asarray(draw_gamma(random.key(0), np.full(n, alpha, np.float32), log_space))


@pytest.mark.parametrize("alpha", [0.05, 0.7, 1.0, 3.5, 200.0])
def test_moments(alpha):
    x = draws(alpha, 20_000)
    assert (x >= 0).all()
    # The mean of n draws has a standard deviation of sqrt(alpha / n): five of them.
    assert abs(x.mean() - alpha) < 5 * np.sqrt(alpha / 20_000)
    assert abs(x.var() / alpha - 1) < 0.25


def test_numbers_do_not_depend_on_their_neighbours():
    alpha = np.float32([0.1, 0.5, 1, 2, 30, 1000])
    together = np.asarray(draw_gamma(KEYS, alpha, False))
    alone = [np.asarray(draw_gamma(KEYS[i], alpha[i], False)) for i in range(6)]
    np.testing.assert_array_equal(together, alone)
    assert draw_gamma(KEYS[:0], alpha[:0], False).shape == (0,)


@pytest.mark.parametrize("alpha", [0.001, 0.3, 1.0, 50.0])
def test_logarithms(alpha):
    plain, logarithm = draws(alpha, 500), draws(alpha, 500, True)
    assert np.isfinite(logarithm).all()  # also where the number itself is 0
    shown = plain > 1e-30
    np.testing.assert_allclose(np.exp(logarithm[shown]), plain[shown], rtol=3e-4)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_dtypes(dtype):
    with jax.enable_x64(True):
        dtype = np.dtype(getattr(jax.numpy, dtype))
        x = draw_gamma(random.key(1), np.full(200, 3, dtype), False)
    assert x.dtype == dtype and 2 < float(np.asarray(x).astype(np.float64).mean()) < 4
