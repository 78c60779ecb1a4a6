"""Indices beyond the ends: the documented rules on values known by hand, and cases that hold."""

import numpy as np
import pytest

from onax._divergence import indexing
from onax._divergence.case import agrees
from onax._divergence.runners import Eager

X = np.array([1.0, 2, 3, 4, 5], np.float32)


def cases(family):
    """(title, dtype, shape) -> case of a family of this module."""
    (found,) = [f for f in indexing.FAMILIES if f.name == family]
    return list(found.cases())


@pytest.mark.parametrize("family", [f.name for f in indexing.FAMILIES])
def test_cases_are_told_apart_and_hold(family):
    found = cases(family)
    keys = [(c.title, c.dtype, c.shape, c.x64) for c in found]
    assert keys and len(set(keys)) == len(keys)
    eager = Eager()
    for c in found[:: max(1, len(found) // 20)]:
        assert agrees(eager.run(c), c.wanted("eager"), c.ulp), c.title


def test_reads():
    at = np.array([0, 4, 5, -1, -5, -6])
    assert indexing._read(X, at, "clip").tolist() == [1, 5, 5, 5, 1, 1]
    filled = indexing._read(X, at, "fill")
    assert np.isnan(filled).tolist() == [False, False, True, False, False, True]


def test_writes():
    (row,) = [c for c in cases("oob-writes") if c.dtype == "float32"][:1]
    assert isinstance(row.documented, np.ndarray) and row.documented.dtype == np.float32
