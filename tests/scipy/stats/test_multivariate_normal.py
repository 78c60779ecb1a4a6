"""The normal distribution of vectors, against SciPy."""

import numpy as np
import pytest
import scipy.special
import scipy.stats

import onax as jax
from agreement import assert_agrees
from onax.scipy import stats

MEAN, COVARIANCE = np.array([0.5, -1.0]), np.array([[2.0, 0.5], [0.5, 1.0]])
X = np.random.default_rng(0).normal(size=(4, 2))


@pytest.mark.parametrize("name", ["logpdf", "pdf"])
def test_functions(name):
    ours, theirs = getattr(stats.multivariate_normal, name), getattr(scipy.stats.multivariate_normal, name)
    assert_agrees(ours, theirs, X, MEAN, COVARIANCE)
    assert_agrees(ours, theirs, X[0], np.zeros(2), COVARIANCE)
    of_numbers = getattr(scipy.stats.norm, name)
    assert_agrees(ours, lambda x, m, c: of_numbers(x, m, c**0.5), X, np.float64(0.5), np.float64(2.0))


def test_slopes():
    with jax.enable_x64(True):
        slope = jax.jit(jax.grad(stats.multivariate_normal.logpdf))(X[0], MEAN, COVARIANCE)
        np.testing.assert_allclose(slope, -np.linalg.solve(COVARIANCE, X[0] - MEAN), rtol=1e-9)


def test_what_is_no_covariance():
    with pytest.raises(NotImplementedError, match="allow_singular"):
        stats.multivariate_normal.logpdf(X, MEAN, COVARIANCE, allow_singular=True)
    with pytest.raises(ValueError):
        stats.multivariate_normal.logpdf(X, np.zeros(3), COVARIANCE)
