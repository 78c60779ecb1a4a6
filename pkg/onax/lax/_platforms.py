"""platform_dependent: onax has one platform, so the branch is chosen when the function is called."""

from __future__ import annotations

from typing import Any

from onax._ground.typing import AnyFunction

PLATFORM = "cpu"


def platform_dependent(*args: Any, default: AnyFunction = None, **per_platform: AnyFunction) -> Any:
    """Returns what the function for this platform gives for the arguments.

    The choice is made at once, so functions for other platforms are never traced.

    Args:
      *args: arguments of the functions.
      default: function for platforms that are not named.
      **per_platform: functions by platform: cpu=, cuda=, tpu=, ...

    Returns:
      Result of the function.

    Raises:
      TypeError: a value is no function.
      NotImplementedError: there is neither a function for "cpu" nor a default.

    Examples:
      >>> lax.platform_dependent(3.0, cpu=lambda x: x + 1, default=lambda x: x)
      4.0
    """
    for name, branch in (*per_platform.items(), ("default", default)):
        if not callable(branch) and not (name == "default" and branch is None):
            raise TypeError(f"lax.platform_dependent: the '{name}' branch must be a callable.")
    chosen = per_platform.get(PLATFORM, default)
    if chosen is None:
        raise NotImplementedError(
            f"translation rule for platform_dependent not found for platform {PLATFORM}: it has branches for "
            f"{sorted(per_platform)} and no default; give a function as {PLATFORM}= or default="
        )
    return chosen(*args)
