"""The Bernoulli distribution, against SciPy."""

import numpy as np

from distributions import assert_as_scipy, assert_slopes, assert_types, assert_values, module

X = np.arange(-1.0, 7.0)


def test_functions():
    assert_as_scipy("bernoulli", X, 0.3)


def test_types():
    assert_types("bernoulli", X, 0.3)


def test_slopes():
    assert_slopes("bernoulli", 1.0, 0.3, functions=("logpmf",), discrete=True)


def test_edges():
    rows = [
        ((2.0, 0.5), 0.0),
        ((1.0, 1.0), 1.0),
    ]
    assert_values(module("bernoulli").pmf, rows)
