"""The beta distribution, against SciPy."""

import numpy as np

from distributions import assert_as_scipy, assert_slopes, assert_types, assert_values, module

X = np.array([-1.3, 0.0, 0.2, 0.5, 0.99, 1.5, 3.0])


def test_functions():
    assert_as_scipy("beta", X, 1.5, 2.5)
    assert_as_scipy("beta", X, 1.5, 2.5, 0.2, 1.7)


def test_types():
    assert_types("beta", X, 1.5, 2.5)


def test_slopes():
    assert_slopes("beta", 0.4, 1.5, 2.5)


def test_edges():
    rows = [
        ((1.5, 2.0, 3.0), -np.inf),
        ((0.5, 1.0, 1.0), 0.0),
    ]
    assert_values(module("beta").logpdf, rows)
