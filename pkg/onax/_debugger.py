"""`debug.breakpoint`: a debugger in the terminal that stops when the program reaches it.

The frames are those of the call; while a program is traced their local variables hold tracers, which become operands of
a callback.  When it runs, the debugger shows the frames with values instead of tracers.
"""

import cmd
import pprint
import sys
import traceback
from dataclasses import dataclass
from typing import Any

from onax._control.callbacks import debug_callback
from onax._core.trace import valid_jaxtype
from onax._ground.lazy import linecache
from onax._ground.source import is_internal
from onax._native.tree import tree_flatten, tree_unflatten


@dataclass(slots=True, eq=False, repr=False)
class DebuggedFrame:
    """One frame: its source location, and its variables (values while the program runs)."""

    filename: str
    line: int
    function: str
    local_variables: dict
    global_variables: dict

    def source(self, around=None):
        """The source lines of the function, or those around the current line, which is marked."""
        lines = linecache.getlines(self.filename)
        first, last = self._extent(lines) if around is None else (self.line - around, self.line + around)
        shown = range(max(first, 1), min(last, len(lines)) + 1)
        return [f"{'->' if n == self.line else '  '}  {lines[n - 1].rstrip()}" for n in shown]

    def _extent(self, lines):
        """The range of lines around the current line up to lines that are indented less."""
        inside = self.line
        depth = _indentation(lines[inside - 1]) if inside <= len(lines) else 0
        first = last = inside
        while first > 1 and depth and _indentation(lines[first - 1]) >= depth:
            first -= 1
        while last < len(lines) and (not lines[last].strip() or _indentation(lines[last]) >= depth > 0):
            last += 1
        return first, last


def _indentation(line):
    return len(line) - len(line.lstrip()) if line.strip() else sys.maxsize


class Debugger(cmd.Cmd):
    """The prompt: input that is not a command is evaluated in the frame."""

    prompt = "(jdb) "

    def __init__(self, frames, stdin=None, stdout=None, completekey="tab"):
        super().__init__(completekey=completekey, stdin=stdin, stdout=stdout)
        self.use_rawinput = stdin is None
        self.frames = frames  # innermost first
        self.at = 0

    def run(self):
        """Reads commands until one continues the program or the input ends."""
        self.stdout.write("Entering jdb:\n")
        self.cmdloop()

    frame = property(lambda self: self.frames[self.at])

    def _say(self, *lines):
        self.stdout.write("".join(f"{line}\n" for line in lines))

    def _evaluate(self, text):
        """(True, value) of an expression in the frame, or (False, None) after it printed the error."""
        try:
            return True, eval(text, dict(self.frame.global_variables), dict(self.frame.local_variables))
        except BaseException as error:
            self._say("*** " + "".join(traceback.format_exception_only(error)).rstrip())
            if not isinstance(error, (Exception, KeyboardInterrupt)):
                raise
            return False, None

    def _show_location(self):
        self._say(f"> {self.frame.filename}({self.frame.line})", *self.frame.source(), "")

    def do_p(self, arg):
        """p expression: its value"""
        succeeded, value = self._evaluate(arg)
        if succeeded:
            self._say(repr(value))

    def do_pp(self, arg):
        """pp expression: its value, printed over several lines where it is long"""
        succeeded, value = self._evaluate(arg)
        if succeeded:
            self._say(pprint.pformat(value))

    def do_u(self, _):
        """u(p): the frame that called this one"""
        if self.at + 1 == len(self.frames):
            self._say("At topmost frame.")
        else:
            self.at += 1
        self._show_location()

    def do_d(self, _):
        """d(own): the frame that this one called"""
        if self.at == 0:
            self._say("At bottommost frame.")
        else:
            self.at -= 1
        self._show_location()

    def do_l(self, _):
        """l(ist): the lines around the current line"""
        self._show_location()

    def do_ll(self, _):
        """ll: the same"""
        self._show_location()

    def do_bt(self, _):
        """bt, w(here): all frames, innermost last"""
        self._say("Traceback:")
        for frame in reversed(self.frames):
            text = linecache.getline(frame.filename, frame.line).strip()
            self._say(f'  File "{frame.filename}", line {frame.line}', f"    {text}")

    def do_c(self, _):
        """c(ontinue): continue the program"""
        return True

    def do_q(self, _):
        """q(uit): end Python, by SystemExit"""
        sys.exit(0)

    def default(self, line):
        """Evaluates input that is not a command as an expression."""
        if line == "EOF":
            return True
        self.do_p(line)
        return None

    def emptyline(self):
        """Nothing."""

    do_up, do_down, do_list, do_w, do_where = do_u, do_d, do_l, do_bt, do_bt
    do_cont, do_continue, do_quit, do_EOF = do_c, do_c, do_q, do_c


def _frames(filter_frames, num_frames):
    """The frames of the caller, innermost first."""
    frames, frame = [], sys._getframe(2)
    while frame is not None and (num_frames is None or len(frames) < num_frames):
        if not (filter_frames and is_internal(frame.f_code.co_filename)):
            code = frame.f_code
            frames.append(
                DebuggedFrame(code.co_filename, frame.f_lineno, code.co_name, dict(frame.f_locals), frame.f_globals)
            )
        frame = frame.f_back
    return frames


def breakpoint(
    *,
    backend: str | None = None,
    filter_frames: bool = True,
    num_frames: int | None = None,
    ordered: bool = False,
    token: Any = None,
    **kwargs: Any,
) -> None:
    r"""Stops each time the program reaches this call, and reads commands; `help` lists them.

    It works eagerly and in compiled functions, whose traced variables are shown with the values of the run.

    Args:
      backend: None or "cli".
      filter_frames: True (the default): frames of onax are left out.
      num_frames: the largest number of frames to show, innermost first; default None, all.
      ordered: True: it keeps program order with other ordered effects; default False.
      token: None.
      kwargs: `stdin` and `stdout`, files instead of the terminal's.

    Returns:
      None.

    Raises:
      ValueError: another `backend`.
      NotImplementedError: a `token` is given (use `ordered`).

    Examples:
      >>> import io
      >>> out = io.StringIO()
      >>> onax.debug.breakpoint(stdin=io.StringIO("c\n"), stdout=out)
      >>> "(jdb)" in out.getvalue()
      True
    """
    if backend not in (None, "cli"):
        raise ValueError(f"Unknown debugger backend: {backend!r}; there is 'cli'")
    if token is not None:
        raise NotImplementedError("breakpoint takes no token: ordered=True keeps program order")
    frames = _frames(filter_frames, num_frames)
    flat = [tree_flatten(frame.local_variables) for frame in frames]
    values = [[x if valid_jaxtype(x) else None for x in leaves] for leaves, _ in flat]

    def hit(frame_values):
        for frame, (leaves, tree), values in zip(frames, flat, frame_values):
            merged = [old if new is None else new for old, new in zip(leaves, values)]
            frame.local_variables = tree_unflatten(tree, merged)
        Debugger(frames, **kwargs).run()

    debug_callback(hit, values, ordered=ordered)


__all__ = ["breakpoint"]
