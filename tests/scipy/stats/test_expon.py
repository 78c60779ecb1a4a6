"""The exponential distribution, against SciPy."""

import numpy as np

from distributions import assert_as_scipy, assert_slopes, assert_types, assert_values, module

X = np.array([-1.3, 0.0, 0.2, 0.5, 0.99, 1.5, 3.0])


def test_functions():
    assert_as_scipy("expon", X)
    assert_as_scipy("expon", X, 0.2, 1.7)


def test_types():
    assert_types("expon", X)


def test_slopes():
    assert_slopes("expon", 0.9, functions=("logpdf", "cdf"))


def test_edges():
    rows = [
        ((-0.5,), -np.inf),
        ((0.0,), 0.0),
    ]
    assert_values(module("expon").logpdf, rows)
