"""Types of values besides arrays can be defined; using one says that there are none."""

import pytest

from onax.experimental import hijax


class Effect:
    pass


def test_a_primitive_on_other_values_cannot_be_applied():
    class Get(hijax.HiPrimitive):
        def impl(self, x):
            return x

    with pytest.raises(NotImplementedError, match="get: onax has no types of values besides arrays"):
        Get("get").bind(1)


def test_effects():
    hijax.control_flow_allowed_effects.add_type(Effect)
    assert hijax.control_flow_allowed_effects.contains(Effect())
    assert not hijax.control_flow_allowed_effects.contains(3)


def test_what_has_a_state_is_refused():
    with pytest.raises(NotImplementedError, match="cur_qdd"):
        hijax.cur_qdd(1)
