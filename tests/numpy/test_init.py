"""onax.numpy has the modules of linear algebra and transforms, and no other names than its own."""

import pytest

from onax import numpy as jnp


@pytest.mark.parametrize("name", ["fft", "linalg"])
def test_modules(name):
    assert getattr(jnp, name).__name__ == f"onax.numpy.{name}" and name in dir(jnp)


def test_what_is_not_there():
    with pytest.raises(AttributeError, match="no attribute 'matrix'"):
        jnp.matrix  # noqa: B018
    assert jnp.newaxis is None
