"""Modules of onax.experimental are imported on first access."""

import pytest

from onax import experimental
from onax._control.callbacks import io_callback


@pytest.mark.parametrize("name", ["checkify", "layout", "mesh_utils", "multihost_utils", "ode", "pjit", "shard_map"])
def test_modules(name):
    assert getattr(experimental, name).__name__ == f"onax.experimental.{name}" and name in dir(experimental)


def test_functions():
    assert "io_callback" in dir(experimental) and experimental.io_callback.__name__ == io_callback.__name__


def test_what_is_not_there():
    with pytest.raises(AttributeError, match="has no attribute 'pallas'"):
        experimental.pallas  # noqa: B018
