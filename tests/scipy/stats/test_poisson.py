"""The Poisson distribution, against SciPy."""

import numpy as np
import scipy.stats

import onax as jax
from distributions import assert_as_scipy, assert_slopes, assert_types, assert_values, module
from onax.scipy import stats

X = np.arange(-1.0, 7.0)


def test_functions():
    assert_as_scipy("poisson", X, 2.2, nan=False)
    assert_as_scipy("poisson", X, 2.2, 1.0, nan=False)


def test_types():
    assert_types("poisson", X, 2.2)


def test_slopes():
    assert_slopes("poisson", 2.0, 2.2, functions=("logpmf",), discrete=True)


def test_edges():
    rows = [
        ((-1.0, 2.0), -np.inf),
        ((0.0, 2.0), -2.0),
    ]
    assert_values(module("poisson").logpmf, rows)


def test_entropies_from_small_to_large_means():
    mu = np.array([0.0, 0.3, 5.0, 99.0, 101.0, 500.0])
    want = np.where(mu == 0, 0, scipy.stats.poisson.entropy(np.maximum(mu, 0.1)))
    with jax.enable_x64(True):
        np.testing.assert_allclose(stats.poisson.entropy(mu), want, 1e-7)
