"""Casts: the documented rule on values known by hand, and cases that hold."""

import numpy as np
import pytest

from divergence.family_cases import family_tests
from onax._divergence import casts

TestFamilies = family_tests(casts)


CASTS = [  # value, dtype, target, result
    (300.7, "float32", "uint8", 255),
    (-5.5, "float32", "uint8", 0),
    (-5.5, "float32", "int8", -5),
    (np.nan, "float32", "int32", 0),
    (np.inf, "float32", "int32", 2**31 - 1),
    (-np.inf, "float64", "int64", -(2**63)),
    (300, "int32", "uint8", 44),
    (-1, "int8", "uint16", 65535),
    (2.5, "float32", "bool", True),
    (1e30, "float32", "float16", np.inf),
    (65519.0, "float32", "float16", 65504),
    (2**24 + 1, "int32", "float32", 2**24),
]


@pytest.mark.parametrize(("value", "source", "target", "wanted"), CASTS)
def test_the_rule(value, source, target, wanted):
    got = casts.documented_cast(np.array([value], source), np.dtype(target))
    assert got.dtype == target and got.tolist() == [wanted]
