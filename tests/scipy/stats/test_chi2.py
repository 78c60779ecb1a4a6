"""The chi-squared distribution, against SciPy."""

import numpy as np

from distributions import assert_as_scipy, assert_slopes, assert_types, assert_values, module

X = np.array([-1.3, 0.0, 0.2, 0.5, 0.99, 1.5, 3.0])


def test_functions():
    assert_as_scipy("chi2", X, 3.1)
    assert_as_scipy("chi2", X, 3.1, 0.2, 1.7)


def test_types():
    assert_types("chi2", X, 3.1)


def test_slopes():
    assert_slopes("chi2", 1.4, 3.1, functions=("logpdf", "cdf"))


def test_edges():
    rows = [
        ((-0.5, 2.0), -np.inf),
    ]
    assert_values(module("chi2").logpdf, rows)
