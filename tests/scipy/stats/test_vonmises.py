"""The von Mises distribution, against SciPy."""

import numpy as np

from distributions import assert_as_scipy, assert_slopes, assert_types, assert_values, module

X = np.array([-2.5, -0.5, 0.3, 1.0, 2.7, 6.0])


def test_functions():
    assert_as_scipy("vonmises", X, 2.0)


def test_types():
    assert_types("vonmises", X, 2.0)


def test_slopes():
    assert_slopes("vonmises", 0.3, 2.0)


def test_edges():
    rows = [
        ((0.0, 1.0), np.e / (2 * np.pi * np.i0(1.0))),
    ]
    assert_values(module("vonmises").pdf, rows)
