"""The events of a compilation, under JAX's names, and what listeners receive."""

import time

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax._ground import monitoring

PHASES = [monitoring.TRACE, monitoring.LOWER, monitoring.COMPILE]


@pytest.fixture
def heard():
    """What listeners of every kind hear, in order."""
    found = []
    listeners = {
        "scalar": (monitoring.register_scalar_listener, monitoring.unregister_scalar_listener),
        "duration": (monitoring.register_event_duration_secs_listener, monitoring.unregister_event_duration_listener),
        "span": (monitoring.register_event_time_span_listener, monitoring.unregister_event_time_span_listener),
    }
    added = []
    for kind, (register, unregister) in listeners.items():
        listener = lambda event, *values, kind=kind, **named: found.append((kind, event, values, named))
        register(listener)
        added.append((unregister, listener))
    yield found
    for unregister, listener in added:
        unregister(listener)
        with pytest.raises(ValueError, match="is not registered as a listener"):
            unregister(listener)


def test_the_phases_of_a_compilation(heard):
    f = jax.jit(lambda x: jnp.sort(x) * 2)
    f(np.ones(3, np.float32))
    phases = [event for kind, event, _, _ in heard if kind == "scalar"]
    assert phases == PHASES
    count = len(heard)
    f(np.ones(3, np.float32))
    assert len(heard) == count


def test_beginning_duration_and_span_of_a_block(heard):
    with monitoring.timed(monitoring.TRACE, "f"):
        time.sleep(0.001)
    (_, _, (began,), named), (_, _, (duration,), _), (_, _, (start, end), _) = heard
    assert named == {"fun_name": "f"} and [h[0] for h in heard] == ["scalar", "duration", "span"]
    assert began == start and duration == end - start > 0


def test_a_failing_block_has_no_end(heard):
    with pytest.raises(KeyError), monitoring.timed(monitoring.TRACE, "f"):
        raise KeyError
    assert [h[0] for h in heard] == ["scalar"]
