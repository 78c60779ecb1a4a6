"""The normal distribution, against SciPy."""

import numpy as np

from distributions import assert_as_scipy, assert_slopes, assert_types, assert_values, module

X = np.array([-1.3, 0.0, 0.2, 0.5, 0.99, 1.5, 3.0])


def test_functions():
    assert_as_scipy("norm", X)
    assert_as_scipy("norm", X, 0.2, 1.7)


def test_types():
    assert_types("norm", X)


def test_slopes():
    assert_slopes("norm", 0.3, functions=("logpdf", "cdf", "logcdf"))


def test_edges():
    rows = [
        ((-30.0,), -454.3212),
        ((40.0,), 0.0),
    ]
    assert_values(module("norm").logcdf, rows)
