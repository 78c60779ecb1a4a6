"""Monitoring: events that onax and others record, and the listeners that are called for them.

For each program that it compiles, onax records these events under JAX's names, so that tools can count compilations:

    /jax/core/compile/jaxpr_trace_duration             staging a function
    /jax/core/compile/jaxpr_to_mlir_module_duration    lowering its program (here to ONNX; the name is JAX's)
    /jax/core/compile/backend_compile_duration         making the session that runs it

Each is recorded as a scalar (the time) when it begins, and as a duration and a time span when it ends, with `fun_name`.
The first one of a process tells whether it may use the persistent compilation cache (CACHE_USED, CACHE_OFF).
"""

import contextlib
import time
from typing import Any

from onax._ground import spans
from onax._ground.typing import AnyFunction

TRACE = "/jax/core/compile/jaxpr_trace_duration"
LOWER = "/jax/core/compile/jaxpr_to_mlir_module_duration"
COMPILE = "/jax/core/compile/backend_compile_duration"
CACHE_USED, CACHE_OFF = "/jax/compilation_cache/tasks_using_cache", "/jax/compilation_cache/task_disabled_cache"
_SPANS = {TRACE: "trace", LOWER: "lower", COMPILE: "compile"}

_events, _durations, _time_spans, _scalars = [], [], [], []
_told = set()


def record_event(event: str, **kwargs: Any) -> None:
    """Calls the listeners for events.

    Args:
      event: the event's name, a str.
      kwargs: values that describe it.

    Returns:
      None.

    Examples:
      >>> onax.monitoring.record_event("/docs/event", size=3)
    """
    for listener in tuple(_events):
        listener(event, **kwargs)


def record_event_duration_secs(event: str, duration: float, **kwargs: Any) -> None:
    """Calls the listeners for durations.

    Args:
      event: the event's name, a str.
      duration: in seconds.
      kwargs: values that describe it.

    Returns:
      None.

    Examples:
      >>> onax.monitoring.record_event_duration_secs("/docs/event", 0.5)
    """
    for listener in tuple(_durations):
        listener(event, duration, **kwargs)


def record_event_time_span(event: str, start_time: float, end_time: float, **kwargs: Any) -> None:
    """Calls the listeners for time spans.

    Args:
      event: the event's name, a str.
      start_time: in seconds.
      end_time: in seconds.
      kwargs: values that describe it.

    Returns:
      None.

    Examples:
      >>> onax.monitoring.record_event_time_span("/docs/event", 0.0, 0.5)
    """
    for listener in tuple(_time_spans):
        listener(event, start_time, end_time, **kwargs)


def record_scalar(event: str, value: float, **kwargs: Any) -> None:
    """Calls the listeners for scalars.

    Args:
      event: the event's name, a str.
      value: a number.
      kwargs: values that describe it.

    Returns:
      None.

    Examples:
      >>> onax.monitoring.record_scalar("/docs/event", 3)
    """
    for listener in tuple(_scalars):
        listener(event, value, **kwargs)


def register_event_listener(callback: AnyFunction) -> None:
    """Adds a listener for events.

    Args:
      callback: a function (event, **values).

    Returns:
      None.

    Examples:
      >>> seen = []
      >>> listener = lambda event, **values: seen.append((event, values))
      >>> onax.monitoring.register_event_listener(listener)
      >>> onax.monitoring.record_event("/docs/event", size=3)
      >>> onax.monitoring.unregister_event_listener(listener)
      >>> seen
      [('/docs/event', {'size': 3})]
    """
    _events.append(callback)


def register_event_duration_secs_listener(callback: AnyFunction) -> None:
    """Adds a listener for durations.

    Args:
      callback: a function (event, seconds, **values).

    Returns:
      None.

    Examples:
      >>> seen = []
      >>> listener = lambda event, seconds, **values: seen.append(seconds)
      >>> onax.monitoring.register_event_duration_secs_listener(listener)
      >>> onax.monitoring.record_event_duration_secs("/docs/event", 0.5)
      >>> onax.monitoring.unregister_event_duration_listener(listener)
      >>> seen
      [0.5]
    """
    _durations.append(callback)


def register_event_time_span_listener(callback: AnyFunction) -> None:
    """Adds a listener for time spans.

    Args:
      callback: a function (event, start, end, **values).

    Returns:
      None.

    Examples:
      >>> seen = []
      >>> listener = lambda event, start, end, **values: seen.append((start, end))
      >>> onax.monitoring.register_event_time_span_listener(listener)
      >>> onax.monitoring.record_event_time_span("/docs/event", 0.0, 0.5)
      >>> onax.monitoring.unregister_event_time_span_listener(listener)
      >>> seen
      [(0.0, 0.5)]
    """
    _time_spans.append(callback)


def register_scalar_listener(callback: AnyFunction) -> None:
    """Adds a listener for scalars.

    Args:
      callback: a function (event, value, **values).

    Returns:
      None.

    Examples:
      >>> seen = []
      >>> listener = lambda event, value, **values: seen.append(value)
      >>> onax.monitoring.register_scalar_listener(listener)
      >>> onax.monitoring.record_scalar("/docs/event", 3)
      >>> onax.monitoring.unregister_scalar_listener(listener)
      >>> seen
      [3]
    """
    _scalars.append(callback)


def _remove(listeners, callback):
    if callback not in listeners:
        raise ValueError(f"{callback!r} is not registered as a listener")
    listeners.remove(callback)


def unregister_event_listener(callback: AnyFunction) -> None:
    """Removes a listener for events.

    Args:
      callback: the function that was registered.

    Returns:
      None.

    Raises:
      ValueError: it is not registered.

    Examples:
      >>> listener = lambda event, **values: None
      >>> onax.monitoring.register_event_listener(listener)
      >>> onax.monitoring.unregister_event_listener(listener)
    """
    _remove(_events, callback)


def unregister_event_duration_listener(callback: AnyFunction) -> None:
    """Removes a listener for durations.

    Args:
      callback: the function that was registered.

    Returns:
      None.

    Raises:
      ValueError: it is not registered.

    Examples:
      >>> listener = lambda event, seconds, **values: None
      >>> onax.monitoring.register_event_duration_secs_listener(listener)
      >>> onax.monitoring.unregister_event_duration_listener(listener)
    """
    _remove(_durations, callback)


def unregister_event_time_span_listener(callback: AnyFunction) -> None:
    """Removes a listener for time spans.

    Args:
      callback: the function that was registered.

    Returns:
      None.

    Raises:
      ValueError: it is not registered.

    Examples:
      >>> listener = lambda event, start, end, **values: None
      >>> onax.monitoring.register_event_time_span_listener(listener)
      >>> onax.monitoring.unregister_event_time_span_listener(listener)
    """
    _remove(_time_spans, callback)


def unregister_scalar_listener(callback: AnyFunction) -> None:
    """Removes a listener for scalars.

    Args:
      callback: the function that was registered.

    Returns:
      None.

    Raises:
      ValueError: it is not registered.

    Examples:
      >>> listener = lambda event, value, **values: None
      >>> onax.monitoring.register_scalar_listener(listener)
      >>> onax.monitoring.unregister_scalar_listener(listener)
    """
    _remove(_scalars, callback)


def clear_event_listeners() -> None:
    """Removes all listeners of every kind.

    Returns:
      None.

    Examples:
      >>> onax.monitoring.clear_event_listeners()
    """
    for listeners in (_events, _durations, _time_spans, _scalars):
        listeners.clear()


def tell_of_cache(enabled):
    """Records once whether the persistent compilation cache is on; again after `forget_cache`."""
    if not _told:
        _told.add(enabled)
        record_event(CACHE_USED if enabled else CACHE_OFF)


def forget_cache():
    """The next program that is compiled tells again whether the persistent compilation cache is on."""
    _told.clear()


@contextlib.contextmanager
def timed(event, fun_name):
    """Context manager that records the time of its block as an event, and as a span of the current profile."""
    started = time.time()
    record_scalar(event, started, fun_name=fun_name)
    with spans.span(f"{_SPANS[event]} {fun_name}"):
        yield
    ended = time.time()
    record_event_duration_secs(event, ended - started, fun_name=fun_name)
    record_event_time_span(event, started, ended, fun_name=fun_name)
