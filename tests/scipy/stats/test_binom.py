"""The binomial distribution, against SciPy."""

import numpy as np

from distributions import assert_as_scipy, assert_slopes, assert_types, assert_values, module

X = np.arange(-1.0, 7.0)


def test_functions():
    assert_as_scipy("binom", X, 5, 0.3, nan=False)
    assert_as_scipy("binom", X, 5, 0.3, loc=1, nan=False)


def test_types():
    assert_types("binom", X, 5, 0.3)


def test_slopes():
    assert_slopes("binom", 2.0, 5.0, 0.3, functions=("logpmf",), fixed=1, discrete=True)


def test_edges():
    rows = [
        ((6.0, 5.0, 0.5), 0.0),
        ((0.0, 5.0, 0.0), 1.0),
    ]
    assert_values(module("binom").pmf, rows)
