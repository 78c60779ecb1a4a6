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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from onax._compile.cache import forget_entries
from onax._compile.explain import explain
from onax._core.trace import typeof
from onax._ground import pprof, spans
from onax._ground.typing import Arguments, PathLike, Result
from onax._ground.unavailable import unavailable as _unavailable
from onax._transforms.transfer import live_arrays

_session: Any = None  # the ProfileSession that is being recorded


class TraceAnnotation:
    """Context manager that names the enclosed code in a profile.

    Args:
      name: a str.
      kwargs: values that a viewer shows with the name.

    Raises:
      TypeError: the name is not a str.

    Examples:
      >>> with onax.profiler.TraceAnnotation("load", size=3):
      ...     pass
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
    """Context manager that names one step of a training loop in a profile.

    Args:
      name: a str.
      kwargs: values that a viewer shows with the name, such as `step_num`.

    Examples:
      >>> with onax.profiler.StepTraceAnnotation("train", step_num=0):
      ...     pass
    """

    def __init__(self, name, **kwargs):
        super().__init__(name, _r=1, **kwargs)


def annotate_function(
    func: Callable[Arguments, Result], name: str | None = None, **decorator_kwargs: Any
) -> Callable[Arguments, Result]:
    """Returns a function that does the same and whose calls are named in profiles.

    Args:
      func: a function.
      name: a str; default None, the function's own name.
      decorator_kwargs: values that a viewer shows with the name.

    Returns:
      A function with the signature of `func`.

    Examples:
      >>> onax.profiler.annotate_function(lambda x: x + 1, name="add")(1)
      2
    """
    label = func.__name__ if name is None else name

    @functools.wraps(func)
    def annotated(*args, **kwargs):
        with TraceAnnotation(label, **decorator_kwargs):
            return func(*args, **kwargs)

    return annotated


class ProfileOptions:
    """What a profile contains.

    JAX's options for XLA do not exist; setting one raises AttributeError.  The attributes: `host_tracer_level`: 0
    records no spans, 1 annotations, 2 (the default) also what onax does; `python_tracer_level`: 1 (the default) records
    calls of Python functions, 0 does not; `advanced_configuration`: a dictionary of options of other devices' tracers,
    of which CPUs have none.

    Examples:
      >>> options = onax.profiler.ProfileOptions()
      >>> options.python_tracer_level = 0
    """

    __slots__ = ("advanced_configuration", "host_tracer_level", "python_tracer_level")

    def __init__(self):
        self.advanced_configuration = {}
        self.host_tracer_level = 2
        self.python_tracer_level = 1


class ProfileSession:
    """A profile that is recorded from `start` to `stop`, or in a ``with`` block; new in JAX 0.12.

    Args:
      log_dir: the folder below which `stop` writes the profile; default None, nothing is written.
      create_perfetto_link: False; open the file at https://ui.perfetto.dev.
      create_perfetto_trace: True: it is written as `perfetto_trace.json.gz` too; default False.
      profiler_options: a ProfileOptions; default None, the defaults.

    Raises:
      NotImplementedError: `create_perfetto_link` is true.

    Examples:
      >>> with onax.profiler.ProfileSession() as session:
      ...     x = jnp.ones(3) + 1
      >>> session.profile_data.find_plane_with_name("/host:CPU").name
      '/host:CPU'
    """

    def __init__(
        self,
        log_dir: PathLike | None = None,
        create_perfetto_link: bool = False,
        create_perfetto_trace: bool = False,
        profiler_options: Any = None,
    ):
        _refuse_link(create_perfetto_link)
        self.log_dir = None if log_dir is None else os.fspath(log_dir)
        self.create_perfetto_link = create_perfetto_link
        self.create_perfetto_trace = create_perfetto_trace
        self.profiler_options = profiler_options
        self._is_running = False
        self._profile_data = None

    def start(self):
        """Starts to record, and returns the session; RuntimeError if a profile is being recorded already."""
        global _session
        options = ProfileOptions() if self.profiler_options is None else self.profiler_options
        spans.start(options.host_tracer_level, options.python_tracer_level > 0)
        self._profile_data, self._is_running, _session = None, True, self
        forget_entries()
        return self

    def stop(self):
        """Stops to record, writes the profile where a folder was given, and returns its ProfileData."""
        global _session
        if not self._is_running:
            raise RuntimeError("No profile started")
        self._profile_data = ProfileData(spans.stop().trace_events())
        self._is_running, _session = False, None
        if self.log_dir is not None:
            self.export_profile_data(self.log_dir, self.create_perfetto_link, self.create_perfetto_trace)
        return self._profile_data

    def export_profile_data(
        self, log_dir, create_perfetto_link=False, create_perfetto_trace=False, session_id=None
    ):  # fmt: skip
        """Writes the profile, as the function `export_profile_data` does."""
        export_profile_data(self, log_dir, create_perfetto_link, create_perfetto_trace, session_id)

    @property
    def is_running(self):
        """Whether the profile is being recorded."""
        return self._is_running

    @property
    def profile_data(self):
        """The ProfileData, once the session has stopped; None before."""
        return self._profile_data

    def __enter__(self):
        return self.start()

    def __exit__(self, *error):
        if self._is_running:
            self.stop()


def export_profile_data(
    profile_data: Any,
    log_dir: PathLike,
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    session_id: str | None = None,
) -> None:
    """Writes a profile; new in JAX 0.12.

    Args:
      profile_data: a ProfileData, or a ProfileSession that has stopped.
      log_dir: the folder below which the file is written.
      create_perfetto_link: False; open the file at https://ui.perfetto.dev.
      create_perfetto_trace: True: the profile is written as `perfetto_trace.json.gz` too; default False.
      session_id: the name of the folder of this profile; default None, the time.

    Returns:
      None.

    Raises:
      RuntimeError: the session is running, or has not been started.
      TypeError: another kind of `profile_data`.
      NotImplementedError: `create_perfetto_link` is true.

    Examples:
      >>> import tempfile
      >>> with onax.profiler.ProfileSession() as session:
      ...     x = jnp.ones(3) + 1
      >>> with tempfile.TemporaryDirectory() as folder:
      ...     onax.profiler.export_profile_data(session, folder)
    """
    if isinstance(profile_data, ProfileSession):
        if profile_data.is_running:
            raise RuntimeError("Cannot export a ProfileSession while it is running. Call stop() first.")
        if profile_data.profile_data is None:
            raise RuntimeError("No profile data to export. Ensure the session has completed.")
        profile_data = profile_data.profile_data
    elif not isinstance(profile_data, ProfileData):
        raise TypeError(f"Expected ProfileData or ProfileSession, got {type(profile_data).__name__}")
    _refuse_link(create_perfetto_link)
    name = session_id or time.strftime("%Y_%m_%d_%H_%M_%S")
    folder = os.path.join(os.fspath(log_dir), "plugins", "profile", name)
    os.makedirs(folder, exist_ok=True)
    data = json.dumps(spans.chrome_trace(profile_data._events)).encode()
    names = [f"{socket.gethostname()}.trace.json.gz", *(["perfetto_trace.json.gz"] if create_perfetto_trace else [])]
    for name in names:
        with gzip.open(os.path.join(folder, name), "wb") as file:
            file.write(data)


def _refuse_link(create_perfetto_link):
    if create_perfetto_link:
        raise NotImplementedError("there is no server for a link: open the written file at https://ui.perfetto.dev")


def start_trace(
    log_dir: PathLike,
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    profiler_options: Any = None,
) -> None:
    """Starts to record a profile, which `stop_trace` writes.

    Args:
      log_dir: the folder below which the file is written.
      create_perfetto_link: False; open the file at https://ui.perfetto.dev.
      create_perfetto_trace: True: the profile is written as `perfetto_trace.json.gz` too; default False.
      profiler_options: a ProfileOptions; default None, the defaults.

    Returns:
      None.

    Raises:
      RuntimeError: a profile is being recorded already.
      NotImplementedError: `create_perfetto_link` is true.

    Examples:
      >>> import tempfile
      >>> with tempfile.TemporaryDirectory() as folder:
      ...     onax.profiler.start_trace(folder)
      ...     onax.profiler.stop_trace()
    """
    ProfileSession(log_dir, create_perfetto_link, create_perfetto_trace, profiler_options).start()


def stop_trace() -> None:
    """Stops to record the profile, and writes it.

    Returns:
      None.

    Raises:
      RuntimeError: none is being recorded.

    Examples:
      >>> import tempfile
      >>> with tempfile.TemporaryDirectory() as folder:
      ...     onax.profiler.start_trace(folder)
      ...     onax.profiler.stop_trace()
    """
    if _session is None:
        raise RuntimeError("No profile started")
    _session.stop()


@contextlib.contextmanager
def trace(
    log_dir: PathLike,
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    profiler_options: Any = None,
) -> Iterator[None]:
    """Context manager that records a profile and writes it.

    Args:
      log_dir: the folder below which the file is written.
      create_perfetto_link: False; open the file at https://ui.perfetto.dev.
      create_perfetto_trace: True: the profile is written as `perfetto_trace.json.gz` too; default False.
      profiler_options: a ProfileOptions; default None, the defaults.

    Returns:
      A context manager.

    Examples:
      >>> import tempfile
      >>> with tempfile.TemporaryDirectory() as folder, onax.profiler.trace(folder):
      ...     x = jnp.ones(3) + 1
    """
    start_trace(log_dir, create_perfetto_link, create_perfetto_trace, profiler_options)
    try:
        yield
    finally:
        stop_trace()


@dataclass(frozen=True, slots=True)
class ProfileEvent:
    """A span of a profile.

    Args:
      name: its name.
      start_ns: its begin in nanoseconds.
      duration_ns: its length in nanoseconds.
      stats: (name, value) pairs given with it; default ``()``.

    Examples:
      >>> onax.profiler.ProfileEvent("load", 0.0, 5.0).duration_ns
      5.0
    """

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
    """The spans of one thread.

    Args:
      name: the thread's name.
      events: its ProfileEvents, in order of their begins.

    Examples:
      >>> onax.profiler.ProfileLine("main", ()).name
      'main'
    """

    name: str
    events: tuple


@dataclass(frozen=True, slots=True)
class ProfilePlane:
    """The threads of one process.

    Args:
      name: the process's name.
      lines: its ProfileLines.
      stats: (name, value) pairs; default ``()``.

    Examples:
      >>> onax.profiler.ProfilePlane("python", ()).name
      'python'
    """

    name: str
    lines: tuple
    stats: tuple = ()


class ProfileData:
    """A profile that `trace` wrote; `planes` is a tuple of processes.

    Args:
      events: the list `traceEvents` of a Chrome trace.

    Examples:
      >>> onax.profiler.ProfileData([]).planes
      ()
    """

    def __init__(self, events):
        self._events = events
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


def device_memory_profile(backend: str | None = None) -> bytes:
    """Returns a profile, in the format of pprof, of the arrays that exist: their number and bytes by type and device.

    Args:
      backend: a platform; default that of the default backend.

    Returns:
      The bytes of a file that `pprof` shows.

    Examples:
      >>> x = jnp.ones(1000)
      >>> len(onax.profiler.device_memory_profile()) > 50
      True
    """
    found: dict[tuple[str, str], list[int]] = {}
    for x in live_arrays(backend):
        for shard in x.addressable_shards:
            kind = typeof(shard.data)
            count = found.setdefault((str(kind), str(shard.device)), [0, 0])
            count[0] += 1
            count[1] += kind.size * kind.dtype.itemsize
    samples = [
        pprof.Sample((number, size), ((text, "", 0),), {"kind": "buffer", "device": device})
        for (text, device), (number, size) in found.items()
    ]
    return pprof.encode([("allocations", "count"), ("space", "bytes")], samples)


def save_device_memory_profile(filename: PathLike, backend: str | None = None) -> None:
    """Writes what `device_memory_profile` returns to a file.

    Args:
      filename: the file.
      backend: a platform; default that of the default backend.

    Examples:
      >>> import os, tempfile
      >>> path = os.path.join(tempfile.mkdtemp(), "memory.prof")
      >>> onax.profiler.save_device_memory_profile(path)
      >>> os.path.getsize(path) > 50
      True
    """
    with open(filename, "wb") as file:
        file.write(device_memory_profile(backend))


def start_server(port: int, requires_backend: bool = True) -> Any:
    """Raises NotImplementedError: a profile is written to a file.

    Args:
      port: a number.
      requires_backend: a bool.

    Raises:
      NotImplementedError: always.

    Examples:
      >>> onax.profiler.start_server(9999)
      Traceback (most recent call last):
          ...
      NotImplementedError: there is no profiler server: onax.profiler.trace(folder) ...
    """
    raise NotImplementedError("there is no profiler server: onax.profiler.trace(folder) writes a profile to a file")


def stop_server() -> Any:
    """Raises ValueError: no server can have been started.

    Raises:
      ValueError: always.

    Examples:
      >>> onax.profiler.stop_server()
      Traceback (most recent call last):
          ...
      ValueError: No active profiler server.
    """
    raise ValueError("No active profiler server.")


__getattr__ = _unavailable(
    __name__,
    {
        "register_subprocess": (
            "there is no profiler server to register with; trace(folder) in a process writes that process's profile"
        ),
    },
)

__all__ = [
    "ProfileData",
    "ProfileEvent",
    "ProfileLine",
    "ProfileOptions",
    "ProfilePlane",
    "ProfileSession",
    "StepTraceAnnotation",
    "TraceAnnotation",
    "annotate_function",
    "device_memory_profile",
    "explain",
    "export_profile_data",
    "save_device_memory_profile",
    "start_server",
    "start_trace",
    "stop_server",
    "stop_trace",
    "trace",
]
