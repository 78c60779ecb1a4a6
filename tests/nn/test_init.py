"""onax.nn has the module of initializers, and no other names than its own."""

import pytest

from onax import nn


def test_initializers():
    assert nn.initializers.__name__ == "onax.nn.initializers" and "initializers" in dir(nn)
    with pytest.raises(AttributeError, match="no attribute 'dense'"):
        nn.dense  # noqa: B018
