"""Numbers that carry a dtype."""

import copy
import pickle

import numpy as np
import pytest

from onax.interop import literals


@pytest.mark.parametrize(
    "cls, value", [(literals.TypedInt, 3), (literals.TypedFloat, 2.5), (literals.TypedComplex, 1 + 2j)]
)
def test_numbers(cls, value):
    x = cls(value, np.float16)
    assert x == value and x.dtype == np.float16 and isinstance(x, type(value))
    for again in (copy.copy(x), pickle.loads(pickle.dumps(x))):
        assert type(again) is cls and again == value and again.dtype == np.float16
