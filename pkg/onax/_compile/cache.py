"""Caches of compiled programs, one for each function and options; they are freed with the function."""

import weakref
from types import FunctionType

from onax._control.jit_call import clear_staged_programs
from onax._core.structure import clear_shared
from onax._native.jit_function import JitCache
from onax._native.memory import release_kept_blocks

_ATTRIBUTE = "__onax_programs__"
_all = weakref.WeakSet()
_SHARED_AT_MOST = 32  # sets of options for one function


class _Shared:
    """The caches of one function, by options; `owner` tells it from a copy that functools.wraps made."""

    __slots__ = ("by_options", "owner")

    def __init__(self, owner):
        self.owner = weakref.ref(owner)
        self.by_options = {}


def cache_for(fun, options):
    """The cache that belongs to a function compiled with `options` (hashable).

    Two `jit` calls for one function share its cache, which is an attribute of the function and freed with it.  Other
    callables get a new cache from each `jit` call.
    """
    if type(fun) is not FunctionType:
        return _new()
    shared = fun.__dict__.get(_ATTRIBUTE)
    if shared is None or shared.owner() is not fun:
        shared = fun.__dict__[_ATTRIBUTE] = _Shared(fun)
    cache = shared.by_options.get(options)
    if cache is None:
        if len(shared.by_options) >= _SHARED_AT_MOST:
            shared.by_options.clear()
        cache = shared.by_options[options] = _new()
    return cache


def _new():
    cache = JitCache()
    _all.add(cache)
    return cache


def clear_caches() -> None:
    """Deletes all compiled programs of the process and all staged functions of the library.

    Memory that was kept for reuse goes back to the operating system.

    Returns:
      None.

    Examples:
      >>> onax.clear_caches()
    """
    for cache in list(_all):
        cache.clear()
    clear_staged_programs()
    clear_shared()
    release_kept_blocks()


def forget_entries():
    """Deletes all cache entries, so that the next calls run Python code; staged and compiled programs stay."""
    for cache in list(_all):
        traced = dict(cache.traced)
        cache.clear()
        cache.traced.update(traced)
