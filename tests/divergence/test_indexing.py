"""Indices beyond the ends: the documented rules on values known by hand, and cases that hold."""

import numpy as np

from divergence.family_cases import cases_of, family_tests
from onax._divergence import indexing

X = np.array([1.0, 2, 3, 4, 5], np.float32)

TestFamilies = family_tests(indexing)


def test_reads():
    at = np.array([0, 4, 5, -1, -5, -6])
    assert indexing._read(X, at, "clip").tolist() == [1, 5, 5, 5, 1, 1]
    filled = indexing._read(X, at, "fill")
    assert np.isnan(filled).tolist() == [False, False, True, False, False, True]


def test_writes():
    (row,) = [c for c in cases_of(indexing, "oob-writes") if c.dtype == "float32"][:1]
    assert isinstance(row.documented, np.ndarray) and row.documented.dtype == np.float32
