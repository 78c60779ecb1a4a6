"""The Student's t distribution, against SciPy."""

import numpy as np

from distributions import assert_as_scipy, assert_slopes, assert_types, assert_values, module

X = np.array([-1.3, 0.0, 0.2, 0.5, 0.99, 1.5, 3.0])


def test_functions():
    assert_as_scipy("t", X, 2.5)
    assert_as_scipy("t", X, 2.5, 0.2, 1.7)


def test_types():
    assert_types("t", X, 2.5)


def test_slopes():
    assert_slopes("t", 0.4, 2.5)


def test_edges():
    rows = [
        ((np.inf, 2.0), 0.0),
        ((0.0, 1.0), 1 / np.pi),
    ]
    assert_values(module("t").pdf, rows)
