"""The generalized normal distribution, against SciPy."""

import numpy as np

from distributions import assert_as_scipy, assert_slopes, assert_types, assert_values, module

X = np.array([-2.5, -0.5, 0.3, 1.0, 2.7, 6.0])


def test_functions():
    assert_as_scipy("gennorm", X, 1.5)


def test_types():
    assert_types("gennorm", X, 1.5)


def test_slopes():
    assert_slopes("gennorm", 0.3, 1.5, functions=("logpdf", "cdf"))


def test_edges():
    rows = [
        ((0.0, 1.5), 0.5),
    ]
    assert_values(module("gennorm").cdf, rows)
