"""Groups are the functions alone."""

import pytest

from onax.experimental.scheduling_groups import scheduling_group, xla_metadata_call


def test_functions_stay():
    f = lambda x: x + 1
    assert scheduling_group("g")(f) is f is xla_metadata_call(f, a="b")
    with pytest.raises(NotImplementedError, match="handler for type"):
        xla_metadata_call(f, a=1)
