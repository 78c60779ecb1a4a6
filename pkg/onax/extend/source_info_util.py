"""Places in the user's source, under the names of jax.extend.source_info_util.

Operations here know their place, not the name scopes around them (see `onax.named_scope`), so the functions that change
the stack of names are not there.
"""

from onax._ground.source import NameStack, SourceInfo, register_exclusion, user_location
from onax._ground.source import summarize as _summarize


def current():
    """The place of the innermost frame outside onax and excluded files: a SourceInfo."""
    return user_location()


def summarize(source_info, num_frames=1):
    """`file:line:column (function)` of a place.  One frame is known of each: `num_frames` changes nothing."""
    return _summarize(source_info)


__all__ = ["NameStack", "SourceInfo", "current", "register_exclusion", "summarize"]
