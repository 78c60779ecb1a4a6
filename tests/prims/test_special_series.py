"""The series against SciPy's functions: what Stirling's formula leaves, and what the first terms of zeta leave."""

import math

import numpy as np
import pytest
from scipy import special

from onax._prims.special_series import euler_maclaurin, stirling, stirling_slope

Y = 12.0  # where nine terms have the digits of float64


def test_stirling_is_what_the_formula_leaves_of_log_gamma():
    formula = (Y - 0.5) * math.log(Y) - Y + 0.5 * math.log(2 * math.pi)
    rest = sum(c * Y ** (1 - 2 * k) for k, c in enumerate(stirling(9), 1))
    assert formula + rest == pytest.approx(special.gammaln(Y), rel=1e-15)
    assert rest == pytest.approx(special.gammaln(Y) - formula, rel=1e-11)  # of a difference of numbers near 17


def test_its_slope_is_that_of_digamma():
    rest = sum(c * Y ** (-2 * k) for k, c in enumerate(stirling_slope(9), 1))
    assert math.log(Y) - 0.5 / Y + rest == pytest.approx(special.digamma(Y), rel=1e-15)


def test_euler_and_maclaurin_sum_a_power():
    s = 2.5
    terms, factor = [], s / Y
    for k, c in enumerate(euler_maclaurin(9), 1):
        terms.append(c * factor)
        factor *= (s + 2 * k - 1) * (s + 2 * k) / Y**2
    rest = Y**-s * (Y / (s - 1) + 0.5 + sum(terms))
    assert rest == pytest.approx(special.zeta(s, Y), rel=1e-14)


@pytest.mark.parametrize("series", [stirling, stirling_slope, euler_maclaurin])
def test_shorter_series_are_beginnings(series):
    np.testing.assert_array_equal(series(3), series(9)[:3])
    assert all(a * b < 0 for a, b in zip(series(9), series(9)[1:]))
