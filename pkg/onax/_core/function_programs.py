"""What is staged or compiled from a function of the user's: kept with the function, and freed with it."""

import weakref
from types import FunctionType

_ATTRIBUTE = "__onax_programs__"
_cleared = weakref.WeakSet()


class _Kept:
    """The programs of one function, by use; `owner` tells it from a copy that functools.wraps made.

    A pickled function leaves its programs behind: the copy has those of no function.
    """

    __slots__ = ("by_use", "owner")

    def __init__(self, owner=None):
        self.owner = _nobody if owner is None else weakref.ref(owner)
        self.by_use = {}

    def __reduce__(self):
        return _Kept, ()


def _nobody():
    return None


class Programs:
    """A dictionary of programs, `table`, which `clear_programs` empties."""

    __slots__ = ("__weakref__", "table")

    def __init__(self):
        self.table = {}
        _cleared.add(self)


def programs_of(fun, use, make=Programs):
    """The programs of a function for one use, as `make` makes them: shared by all who ask for the same function.

    Callables that are no plain functions get new ones each time.
    """
    if type(fun) is not FunctionType:
        return make()
    kept = fun.__dict__.get(_ATTRIBUTE)
    if kept is None or kept.owner() is not fun:
        kept = fun.__dict__[_ATTRIBUTE] = _Kept(fun)
    programs = kept.by_use.get(use)
    if programs is None:
        programs = kept.by_use[use] = make()
    return programs


def clear_programs():
    """Empties all `Programs`."""
    for programs in list(_cleared):
        programs.table.clear()
