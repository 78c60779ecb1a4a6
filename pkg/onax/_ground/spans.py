"""Profiles: named spans of time, recorded while a profile is active, and written as a Chrome trace.

    start() ... stop() -> Profile        one at a time in a process
    span(name)                           context manager for work of onax; almost free while no profile is active
    annotation(name, metadata)           context manager for a name that the user gives

The format is the "Trace Event Format" that chrome://tracing, Perfetto and TensorBoard read: complete events ("X") with
microseconds, one track a thread, and names of processes and threads as metadata ("M").
"""

import contextlib
import os
import sys
import threading
import time

import numpy as np

from onax._ground import source

_profile = None


class Profile:
    """The spans of one profile: (name, thread, begin, end, metadata), in nanoseconds of time.perf_counter_ns.

    level: 0 no spans, 1 annotations, 2 work of onax too
    """

    def __init__(self, level=2):
        self.level = level
        self.began = time.perf_counter_ns()
        self.spans = []
        self.threads = {}

    def add(self, name, begin, metadata):
        """Records a span that ends now."""
        thread = threading.get_ident()
        if thread not in self.threads:
            self.threads[thread] = threading.current_thread().name
        self.spans.append((name, thread, begin, time.perf_counter_ns(), metadata))

    def trace_events(self):
        """The events of a Chrome trace."""
        pid = os.getpid()
        events = [{"ph": "M", "pid": pid, "name": "process_name", "args": {"name": "/host:CPU"}}]
        for thread, name in self.threads.items():
            events.append({"ph": "M", "pid": pid, "tid": thread, "name": "thread_name", "args": {"name": name}})
        for name, thread, begin, end, metadata in sorted(self.spans, key=lambda s: (s[2], -s[3])):
            event = {"ph": "X", "pid": pid, "tid": thread, "name": name}
            event["ts"], event["dur"] = (begin - self.began) / 1000, (end - begin) / 1000
            if metadata:
                event["args"] = {key: str(value) for key, value in metadata.items()}
            events.append(event)
        return events


def chrome_trace(events):
    """A Chrome trace of these events, as an object that can be written as JSON."""
    return {"displayTimeUnit": "ns", "metadata": {"highres-ticks": True}, "traceEvents": events}


def recording():
    """Whether a profile is active."""
    return _profile is not None


def start(level=2, python_calls=True):
    """Starts a profile; raises RuntimeError if one is active.

    python_calls: also record calls of the user's Python functions, and of onax's functions that these call, in this
    thread and in threads that start later.  They are not recorded while another Python profiler is active.
    """
    global _profile
    if _profile is not None:
        raise RuntimeError("Profile has already been started. Only one profile may be run at a time.")
    _profile = Profile(level)
    if python_calls and sys.getprofile() is None:
        calls = _PythonCalls(_profile)
        threading.setprofile(calls)
        sys.setprofile(calls)


def stop():
    """Ends the profile and returns it; raises RuntimeError if none is active."""
    global _profile
    if _profile is None:
        raise RuntimeError("No profile started")
    if isinstance(sys.getprofile(), _PythonCalls):
        sys.setprofile(None)
        threading.setprofile(None)
    result, _profile = _profile, None
    return result


def span(name):
    """Context manager that records the time of work of onax under a name."""
    return _recorded_span(name, {}, 2) if _profile is not None else _NO_SPAN


def annotation(name, metadata):
    """Context manager that records its time under the user's name, with a dictionary of metadata."""
    return _recorded_span(name, metadata, 1)


_NO_SPAN = contextlib.nullcontext()


@contextlib.contextmanager
def _recorded_span(name, metadata, level):
    profile, begin = _profile, time.perf_counter_ns()
    if profile is None or profile.level < level:
        yield
        return
    try:
        yield
    finally:
        profile.add(name, begin, metadata)


class _PythonCalls:
    """The function for sys.setprofile: records the user's functions and the functions of onax that these call."""

    def __init__(self, profile):
        self.profile = profile
        self.begun = threading.local()

    def __call__(self, frame, event, _):
        if event == "call":
            if _is_shown(frame):
                self._open()[id(frame)] = time.perf_counter_ns()
        elif event == "return":
            begin = self._open().pop(id(frame), None)
            if begin is not None:
                self.profile.add(_label(frame), begin, {})

    def _open(self):
        result = self.begun.__dict__.get("frames")
        if result is None:
            result = self.begun.frames = {}
        return result


_kinds = {}  # file name -> "user", "onax", or "" for files that are not shown


def _kind(frame):
    """The kind of a frame: "user", "onax", or "" for frames of the standard library, NumPy and this module."""
    name = frame.f_code.co_filename
    kind = _kinds.get(name)
    if kind is None:
        if source.is_internal(name):
            kind = "" if os.path.basename(name) in _OWN else "onax"
        else:
            standard = name.startswith(_STANDARD) and not name.startswith(_SITE)
            kind = "" if standard or name.startswith((_NUMPY, "<frozen")) else "user"
        _kinds[name] = kind
    return kind


_OWN = ("spans.py", "profiler.py")
_STANDARD = os.path.dirname(os.__file__) + os.sep
_SITE = os.path.join(_STANDARD, "site-packages", "")
_NUMPY = os.path.dirname(np.__file__) + os.sep


def _is_shown(frame):
    kind = _kind(frame)
    return kind == "user" or (kind == "onax" and frame.f_back is not None and _kind(frame.f_back) == "user")


def _label(frame):
    """The name of a function as JAX's profiles show it."""
    code = frame.f_code
    return f"${os.path.basename(code.co_filename)}:{code.co_firstlineno} {code.co_name}"
