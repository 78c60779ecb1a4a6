"""Source locations, under the names of jax.extend.source_info_util.

Equations know their source location and the scopes around them, which `onax.named_scope` alone enters: the functions
that change the name stack do not exist.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

from onax._ground.source import NameStack, SourceInfo, here, register_exclusion, user_location
from onax._ground.source import summarize as _summarize
from onax._ground.unavailable import unavailable as _unavailable


def current() -> SourceInfo | None:
    """Returns the location of the innermost frame outside of onax and of excluded files.

    Returns:
      A SourceInfo.

    Examples:
      >>> from onax.extend import source_info_util
      >>> type(source_info_util.current()).__name__
      'SourceInfo'
    """
    return user_location()


def summarize(source_info: SourceInfo | None, num_frames: int = 1) -> str:
    """Returns a location as text.

    Args:
      source_info: a SourceInfo.
      num_frames: accepted, without effect: a location has one frame.

    Returns:
      A str, ``file:line:column (function)``.

    Examples:
      >>> from onax.extend import source_info_util
      >>> "(" in source_info_util.summarize(source_info_util.current())
      True
    """
    return _summarize(source_info)


@contextlib.contextmanager
def user_context(traceback: Any, *, name_stack: Any = None) -> Iterator[None]:
    """Context manager in which equations get a given location.

    Args:
      traceback: what `source_info.traceback` of an equation is; None: their own.
      name_stack: accepted, without effect.

    Returns:
      A context manager.

    Examples:
      >>> from onax.extend import source_info_util
      >>> with source_info_util.user_context(None):
      ...     x = jnp.ones(2)
    """
    outer = here.record
    here.record = None if traceback is None else traceback.record
    try:
        yield
    finally:
        here.record = outer


__getattr__ = _unavailable(
    __name__,
    {
        "current_name_stack extend_name_stack new_name_stack new_source_info reset_name_stack set_name_stack "
        "transform_name_stack": "onax.named_scope alone enters name scopes",
    },
)

__all__ = ["NameStack", "SourceInfo", "current", "register_exclusion", "summarize", "user_context"]
