"""The truncated normal distribution, against SciPy."""

import numpy as np
import pytest

from distributions import assert_as_scipy, assert_slopes, assert_types, assert_values, module

X = np.array([-2.5, -0.5, 0.3, 1.0, 2.7, 6.0])


def test_functions():
    assert_as_scipy("truncnorm", X, -1.0, 2.0)


def test_types():
    assert_types("truncnorm", X, -1.0, 2.0)


def test_slopes():
    assert_slopes("truncnorm", 0.3, -1.0, 2.0, functions=("logpdf", "logcdf"))


def test_edges():
    rows = [
        ((2.5, -1.0, 2.0), -np.inf),
    ]
    assert_values(module("truncnorm").logpdf, rows)


@pytest.mark.parametrize("limits", [(0.3, np.inf), (-8.0, -5.0), (-np.inf, -20.0)])
def test_limits_far_out(limits):
    x = X - 6 if limits[0] == -8 else X - 24 if limits[1] == -20 else X
    assert_as_scipy("truncnorm", x, *limits)
