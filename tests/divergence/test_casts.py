"""Casts: the documented rule on values known by hand, and cases that hold."""

import numpy as np
import pytest

from onax._divergence import casts
from onax._divergence.case import agrees
from onax._divergence.runners import Eager


def cases(family):
    """(title, dtype, shape) -> case of a family of this module."""
    (found,) = [f for f in casts.FAMILIES if f.name == family]
    return list(found.cases())


@pytest.mark.parametrize("family", [f.name for f in casts.FAMILIES])
def test_cases_are_told_apart_and_hold(family):
    found = cases(family)
    keys = [(c.title, c.dtype, c.shape, c.x64) for c in found]
    assert keys and len(set(keys)) == len(keys)
    eager = Eager()
    for c in found[:: max(1, len(found) // 20)]:
        assert agrees(eager.run(c), c.wanted("eager"), c.ulp), c.title


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
