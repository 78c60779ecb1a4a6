"""Types: the lattice of promotion on pairs known by hand, and cases that hold."""

import pytest

from onax._divergence import types
from onax._divergence.case import agrees
from onax._divergence.runners import Eager


def cases(family):
    """(title, dtype, shape) -> case of a family of this module."""
    (found,) = [f for f in types.FAMILIES if f.name == family]
    return list(found.cases())


@pytest.mark.parametrize("family", [f.name for f in types.FAMILIES])
def test_cases_are_told_apart_and_hold(family):
    found = cases(family)
    keys = [(c.title, c.dtype, c.shape, c.x64) for c in found]
    assert keys and len(set(keys)) == len(keys)
    eager = Eager()
    for c in found[:: max(1, len(found) // 20)]:
        assert agrees(eager.run(c), c.wanted("eager"), c.ulp), c.title


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        ("int8", "uint8", "int16"),
        ("uint32", "int32", "int64"),
        ("bfloat16", "float16", "float32"),
        ("int32", "float16", "float16"),
        ("float64", "complex64", "complex128"),
        ("bool", "uint8", "uint8"),
    ],
)
def test_least_upper_bounds(a, b, wanted):
    assert types.promote(a, b) == types.promote(b, a) == wanted
