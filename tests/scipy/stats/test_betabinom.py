"""The beta-binomial distribution, against SciPy."""

import numpy as np

from distributions import assert_as_scipy, assert_slopes, assert_types, assert_values, module

X = np.arange(-1.0, 7.0)


def test_functions():
    assert_as_scipy("betabinom", X, 5, 1.2, 2.1)
    assert_as_scipy("betabinom", X, 5, 1.2, 2.1, loc=1)


def test_types():
    assert_types("betabinom", X, 5, 1.2, 2.1)


def test_slopes():
    assert_slopes("betabinom", 2.0, 5.0, 1.2, 2.1, functions=("logpmf",), fixed=1, discrete=True)


def test_edges():
    rows = [
        ((6.0, 5.0, 1.0, 1.0), -np.inf),
    ]
    assert_values(module("betabinom").logpmf, rows)
