"""Modules for hardware that onax does not serve can be imported; their names are refused."""

import pytest

from onax.interop import accelerators


def test_names_are_refused():
    with pytest.raises(AttributeError, match="pallas_call is not available: it is of a part of JAX for GPUs"):
        getattr(accelerators, "pallas_call")  # noqa: B009
