"""onax.lax imports its linear algebra on first access."""

import pytest

from onax import lax


def test_linear_algebra():
    assert lax.linalg.__name__ == "onax.lax.linalg" and "linalg" in dir(lax)
    with pytest.raises(AttributeError, match="no attribute 'fancy'"):
        lax.fancy  # noqa: B018
