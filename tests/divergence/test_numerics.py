"""Floating point: documented results known by hand, and cases that hold."""

import numpy as np

from divergence.family_cases import family_tests
from onax._divergence import numerics

TestFamilies = family_tests(numerics)


def test_gradients_of_where():
    x = np.array([0.0, 1.0, 4.0], np.float32)
    assert np.isnan(numerics._gradient(numerics._unsafe_sqrt)(x)).tolist() == [True, False, False]
    assert np.isfinite(numerics._gradient(numerics._safe_sqrt)(x)).all()
    assert np.isnan(numerics._gradient(numerics._unsafe_quotient)(x)[0])
    assert numerics._gradient(numerics._safe_quotient)(x)[0] == 0


def test_maxima_of_pairs_hand_nan_on():
    got = numerics._pairwise_max(np.array([1.0, np.nan, 3.0]), np.array([2.0, 0.0, np.nan]))
    assert got[0] == 2 and np.isnan(got[1:]).all()
