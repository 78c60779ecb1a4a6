"""Floating point: documented results known by hand, and cases that hold."""

import numpy as np
import pytest

from onax._divergence import numerics
from onax._divergence.case import agrees
from onax._divergence.runners import Eager


def cases(family):
    """(title, dtype, shape) -> case of a family of this module."""
    (found,) = [f for f in numerics.FAMILIES if f.name == family]
    return list(found.cases())


@pytest.mark.parametrize("family", [f.name for f in numerics.FAMILIES])
def test_cases_are_told_apart_and_hold(family):
    found = cases(family)
    keys = [(c.title, c.dtype, c.shape, c.x64) for c in found]
    assert keys and len(set(keys)) == len(keys)
    eager = Eager()
    for c in found[:: max(1, len(found) // 20)]:
        assert agrees(eager.run(c), c.wanted("eager"), c.ulp), c.title


def test_gradients_of_where():
    x = np.array([0.0, 1.0, 4.0], np.float32)
    assert np.isnan(numerics._gradient(numerics._unsafe_sqrt)(x)).tolist() == [True, False, False]
    assert np.isfinite(numerics._gradient(numerics._safe_sqrt)(x)).all()
    assert np.isnan(numerics._gradient(numerics._unsafe_quotient)(x)[0])
    assert numerics._gradient(numerics._safe_quotient)(x)[0] == 0


def test_maxima_of_pairs_hand_nan_on():
    got = numerics._pairwise_max(np.array([1.0, np.nan, 3.0]), np.array([2.0, 0.0, np.nan]))
    assert got[0] == 2 and np.isnan(got[1:]).all()
