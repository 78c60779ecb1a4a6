"""The gamma distribution, against SciPy."""

import numpy as np

from distributions import assert_as_scipy, assert_slopes, assert_types, assert_values, module

X = np.array([-1.3, 0.0, 0.2, 0.5, 0.99, 1.5, 3.0])


def test_functions():
    assert_as_scipy("gamma", X, 2.3, nan=False)
    assert_as_scipy("gamma", X, 2.3, 0.2, 1.7, nan=False)


def test_types():
    assert_types("gamma", X, 2.3)


def test_slopes():
    assert_slopes("gamma", 1.4, 2.3, functions=("logpdf", "cdf"))


def test_edges():
    rows = [
        ((-0.5, 2.0), -np.inf),
        ((0.0, 1.0), 0.0),
    ]
    assert_values(module("gamma").logpdf, rows)
