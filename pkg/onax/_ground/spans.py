"""Profiles: named spans of time, collected while a profile is being taken, and written as a Chrome trace.

    start() ... stop() -> Profile        one at a time in a process
    span(name)                           context manager: work of onax; costs next to nothing while none is taken
    annotation(name, metadata)           context manager: a name that the user gave

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
        """Notes a span that ends now."""
        thread = threading.get_ident()
        if thread not in self.threads:
            self.threads[thread] = threading.current_thread().name
        self.spans.append((name, thread, begin, time.perf_counter_ns(), metadata))

    def chrome_trace(self):
        """The profile as an object for JSON."""
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
        return {"displayTimeUnit": "ns", "metadata": {"highres-ticks": True}, "traceEvents": events}


def recording():
    """Whether a profile is being taken."""
    return _profile is not None


def start(level=2, python_calls=True):
    """Begins to take a profile; RuntimeError if one is being taken.

    python_calls: also the calls of Python functions in this thread and threads that start later: the user's, and the
    functions of onax that these call.  They are left out where another profiler of Python is at work.
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
    """Ends it: the Profile.  RuntimeError if none is being taken."""
    global _profile
    if _profile is None:
        raise RuntimeError("No profile started")
    if isinstance(sys.getprofile(), _PythonCalls):
        sys.setprofile(None)
        threading.setprofile(None)
    found, _profile = _profile, None
    return found


def span(name):
    """Context of work of onax, whose time is noted under a name."""
    return _noted(name, {}, 2) if _profile is not None else _NOTHING


def annotation(name, metadata):
    """Context whose time is noted under a name that the user gave, with a dictionary of what is shown with it."""
    return _noted(name, metadata, 1)


_NOTHING = contextlib.nullcontext()


@contextlib.contextmanager
def _noted(name, metadata, level):
    profile, begin = _profile, time.perf_counter_ns()
    if profile is None or profile.level < level:
        yield
        return
    try:
        yield
    finally:
        profile.add(name, begin, metadata)


class _PythonCalls:
    """What sys.setprofile calls: notes the user's functions and the functions of onax that these call."""

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
        found = self.begun.__dict__.get("frames")
        if found is None:
            found = self.begun.frames = {}
        return found


_kinds = {}  # file name -> "user", "onax", or "" for what is not shown


def _kind(frame):
    """Whose a frame is: the standard library's, NumPy's and this module's are not shown."""
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
