"""The uniform distribution, against SciPy."""

import numpy as np

from distributions import assert_as_scipy, assert_slopes, assert_types, assert_values, module

X = np.array([-1.3, 0.0, 0.2, 0.5, 0.99, 1.5, 3.0])


def test_functions():
    assert_as_scipy("uniform", X, nan=False)
    assert_as_scipy("uniform", X, 0.2, 1.7, nan=False)


def test_types():
    assert_types("uniform", X)


def test_slopes():
    assert_slopes("uniform", 0.9, functions=("cdf",))


def test_edges():
    rows = [
        ((-0.5,), -np.inf),
        ((1.0,), 0.0),
        ((1.5,), -np.inf),
    ]
    assert_values(module("uniform").logpdf, rows)
