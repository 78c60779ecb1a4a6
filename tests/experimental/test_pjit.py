"""jit under its former name warns."""

import pytest

from onax.experimental import pjit


def test_warns():
    with pytest.warns(DeprecationWarning, match=r"use onax\.jit"):
        found = pjit.pjit
    assert found(lambda x: x + 1)(1) == 2
    with pytest.raises(AttributeError, match="no attribute 'xmap'"):
        pjit.xmap  # noqa: B018
