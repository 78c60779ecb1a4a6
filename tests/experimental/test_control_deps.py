"""Control dependencies need a target, which the CPU does not have in JAX either."""

import pytest

from onax.errors import JaxRuntimeError
from onax.experimental.control_deps import control_dep, schedule


def test_there_is_no_target():
    with pytest.raises(JaxRuntimeError, match="No FFI handler registered for control_dep"):
        control_dep(1.0, 2.0)
    with pytest.raises(JaxRuntimeError, match="control_dep"):
        schedule([1.0, 2.0, 3.0])
    assert schedule([1.0]) is None
