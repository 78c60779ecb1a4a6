"""Source locations and name stacks, under the names of jax.extend.source_info_util.

Equations know their source location, and their name stack: the transformations that they came through and the scopes
around them (`onax.named_scope`).
"""

import contextlib
from collections.abc import Iterator
from typing import Any

from onax._core.name_scopes import named_scope
from onax._ground.source import UNKNOWN, NameStack, SourceInfo, Transform, here, register_exclusion, user_location
from onax._ground.source import summarize as _summarize


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
def user_context(traceback: Any, *, name_stack: NameStack | None = None) -> Iterator[None]:
    """Context manager in which equations get a given location.

    Args:
      traceback: what `source_info.traceback` of an equation is; None: their own.
      name_stack: a NameStack; default that which is entered.

    Returns:
      A context manager.

    Examples:
      >>> from onax.extend import source_info_util
      >>> with source_info_util.user_context(None):
      ...     x = jnp.ones(2)
    """
    record, scopes = here.record, here.scopes
    entered = scopes if name_stack is None else name_stack.stack
    known = None if traceback is None else traceback.record
    here.record = known and SourceInfo(known.code, known.instruction, known.backward, known.callers, entered)
    here.scopes = entered
    try:
        yield
    finally:
        here.record, here.scopes = record, scopes


def new_source_info() -> SourceInfo:
    """Returns a location that is not known, without names.

    Returns:
      A SourceInfo.

    Examples:
      >>> from onax.extend import source_info_util
      >>> str(source_info_util.new_source_info().name_stack)
      ''
    """
    return UNKNOWN


def new_name_stack(name: str = "") -> NameStack:
    """Returns a name stack with at most one scope.

    Args:
      name: that of the scope; default none.

    Returns:
      A NameStack.

    Examples:
      >>> from onax.extend import source_info_util
      >>> str(source_info_util.new_name_stack("model").transform("jvp").extend("layer"))
      'model/jvp(layer)'
    """
    return NameStack().extend(name) if name else NameStack()


def current_name_stack() -> NameStack:
    """Returns the transformations that run and the scopes that are entered.

    Returns:
      A NameStack.

    Examples:
      >>> from onax.extend import source_info_util
      >>> with onax.named_scope("layer"):
      ...     str(source_info_util.current_name_stack())
      'layer'
    """
    return NameStack(here.scopes)


@contextlib.contextmanager
def set_name_stack(name_stack: NameStack) -> Iterator[None]:
    """Context manager in which a name stack is the current one.

    Args:
      name_stack: a NameStack.

    Returns:
      A context manager.

    Examples:
      >>> from onax.extend import source_info_util
      >>> with source_info_util.set_name_stack(source_info_util.new_name_stack("layer")):
      ...     str(source_info_util.current_name_stack())
      'layer'
    """
    outer, here.scopes = here.scopes, name_stack.stack
    try:
        yield
    finally:
        here.scopes = outer


def reset_name_stack() -> contextlib.AbstractContextManager:
    """Context manager in which the current name stack begins empty.

    Returns:
      A context manager.

    Examples:
      >>> from onax.extend import source_info_util
      >>> with onax.named_scope("layer"), source_info_util.reset_name_stack():
      ...     len(source_info_util.current_name_stack())
      0
    """
    return set_name_stack(NameStack())


def transform_name_stack(name: str) -> contextlib.AbstractContextManager:
    """Context manager in which operations belong to a transformation.

    Args:
      name: that of the transformation.

    Returns:
      A context manager.

    Examples:
      >>> from onax.extend import source_info_util
      >>> with source_info_util.transform_name_stack("mine"), onax.named_scope("layer"):
      ...     str(source_info_util.current_name_stack())
      'mine(layer)'
    """
    return set_name_stack(NameStack((*here.scopes, Transform(name))))


extend_name_stack = named_scope

__all__ = [
    "NameStack",
    "SourceInfo",
    "current",
    "current_name_stack",
    "extend_name_stack",
    "new_name_stack",
    "new_source_info",
    "register_exclusion",
    "reset_name_stack",
    "set_name_stack",
    "summarize",
    "transform_name_stack",
    "user_context",
]
