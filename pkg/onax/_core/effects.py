"""Effects: what an equation does besides computing its results."""


class Effect:
    """Base of all effects; an effect is a value that compares by type and fields."""

    __slots__ = ()

    def __eq__(self, other):
        return type(self) is type(other)

    def __hash__(self):
        return hash(type(self))

    def __repr__(self):
        return type(self).__name__


class OrderedEffect(Effect):
    """An effect whose occurrences must keep their order (printing, stateful callbacks)."""

    __slots__ = ()


class DebugEffect(Effect):
    """A message to the user, or a function called for its sake."""

    __slots__ = ()

    def __str__(self):
        return "Debug"


class OrderedDebugEffect(OrderedEffect):
    """A DebugEffect whose occurrences keep their order."""

    __slots__ = ()

    def __str__(self):
        return "OrderedDebug"


class IOEffect(Effect):
    """The effect of a Python function that is called for its side effects."""

    __slots__ = ()

    def __str__(self):
        return "IO"


class OrderedIOEffect(OrderedEffect):
    """An IOEffect whose occurrences keep their order."""

    __slots__ = ()

    def __str__(self):
        return "OrderedIO"


no_effects = frozenset()


def has_io(effects):
    """Whether a Python function is called for its side effects, so that it must not run where the program skips it."""
    return any(isinstance(e, (IOEffect, OrderedIOEffect)) for e in effects)


def has_ordered_io(effects):
    """Whether these calls keep their order."""
    return any(isinstance(e, OrderedIOEffect) for e in effects)


def join_effects(*sets):
    """The union of sets of effects, without making a new set when there is nothing to join."""
    joined = no_effects
    for effects in sets:
        if effects:
            joined = joined | effects
    return joined
