"""Caches of compiled programs: shared by the jits of one function, freed with it, bounded."""

import functools
import gc
import weakref

import numpy as np

from onax._compile.cache import clear_caches
from onax._compile.jit import jit
from onax._core.trace import Tracer
from onax._native.array import from_user
from onax._prims import elementwise as ops

X = np.arange(3, dtype=np.float32)


def values(x):
    return np.asarray(x).tolist()


def test_tracing_once_for_each_signature():
    traced = []

    def f(x, n=1):
        traced.append(type(x))
        return ops.mul(x, x) if n else x

    for _ in range(3):
        assert values(jit(f)(X)) == [0, 1, 4]
    assert len(traced) == 1 and issubclass(traced[0], Tracer)
    jit(f)(X[:2])
    jit(f, static_argnames="n")(X, n=0)
    jit(f, static_argnums=1)(X, 0)
    assert len(traced) == 4
    clear_caches()
    jit(f)(X)
    assert len(traced) == 5


def test_wrapped_functions_have_caches_of_their_own():
    def double(x):
        return ops.add(x, x)

    jit(double)(X)

    @functools.wraps(double)
    def square(x):
        return ops.mul(x, x)

    assert values(jit(square)(X)) == [0, 1, 4]


def test_programs_go_with_their_function():
    clear_caches()

    def make():
        captured = from_user(X)

        def f(x):
            return ops.add(x, captured)

        jitted = jit(f)
        jitted(X)
        return weakref.ref(f), weakref.ref(captured), weakref.ref(jitted.cache.entries()[0].executable.runner)

    gc.disable()
    try:
        *own, runner = make()
        assert [r() for r in own] == [None, None]
        clear_caches()  # a small tape is shared by programs of equal structure until then
        assert runner() is None
    finally:
        gc.enable()
