"""Source locations of operations, and tracebacks without frames of onax.

While staging, `user_location()` records the code object and the instruction of the innermost frame outside onax and
outside registered files, which takes some tenths of a microsecond.  `summarize` and `resolve` find file, line and
column for a record, which takes about 10 µs.  While a program is interpreted again (to derive another program from it),
`here.record` is the location of the current equation, and operations that are recorded get that location.
`here.scopes` are the transformations that run and the scopes that the user entered by `named_scope`; locations keep
them.
"""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FunctionType, TracebackType
from typing import NamedTuple, TypeVar

from onax._ground import config
from onax._native import source_info, type_slots
from onax._native.api_boundary import api_boundary as _api_boundary

_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
# Folders whose files belong to onax; compiled modules name their sources as the build saw them.
_prefixes = [_ROOT, os.path.join("cython_src", "onax", "")]
_files = set()  # files of other libraries that were registered
_is_internal = source_info.internal_files  # file name -> bool, filled as files are met; compiled code reads it


@dataclass(slots=True, eq=False, repr=False)
class Frame:
    """One frame of a traceback, with JAX's field names; a line or column that is unknown is 0."""

    file_name: str
    start_line: int
    start_column: int
    function_name: str

    def __repr__(self):
        return f"{self.file_name}:{self.start_line}:{self.start_column} ({self.function_name})"


class SourceTraceback:
    """The source location of an equation: up to 5 of the user's frames, innermost first."""

    __slots__ = ("frames", "record")

    def __init__(self, record):
        self.record = record
        self.frames = [_frame(r) for r in (record, *(record.callers or ()))]

    def __str__(self):
        return "\n".join(map(repr, self.frames))


class Scope(NamedTuple):
    """A named part of a program; `code` is that which entered it, or None."""

    name: str
    code: CodeType | None = None


class Transform(NamedTuple):
    """A transformation, which in a name stack stands around the name that follows."""

    name: str


JVP, VMAP, TRANSPOSE = map(Transform, ("jvp", "vmap", "transpose"))


@dataclass(slots=True, frozen=True)
class NameStack:
    """The transformations that made an equation, and the named scopes around it, outermost first.

    Args:
      stack: a tuple of scopes and transformations.

    Examples:
      >>> from onax.extend import source_info_util
      >>> str(source_info_util.NameStack().extend("model").transform("vmap").extend("layer"))
      'model/vmap(layer)'
    """

    stack: tuple = ()

    @classmethod
    def of(cls, record):
        """The transformations and scopes of a record."""
        return cls(record.scopes)

    def extend(self, name):
        """The stack within a scope."""
        return NameStack((*self.stack, Scope(name)))

    def transform(self, transform_name):
        """The stack within a transformation."""
        return NameStack((*self.stack, Transform(transform_name)))

    def __getitem__(self, index):
        return NameStack(self.stack[index])

    def __len__(self):
        return len(self.stack)

    def __add__(self, other):
        return NameStack(self.stack + other.stack)

    def __str__(self):
        names = []  # innermost first
        for part in reversed(self.stack):
            if type(part) is Scope:
                names.append(part.name)
            else:
                names.append(f"{part.name}({names.pop() if names else ''})")
        return "/".join(reversed(names))


SourceInfo, here = source_info.SourceInfo, source_info.here
user_location, user_locations = source_info.user_location, source_info.user_locations
UNKNOWN = SourceInfo(None, 0)  # the record of an unknown location
SHARED = ()  # `here.record` while a function of onax is staged for all its callers


def call_within(part, function, *args):
    """`function(*args)`, whose operations are within a Transform or a Scope."""
    outer = here.scopes
    here.scopes = (*outer, part)
    try:
        return function(*args)
    finally:
        here.scopes = outer


def backward(record, scopes):
    """The record of an operation of a backward pass within scopes that an operation of the forward pass led to."""
    return SourceInfo(record.code, record.instruction, True, record.callers, scopes + record.scopes)


def called_at(record, call):
    """The record of an equation of a program that an equation with the record `call` runs: within its scopes, too."""
    if not record or not call or not call.scopes:
        return record or call
    return record.within(call.scopes)


def calling_code():
    """The code of the innermost frame outside onax, or None."""
    frame = sys._getframe(1)
    while frame is not None and is_internal(frame.f_code.co_filename):
        frame = frame.f_back
    return None if frame is None else frame.f_code


def call_user_rule(function, *args):
    """Calls a rule; the operations of a rule that a user wrote get their own locations."""
    outer = here.record
    if outer is None or is_internal(getattr(getattr(function, "__code__", None), "co_filename", _ROOT)):
        return function(*args)
    here.record = None
    try:
        return function(*args)
    finally:
        here.record = outer


def phase_prefix(record):
    """The text in front of a location: empty, or that the operation belongs to the backward pass."""
    return "the backward pass of " if record and record.backward else ""


def register_exclusion(path: str) -> None:
    """Leaves a file out of locations and tracebacks, as if it were part of onax.

    Args:
      path: the file.

    Returns:
      None.

    Examples:
      >>> from onax.extend import source_info_util
      >>> source_info_util.register_exclusion("/library/file.py")
    """
    _files.add(path)
    _is_internal.clear()


def unregister_exclusion(path):
    """Shows a file that was registered again."""
    _files.discard(path)
    _is_internal.clear()


def is_registered(path):
    """Whether a file was registered."""
    return path in _files


def register_folder(path):
    """Registers all files below a folder (`onax.export` is in a folder of its own in an editable install)."""
    _prefixes.append(os.path.abspath(path) + os.sep)
    _is_internal.clear()


def is_internal(filename):
    """Whether a file belongs to onax or was registered."""
    known = _is_internal.get(filename)
    if known is None:
        known = filename in _files or filename.startswith(tuple(_prefixes))
        _is_internal[filename] = known
    return known


def stacklevel():
    """The `stacklevel` with which a warning issued by the calling function points at the user's line."""
    frame, level = sys._getframe(1), 1
    while frame is not None and is_internal(frame.f_code.co_filename):
        frame, level = frame.f_back, level + 1
    return level


def user_frames(limit=5):
    """Records of the innermost frames outside onax, outermost first."""
    result, frame = [], sys._getframe(1)
    while frame is not None and len(result) < limit:
        if not is_internal(frame.f_code.co_filename):
            result.append(SourceInfo(frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return result[::-1]


def resolve(record):
    """(file, line, column, function) of a record; lines count from 1, columns from 0, as Python's do.

    An unknown line is 0 and an unknown column None.
    """
    if not record:
        return "<unknown>", 0, None, ""
    code, target = record.code, record.instruction // 2
    for index, (line, _, column, _) in enumerate(code.co_positions()):
        if index == target:
            return code.co_filename, line or 0, column, code.co_qualname
    return code.co_filename, code.co_firstlineno, None, code.co_qualname


def _frame(record):
    filename, line, column, function = resolve(record)
    return Frame(filename, line, column or 0, function)


def summarize(record, path=str):
    """The location as text: `train.py:41:12 (loss)`; `path` gives the text for the path that Python records."""
    filename, line, column, function = resolve(record)
    filename = path(filename)
    if not line:
        return filename
    where = f"{filename}:{line}" if column is None else f"{filename}:{line}:{column}"
    return f"{where} ({function})"


def portable_path(filename):
    """A path without the folders of this machine, for files that are written: that of the module, `package/module.py`.

    For a file outside of packages it is the path below the folder of `sys.path`, or the working directory, that holds
    it; else the name of the file.
    """
    if not os.path.isabs(filename):
        filename = os.path.abspath(filename) if os.path.isfile(filename) else filename
    filename = os.path.normpath(filename)
    folder, name = os.path.split(filename)
    if not folder:
        return name
    top = folder
    while os.path.isfile(os.path.join(top, "__init__.py")):
        top = os.path.dirname(top)
    if top == folder:
        roots = [os.path.abspath(root) for root in (*sys.path, os.getcwd())]
        holding = [root for root in roots if folder == root or folder.startswith(root.rstrip(os.sep) + os.sep)]
        top = max(holding, key=len, default=folder)
    return os.path.relpath(filename, top).replace(os.sep, "/")


def caller_lines(record):
    """One line of text for each caller of the location, innermost first; empty if callers are not known."""
    return "".join(f"\n  called from {summarize(r)}" for r in (record and record.callers) or ())


def function_location(function, path=str):
    """`name at file:line` for a Python function, else its name or type; `path` as for `summarize`."""
    while True:
        inner = getattr(function, "__wrapped__", None) or getattr(function, "func", None)
        if inner is None:
            break
        function = inner
    name = getattr(function, "__name__", None) or type(function).__name__
    code = getattr(function, "__code__", None)
    if code is None:
        return name
    return f"{name} at {path(code.co_filename)}:{code.co_firstlineno}"


# --- tracebacks ---------------------------------------------------------------------------------------------


def filter_traceback(traceback):
    """The traceback without frames of onax (None if nothing is left), and whether any were there."""
    entries, entry, dropped = [], traceback, False
    while entry is not None:
        if is_internal(entry.tb_frame.f_code.co_filename):
            dropped = True
        else:
            entries.append(entry)
        entry = entry.tb_next
    rebuilt = None
    for entry in reversed(entries):
        rebuilt = TracebackType(rebuilt, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return rebuilt, dropped


class UnfilteredStackTrace(Exception):
    """The cause of an error whose traceback was shortened: shows all frames."""


def filtering_mode():
    """What happens to frames of onax: "off", "tracebackhide", "remove_frames" or "quiet_remove_frames"."""
    mode = config.config.jax_traceback_filtering
    if mode == "off" or "ONAX_FULL_TRACEBACK" in os.environ:
        return "off"
    if mode == "auto":
        return "tracebackhide" if _in_ipython() else "quiet_remove_frames"
    return mode


def _in_ipython():
    """Whether an IPython shell runs, which leaves out frames that are marked."""
    module = sys.modules.get("IPython")
    return module is not None and getattr(module, "get_ipython", lambda: None)() is not None


def _hide_frames(traceback):
    """Marks frames of onax as hidden for IPython and pytest."""
    while traceback is not None:
        frame = traceback.tb_frame
        if is_internal(frame.f_code.co_filename):
            frame.f_locals["__tracebackhide__"] = True
        traceback = traceback.tb_next


def _unfiltered(error, traceback):
    """The exception that carries the whole traceback."""
    text = str(error)
    whole = UnfilteredStackTrace(
        f"{type(error).__name__}{': ' if text else ''}{text}\n\nThe stack trace below excludes JAX-internal frames.\n"
        f"The preceding is the original exception that occurred, unmodified.\n\n{'-' * 20}"
    )
    whole.__cause__, whole.__context__, whole.__suppress_context__ = (
        error.__cause__,
        error.__context__,
        error.__suppress_context__,
    )
    return whole.with_traceback(traceback)


_SHORTENED = (
    f"{'-' * 20}\nFor simplicity, JAX has removed its internal frames from the traceback of the following exception. "
    "Set JAX_TRACEBACK_FILTERING=off to include these."
)


def filter_error(error):
    """Filters or hides the traceback of an error that leaves onax, as the mode says.

    As in JAX, a note of the error tells that frames were left out, unless the error's cause does.
    """
    mode, traceback = filtering_mode(), error.__traceback__
    if mode == "off":
        return
    if mode == "tracebackhide":
        _hide_frames(traceback)
        return
    filtered, dropped = filter_traceback(traceback)
    if not dropped:
        return
    if mode == "remove_frames":
        if not isinstance(error.__cause__, UnfilteredStackTrace):
            error.__cause__ = _unfiltered(error, traceback)
    elif _SHORTENED not in getattr(error, "__notes__", ()):
        error.add_note(_SHORTENED)
    error.__traceback__ = filtered


# Before the first class that inherits from arrays.  Everything works without it, and tracebacks then show all frames.
if os.environ.get("ONAX_TRACEBACK_FILTERING") != "off":
    type_slots.install()

_Function = TypeVar("_Function", bound=Callable)


def api_boundary(function: _Function) -> _Function:
    """A public function, such that errors that leave it show no frames of onax."""
    return _api_boundary(function)  # type: ignore[return-value]


_Class = TypeVar("_Class", bound=type)


def api_class(cls: _Class) -> _Class:
    """A public class: the same for its methods."""
    for name, method in list(vars(cls).items()):
        if type(method) is FunctionType and (name[0] != "_" or name in _CALLS):
            setattr(cls, name, api_boundary(method))
        elif name == "__new__":
            cls.__new__ = staticmethod(api_boundary(method.__func__))
    return cls


_CALLS = frozenset("__call__ __getitem__ __init__".split())
