"""Drawn numbers against distributions of SciPy: the Kolmogorov-Smirnov distance, moments, frequencies."""

import numpy as np
from scipy import stats

from onax import random

KEY = random.key(20)
N = 20_000
# Exceeded by chance once in 10^4 keys; this key is fixed.
LARGEST_DISTANCE = 2.2 / N**0.5


def assert_distribution(draw, expected):
    """What `draw(key)` gives, N numbers, is as near to the distribution as chance allows."""
    drawn = np.asarray(draw(KEY), np.float64)
    assert stats.kstest(drawn, expected.cdf).statistic < LARGEST_DISTANCE


def assert_mean_and_variance(draw, expected):
    """Five standard errors; that of the variance from the numbers' own fourth moment."""
    drawn = np.asarray(draw(KEY), np.float64)
    mean, variance = expected.stats("mv")
    assert abs(drawn.mean() - mean) < 5 * (variance / N) ** 0.5
    assert abs(drawn.var() - variance) < 5 * np.std((drawn - mean) ** 2) / N**0.5


def frequencies(distribution, count):
    """Probabilities of 0 ... count - 2, and of what is beyond."""
    inside = distribution.pmf(np.arange(count - 1))
    return np.append(inside, 1 - inside.sum())


def assert_frequencies(draw, expected):
    """Each of the numbers 0, 1, ... is drawn as often as expected."""
    found = np.bincount(np.asarray(draw(KEY)).astype(int), minlength=len(expected))
    assert stats.chisquare(found, np.asarray(expected) * found.sum()).pvalue > 1e-4
