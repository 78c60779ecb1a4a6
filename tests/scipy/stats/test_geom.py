"""The geometric distribution, against SciPy."""

import numpy as np

from distributions import assert_as_scipy, assert_slopes, assert_types, assert_values, module

X = np.arange(-1.0, 7.0)


def test_functions():
    assert_as_scipy("geom", X, 0.3)
    assert_as_scipy("geom", X, 0.3, loc=1)


def test_types():
    assert_types("geom", X, 0.3)


def test_slopes():
    assert_slopes("geom", 2.0, 0.3, functions=("logpmf",), discrete=True)


def test_edges():
    rows = [
        ((0.0, 0.5), 0.0),
        ((1.0, 1.0), 1.0),
    ]
    assert_values(module("geom").pmf, rows)
