"""Densities of samples by kernels, against SciPy."""

import numpy as np
import pytest
import scipy.optimize
import scipy.signal
import scipy.stats

import onax as jax
import onax.scipy.stats as stats

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def double_precision():
    """SciPy computes in it."""
    with jax.enable_x64(True):
        yield


def close(got, want, atol=1e-12):
    np.testing.assert_allclose(got, want, 1e-9, atol)


def test_density_of_samples():
    data, points = RNG.normal(size=(2, 9)), RNG.normal(size=(2, 4))
    for options in ({}, {"bw_method": "silverman"}, {"bw_method": 0.4, "weights": np.arange(1.0, 10)}):
        mine, theirs = stats.gaussian_kde(data, **options), scipy.stats.gaussian_kde(data, **options)
        close(mine(points), theirs(points))
        close(mine.covariance, theirs.covariance)
        close(mine.inv_cov, theirs.inv_cov)
        close(mine.integrate_kde(mine), theirs.integrate_kde(theirs))
        close(mine.integrate_gaussian(points[:, 0], np.eye(2)), theirs.integrate_gaussian(points[:, 0], np.eye(2)))
    close(jax.jit(lambda k, p: k.logpdf(p))(mine, points), theirs.logpdf(points))
    line = stats.gaussian_kde(data[0])
    close(line.integrate_box_1d(-1, 0.5), scipy.stats.gaussian_kde(data[0]).integrate_box_1d(-1, 0.5))
    assert line.resample(jax.random.key(0), (3,)).shape == (1, 3)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: stats.gaussian_kde(np.arange(4.0), bw_method="guess"), ValueError, "guess|bw_method"),
        (lambda: stats.gaussian_kde(np.arange(4.0))(np.ones((2, 3))), ValueError, "dimension"),
        (lambda: stats.gaussian_kde(np.arange(4.0)).set_bandwidth(0.1), NotImplementedError, "set_bandwidth|bandwidth"),
        (lambda: stats.gaussian_kde(np.arange(4.0)).integrate_box([0], [1]), NotImplementedError, "integrate_box"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()
