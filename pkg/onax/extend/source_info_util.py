"""Source locations, under the names of jax.extend.source_info_util.

Equations know their source location, not the name scopes around them (see `onax.named_scope`), so the functions that
change the name stack do not exist.
"""

import contextlib

from onax._ground.source import NameStack, SourceInfo, here, register_exclusion, user_location
from onax._ground.source import summarize as _summarize


def current():
    """The location of the innermost frame outside onax and excluded files: a SourceInfo."""
    return user_location()


def summarize(source_info, num_frames=1):
    """`file:line:column (function)` of a location, which has one frame; `num_frames` is ignored."""
    return _summarize(source_info)


@contextlib.contextmanager
def user_context(traceback, *, name_stack=None):
    """Context in which equations get the location of `traceback`, as an equation's `source_info.traceback` has it.

    With None they get their own.  `name_stack` is ignored.
    """
    outer = here.record
    here.record = None if traceback is None else traceback.record
    try:
        yield
    finally:
        here.record = outer


__all__ = ["NameStack", "SourceInfo", "current", "register_exclusion", "summarize", "user_context"]
