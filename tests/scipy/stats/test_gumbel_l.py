"""The left Gumbel distribution, against SciPy."""

import numpy as np

from distributions import assert_as_scipy, assert_slopes, assert_types, assert_values, module

X = np.array([-1.3, 0.0, 0.2, 0.5, 0.99, 1.5, 3.0])


def test_functions():
    assert_as_scipy("gumbel_l", X)
    assert_as_scipy("gumbel_l", X, 0.2, 1.7)


def test_types():
    assert_types("gumbel_l", X)


def test_slopes():
    assert_slopes("gumbel_l", 0.9, functions=("logpdf", "cdf"))


def test_edges():
    rows = [
        ((-np.inf,), 0.0),
        ((np.inf,), 1.0),
    ]
    assert_values(module("gumbel_l").cdf, rows)
