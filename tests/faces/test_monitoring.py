"""Listeners hear the events that are recorded until they are unregistered."""

import pytest

from onax import monitoring

EVENTS = {  # register, unregister, record, what a listener hears
    "event": (
        monitoring.register_event_listener,
        monitoring.unregister_event_listener,
        lambda: monitoring.record_event("/test/event", part="a"),
        (("/test/event",), {"part": "a"}),
    ),
    "duration": (
        monitoring.register_event_duration_secs_listener,
        monitoring.unregister_event_duration_listener,
        lambda: monitoring.record_event_duration_secs("/test/duration", 0.5),
        (("/test/duration", 0.5), {}),
    ),
    "scalar": (
        monitoring.register_scalar_listener,
        monitoring.unregister_scalar_listener,
        lambda: monitoring.record_scalar("/test/scalar", 3),
        (("/test/scalar", 3), {}),
    ),
    "time span": (
        monitoring.register_event_time_span_listener,
        monitoring.unregister_event_time_span_listener,
        lambda: monitoring.record_event_time_span("/test/span", 1.0, 2.0),
        (("/test/span", 1.0, 2.0), {}),
    ),
}


@pytest.mark.parametrize("kind", EVENTS)
def test_listeners_hear_their_kind_of_event(kind):
    register, unregister, _, wanted = EVENTS[kind]
    heard = []
    listener = lambda *args, **options: heard.append((args, options))
    register(listener)
    try:
        for _, _, record, _ in EVENTS.values():
            record()
    finally:
        unregister(listener)
    EVENTS[kind][2]()
    assert heard == [wanted]


def test_a_listener_that_is_not_registered():
    with pytest.raises(ValueError):
        monitoring.unregister_event_listener(print)
