"""Profiles hold no instructions of XLA."""

import pytest

from onax.experimental import profiler


def test_refusal():
    with pytest.raises(NotImplementedError, match="no instructions of XLA"):
        profiler.get_profiled_instructions_proto("folder")
