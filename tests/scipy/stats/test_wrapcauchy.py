"""The wrapped Cauchy distribution, against SciPy."""

import numpy as np

from distributions import assert_as_scipy, assert_slopes, assert_types, assert_values, module

X = np.array([0.0, 0.5, 1.0, 3.0, 6.0])


def test_functions():
    assert_as_scipy("wrapcauchy", X, 0.4, nan=False)


def test_types():
    assert_types("wrapcauchy", X, 0.4)


def test_slopes():
    assert_slopes("wrapcauchy", 0.3, 0.4)


def test_edges():
    rows = [
        ((7.0, 0.5), -np.inf),
    ]
    assert_values(module("wrapcauchy").logpdf, rows)
