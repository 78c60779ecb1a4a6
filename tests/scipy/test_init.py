"""onax.scipy imports its modules on first access."""

import pytest

from onax import scipy


@pytest.mark.parametrize(
    "name", "cluster fft integrate interpolate linalg ndimage optimize signal special stats".split()
)
def test_modules(name):
    assert getattr(scipy, name).__name__ == f"onax.scipy.{name}" and name in dir(scipy)


def test_what_is_not_there():
    with pytest.raises(AttributeError, match="no attribute 'odr'"):
        scipy.odr  # noqa: B018
