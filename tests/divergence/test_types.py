"""Types: the lattice of promotion on pairs known by hand, and cases that hold."""

import pytest

from divergence.family_cases import family_tests
from onax._divergence import types

TestFamilies = family_tests(types)


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
