"""Profiles of programs, under the names of jax.profiler.

    with onax.profiler.trace("/tmp/profile"):
        ...

writes `plugins/profile/<time>/<host>.trace.json.gz` into that folder, a Chrome trace for chrome://tracing, Perfetto and
other viewers.  It contains the calls of compiled functions (`PjitFunction(f)`, and within it `jit_f`, the time in the
runtime), their compilation (`trace f`, `lower jit(f)`, `compile jit(f)`), calls of Python functions, and annotations.
JAX's `xplane.pb` is XLA's format and is not written.  The steps within a compiled function are measured by
`onax.explain`, which is `onax.profiler.explain` too.
"""

import contextlib
import functools
import gzip
import json
import os
import socket
import time
from dataclasses import dataclass

from onax._compile.cache import forget_entries
from onax._compile.explain import explain
from onax._ground import spans

_target = None  # (folder, whether to write a file for Perfetto too) of the profile that is being recorded


class TraceAnnotation:
    """Context manager that names the enclosed code in a profile.

    Args:
      name: the name, a string.
      **kwargs: values that a viewer shows with the name.

    Raises:
      TypeError: the name is not a string.
    """

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
        """Adds values that a viewer shows with the name."""
        self._metadata.update(kwargs)

    @staticmethod
    def is_enabled():
        """Returns whether a profile is being recorded."""
        return spans.recording()


class StepTraceAnnotation(TraceAnnotation):
    """A TraceAnnotation for one step of a training loop: `StepTraceAnnotation("train", step_num=i)`."""

    def __init__(self, name, **kwargs):
        super().__init__(name, _r=1, **kwargs)


def annotate_function(func, name=None, **decorator_kwargs):
    """Returns a function that does the same and whose calls are named in profiles.

    Args:
      func: the function.
      name: the name in profiles; the function's own by default.
      **decorator_kwargs: values that a viewer shows with the name.
    """
    label = func.__name__ if name is None else name

    @functools.wraps(func)
    def annotated(*args, **kwargs):
        with TraceAnnotation(label, **decorator_kwargs):
            return func(*args, **kwargs)

    return annotated


class ProfileOptions:
    """What a profile contains.  JAX's options for XLA do not exist; setting one raises AttributeError.

    Attributes:
      host_tracer_level: 0 records no spans, 1 annotations, 2 (default) also what onax does.
      python_tracer_level: 1 (default) records calls of Python functions, 0 does not.
    """

    __slots__ = ("host_tracer_level", "python_tracer_level")

    def __init__(self):
        self.host_tracer_level = 2
        self.python_tracer_level = 1


def start_trace(log_dir, create_perfetto_link=False, create_perfetto_trace=False, profiler_options=None):
    """Starts recording a profile, which `stop_trace` writes.

    Args:
      log_dir: the folder below which the file is written.
      create_perfetto_link: not supported; open the file at https://ui.perfetto.dev.
      create_perfetto_trace: whether to write the profile as `perfetto_trace.json.gz` too.
      profiler_options: a ProfileOptions; the defaults if None.

    Raises:
      RuntimeError: a profile is being recorded already.
      NotImplementedError: `create_perfetto_link` is true.
    """
    global _target
    if create_perfetto_link:
        raise NotImplementedError("there is no server for a link: open the written file at https://ui.perfetto.dev")
    options = ProfileOptions() if profiler_options is None else profiler_options
    spans.start(options.host_tracer_level, options.python_tracer_level > 0)
    _target = os.fspath(log_dir), create_perfetto_trace
    forget_entries()


def stop_trace():
    """Stops recording the profile and writes it.  Raises RuntimeError if none is being recorded."""
    data = json.dumps(spans.stop().chrome_trace()).encode()
    log_dir, perfetto = _target
    folder = os.path.join(log_dir, "plugins", "profile", time.strftime("%Y_%m_%d_%H_%M_%S"))
    os.makedirs(folder, exist_ok=True)
    for name in (f"{socket.gethostname()}.trace.json.gz", *(["perfetto_trace.json.gz"] if perfetto else [])):
        with gzip.open(os.path.join(folder, name), "wb") as file:
            file.write(data)


@contextlib.contextmanager
def trace(log_dir, create_perfetto_link=False, create_perfetto_trace=False, profiler_options=None):
    """Context manager that records a profile and writes it; the arguments are those of `start_trace`."""
    start_trace(log_dir, create_perfetto_link, create_perfetto_trace, profiler_options)
    try:
        yield
    finally:
        stop_trace()


@dataclass(frozen=True, slots=True)
class ProfileEvent:
    """A span of a profile: its name, its begin and its length in nanoseconds, `stats` (the values given with it)."""

    name: str
    start_ns: float
    duration_ns: float
    stats: tuple = ()

    @property
    def end_ns(self):
        """The end, in nanoseconds from the begin of the profile."""
        return self.start_ns + self.duration_ns


@dataclass(frozen=True, slots=True)
class ProfileLine:
    """The spans of one thread, in order of their begins."""

    name: str
    events: tuple


@dataclass(frozen=True, slots=True)
class ProfilePlane:
    """The threads of one process."""

    name: str
    lines: tuple
    stats: tuple = ()


class ProfileData:
    """A profile that was written by `trace`: `planes` is a tuple of processes, with lines (threads) of events.

    Args:
      events: the list `traceEvents` of a Chrome trace.
    """

    def __init__(self, events):
        names = {(e["pid"], e.get("tid")): e["args"]["name"] for e in events if e["ph"] == "M"}
        spans = {}
        for e in events:
            if e["ph"] == "X":
                span = ProfileEvent(e["name"], e["ts"] * 1000, e["dur"] * 1000, tuple(e.get("args", {}).items()))
                spans.setdefault(e["pid"], {}).setdefault(e["tid"], []).append(span)
        self.planes = tuple(
            ProfilePlane(
                names.get((pid, None), str(pid)),
                tuple(
                    ProfileLine(names.get((pid, tid), str(tid)), tuple(sorted(found, key=lambda e: e.start_ns)))
                    for tid, found in threads.items()
                ),
            )
            for pid, threads in spans.items()
        )

    @classmethod
    def from_file(cls, path):
        """The profile in a file `<host>.trace.json.gz`.

        Raises NotImplementedError for XLA's `xplane.pb`, which is another format.
        """
        if str(path).endswith(".pb"):
            cls.from_serialized_xspace(b"")
        with gzip.open(path, "rb") as file:
            return cls(json.load(file)["traceEvents"])

    @classmethod
    def from_serialized_xspace(cls, data):
        """Raises NotImplementedError: the message is XLA's."""
        raise NotImplementedError(
            "ProfileData reads the file <host>.trace.json.gz of a profile; xplane.pb is a format of XLA, which onax "
            "neither writes nor reads"
        )

    def find_plane_with_name(self, name):
        """The process of this name, "/host:CPU", or None."""
        return next((plane for plane in self.planes if plane.name == name), None)


def device_memory_profile(backend=None):
    """Raises NotImplementedError: Python's `tracemalloc` traces the memory of NumPy's arrays, with lines."""
    raise NotImplementedError(
        "memory belongs to NumPy and ONNX Runtime, and onax keeps no list of it: Python's tracemalloc traces NumPy's "
        "arrays"
    )


def save_device_memory_profile(filename, backend=None):
    """Raises NotImplementedError, as `device_memory_profile` does."""
    device_memory_profile(backend)


def start_server(port, requires_backend=True):
    """Raises NotImplementedError: a profile is written to a file."""
    raise NotImplementedError("there is no profiler server: onax.profiler.trace(folder) writes a profile to a file")


def stop_server():
    """Raises ValueError: no server can have been started."""
    raise ValueError("No active profiler server.")


__all__ = [
    "ProfileData",
    "ProfileEvent",
    "ProfileOptions",
    "ProfilePlane",
    "StepTraceAnnotation",
    "TraceAnnotation",
    "annotate_function",
    "device_memory_profile",
    "explain",
    "save_device_memory_profile",
    "start_server",
    "start_trace",
    "stop_server",
    "stop_trace",
    "trace",
]
