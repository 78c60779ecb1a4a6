"""`debug.breakpoint`: a debugger in the terminal that stops when the program reaches it.

The frames are those of the call; while a program is traced their local variables hold tracers, which become operands of
a callback.  When it runs, the debugger shows the frames with values instead of tracers.
"""

import cmd
import inspect
import pprint
import sys
import traceback
from dataclasses import dataclass
from typing import Any

from onax._control.callbacks import debug_callback
from onax._core.trace import valid_jaxtype
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
    source: list  # lines of the function, or of the file outside of functions
    offset: int  # of the current line in `source`

    def context(self, around):
        """Lines of the source about the current line, which is marked: one more before it than after it."""
        shown = range(max(self.offset - 1 - around, 0), min(self.offset + around + 1, len(self.source)))
        return [f"{'->' if n == self.offset else '  '}  {self.source[n]}" for n in shown]


def _debugged(frame):
    """The DebuggedFrame of a frame."""
    code = frame.f_code
    try:
        lines, first = inspect.getsourcelines(frame)
        source = "".join(lines).split("\n")
    except OSError:
        source, first = [], 1
    offset = frame.f_lineno - max(first, 1)
    if offset >= len(source):
        source = []
    return DebuggedFrame(
        code.co_filename, frame.f_lineno, code.co_name, dict(frame.f_locals), frame.f_globals, source, offset
    )


class Debugger(cmd.Cmd):
    """The prompt: input that is not a command is evaluated in the frame."""

    prompt = "(jdb) "

    def __init__(self, frames, stdin=None, stdout=None, completekey="tab"):
        super().__init__(completekey=completekey, stdin=stdin, stdout=stdout)
        self.use_rawinput = stdin is None
        self.frames = frames  # innermost first
        self.at = 0

    def run(self):
        """Reads commands until one continues the program."""
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

    def _show_location(self, around=2):
        self._say(f"> {self.frame.filename}({self.frame.line})", *self.frame.context(around))

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
        self._show_location(around=5)

    def do_ll(self, _):
        """ll: all lines of the function"""
        self._show_location(around=len(self.frame.source))

    def do_bt(self, _):
        """bt, w(here): all frames, innermost last"""
        self._say("Traceback:")
        for frame in reversed(self.frames):
            text = frame.source[frame.offset].strip() if frame.source else "<no source>"
            self._say(f'  File "{frame.filename}", line {frame.line}', f"    {text}")

    def do_c(self, _):
        """c(ontinue): continue the program"""
        return True

    def do_q(self, _):
        """q(uit), exit, or the end of the input: end Python, by SystemExit"""
        sys.exit(0)

    def default(self, line):
        """Evaluates input that is not a command as an expression."""
        self.do_p(line)

    def emptyline(self):
        """Nothing."""

    do_up, do_down, do_list, do_w, do_where = do_u, do_d, do_l, do_bt, do_bt
    do_cont, do_continue, do_quit, do_exit, do_EOF = do_c, do_c, do_q, do_q, do_q


def _frames(filter_frames, num_frames):
    """The frames of the caller, innermost first."""
    frames, frame = [], sys._getframe(2)
    while frame is not None and (num_frames is None or len(frames) < num_frames):
        if not (filter_frames and is_internal(frame.f_code.co_filename)):
            frames.append(_debugged(frame))
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
