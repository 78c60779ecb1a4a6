"""Source locations, under the names of jax.extend.source_info_util.

Equations know their source location, not the name scopes around them (see `onax.named_scope`), so the functions that
change the name stack do not exist.
"""

from onax._ground.source import NameStack, SourceInfo, register_exclusion, user_location
from onax._ground.source import summarize as _summarize


def current():
    """The location of the innermost frame outside onax and excluded files: a SourceInfo."""
    return user_location()


def summarize(source_info, num_frames=1):
    """`file:line:column (function)` of a location, which has one frame; `num_frames` is ignored."""
    return _summarize(source_info)


__all__ = ["NameStack", "SourceInfo", "current", "register_exclusion", "summarize"]
