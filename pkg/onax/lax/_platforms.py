"""platform_dependent: onax has one platform, so the branch is chosen when the function is called."""

PLATFORM = "cpu"


def platform_dependent(*args, default=None, **per_platform):
    """What the function for this platform, "cpu", gives for the arguments; without one, what `default` gives.

    TypeError for a branch that is not a function, NotImplementedError where neither is given.  The choice is made at
    once (JAX's programs hold all branches until they are compiled), so other platforms' branches are never traced.
    """
    for name, branch in (*per_platform.items(), ("default", default)):
        if not callable(branch) and not (name == "default" and branch is None):
            raise TypeError(f"lax.platform_dependent: the '{name}' branch must be a callable.")
    chosen = per_platform.get(PLATFORM, default)
    if chosen is None:
        raise NotImplementedError(
            f"platform_dependent has branches for {sorted(per_platform)} and no default, but the platform is "
            f"{PLATFORM!r}: give a function as {PLATFORM}= or default="
        )
    return chosen(*args)
