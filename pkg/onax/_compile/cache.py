"""Caches of compiled programs, one for each function and options; they are freed with the function."""

import weakref

from onax._control.jit_call import clear_staged_programs
from onax._core.function_programs import clear_programs, programs_of
from onax._core.structure import clear_shared
from onax._native.jit_function import JitCache
from onax._native.memory import release_kept_blocks

_all = weakref.WeakSet()
_SHARED_AT_MOST = 32  # sets of options for one function


def cache_for(fun, options):
    """The cache that belongs to a function compiled with `options` (hashable).

    Two `jit` calls for one function share its cache, which is an attribute of the function and freed with it.  Other
    callables get a new cache from each `jit` call.
    """
    by_options = programs_of(fun, "jit", dict)
    cache = by_options.get(options)
    if cache is None:
        if len(by_options) >= _SHARED_AT_MOST:
            by_options.clear()
        cache = by_options[options] = _new()
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
    clear_programs()
    clear_shared()
    release_kept_blocks()


def forget_entries():
    """Deletes all cache entries, so that the next calls run Python code; staged and compiled programs stay."""
    for cache in list(_all):
        traced = dict(cache.traced)
        cache.clear()
        cache.traced.update(traced)
