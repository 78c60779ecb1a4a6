"""Profiles of programs, under the names of jax.profiler.

    with onax.profiler.trace("/tmp/profile"):
        ...

writes `plugins/profile/<time>/<host>.trace.json.gz` there, a Chrome trace for chrome://tracing, Perfetto and others:
calls of compiled functions (`PjitFunction(f)`, and within `jit_f`, the time in the runtime), `trace f`, `lower jit(f)`
and `compile jit(f)` where they had to be compiled, calls of Python functions, and annotations.  JAX's `xplane.pb` is
XLA's format and is not written; operators within a compiled function are not told apart.
"""

import contextlib
import functools
import gzip
import json
import os
import socket
import time

from onax._compile.cache import forget_entries
from onax._ground import spans

_target = None  # (folder, whether for Perfetto too) of the profile that is being taken


class TraceAnnotation:
    """Context manager that gives what it encloses a name in a profile; keyword arguments are shown with it."""

    def __init__(self, name, /, **kwargs):
        if not isinstance(name, str):
            raise TypeError(f"the name of a TraceAnnotation is a string; got {name!r}")
        self._name = name
        self._metadata = kwargs
        self._span = None

    def __enter__(self):
        self._span = spans.annotation(self._name, self._metadata)
        self._span.__enter__()
        return self

    def __exit__(self, *error):
        return self._span.__exit__(*error)

    def set_metadata(self, **kwargs):
        """More to be shown with the name."""
        self._metadata.update(kwargs)

    @staticmethod
    def is_enabled():
        """Whether a profile is being taken."""
        return spans.recording()


class StepTraceAnnotation(TraceAnnotation):
    """The same for one step of a training loop: `StepTraceAnnotation("train", step_num=i)`."""

    def __init__(self, name, **kwargs):
        super().__init__(name, _r=1, **kwargs)


def annotate_function(func, name=None, **decorator_kwargs):
    """The function, each of whose calls has a name in profiles: its own, or the one given."""
    label = func.__name__ if name is None else name

    @functools.wraps(func)
    def annotated(*args, **kwargs):
        with TraceAnnotation(label, **decorator_kwargs):
            return func(*args, **kwargs)

    return annotated


class ProfileOptions:
    """What a profile holds.  The options that concern XLA are not there: setting one raises AttributeError.

    host_tracer_level     0: no spans, 1: annotations, 2: what onax does as well (default)
    python_tracer_level   1: calls of Python functions (default), 0: none
    """

    __slots__ = ("host_tracer_level", "python_tracer_level")

    def __init__(self):
        self.host_tracer_level = 2
        self.python_tracer_level = 1


def start_trace(log_dir, create_perfetto_link=False, create_perfetto_trace=False, profiler_options=None):
    """Begins to take a profile, which `stop_trace` writes below `log_dir`; RuntimeError if one is being taken.

    create_perfetto_trace   write it as `perfetto_trace.json.gz` too
    create_perfetto_link    not there (NotImplementedError): open the file at ui.perfetto.dev
    """
    global _target
    if create_perfetto_link:
        raise NotImplementedError("no server for a link is there: open the written file at https://ui.perfetto.dev")
    options = ProfileOptions() if profiler_options is None else profiler_options
    spans.start(options.host_tracer_level, options.python_tracer_level > 0)
    _target = os.fspath(log_dir), create_perfetto_trace
    forget_entries()


def stop_trace():
    """Ends the profile and writes it; RuntimeError if none is being taken."""
    found = json.dumps(spans.stop().chrome_trace()).encode()
    log_dir, perfetto = _target
    folder = os.path.join(log_dir, "plugins", "profile", time.strftime("%Y_%m_%d_%H_%M_%S"))
    os.makedirs(folder, exist_ok=True)
    for name in (f"{socket.gethostname()}.trace.json.gz", *(["perfetto_trace.json.gz"] if perfetto else [])):
        with gzip.open(os.path.join(folder, name), "wb") as file:
            file.write(found)


@contextlib.contextmanager
def trace(log_dir, create_perfetto_link=False, create_perfetto_trace=False, profiler_options=None):
    """Context that takes a profile and writes it below `log_dir`; the arguments are those of `start_trace`."""
    start_trace(log_dir, create_perfetto_link, create_perfetto_trace, profiler_options)
    try:
        yield
    finally:
        stop_trace()


def device_memory_profile(backend=None):
    """Not there: NotImplementedError.  Arrays lie in NumPy's memory, which `tracemalloc` traces with the lines."""
    raise NotImplementedError(
        "memory is NumPy's and ONNX Runtime's, and no list of it is kept: Python's tracemalloc traces NumPy's arrays"
    )


def save_device_memory_profile(filename, backend=None):
    """Not there, as `device_memory_profile`: NotImplementedError."""
    device_memory_profile(backend)


def start_server(port, requires_backend=True):
    """Not there: NotImplementedError.  A profile is written to a file."""
    raise NotImplementedError("no profiler server is there: onax.profiler.trace(folder) writes a profile to a file")


def stop_server():
    """ValueError: no server can have been started."""
    raise ValueError("No active profiler server.")


__all__ = [
    "ProfileOptions",
    "StepTraceAnnotation",
    "TraceAnnotation",
    "annotate_function",
    "device_memory_profile",
    "save_device_memory_profile",
    "start_server",
    "start_trace",
    "stop_server",
    "stop_trace",
    "trace",
]
