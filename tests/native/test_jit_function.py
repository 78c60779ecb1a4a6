"""JitFunction with made-up programs: what counts as the same call, what is kept, what reaches the runner."""

import gc
import threading
import weakref

import ml_dtypes
import numpy as np
import pytest

from onax._native import context
from onax._native.array import ArrayImpl, from_user
from onax._native.jit_function import CacheEntry, Executable, JitCache, JitFunction


class Doubler(JitFunction):
    """Doubles every leaf; counts the patterns it was asked about."""

    def __init__(self, keep=True, **options):
        super().__init__(None, JitCache(), **options)
        self.asked = 0
        self.keep = keep

    def _miss(self, args, kwargs, leaves, in_tree, statics):
        self.asked += 1
        n = len(leaves)
        outs = [("computed", i, False, None) for i in range(n)]
        executable = Executable(lambda xs: [x + x for x in xs], range(n), outs, n_args=n)
        entry = CacheEntry(executable, in_tree.children()[0])
        return entry.run(leaves) if in_tree.children()[1].num_leaves == 0 else None, entry if self.keep else None

    def _traced(self, args, kwargs):
        return "traced"


F32 = np.ones(3, np.float32)
BF16 = np.ones(3, ml_dtypes.bfloat16)
A = from_user(F32)

# first call, second call, whether the second is the same pattern
PATTERNS = [
    ((A,), (A,), True),
    ((A,), (F32,), True),
    ((F32,), (np.ones(3),), True),  # float64 becomes float32
    ((np.arange(3),), (np.arange(3, dtype=np.int32),), True),
    ((1,), (2,), True),
    ((1,), (1.0,), False),
    ((1,), (True,), False),
    ((1,), (np.int32(1),), False),  # weak and not
    ((1j,), (np.complex64(1j),), False),
    ((np.float32(1),), (np.ones((), np.float32),), True),
    ((F32,), (np.ones(4, np.float32),), False),
    ((F32,), (np.ones((3, 1), np.float32),), False),
    ((F32,), (BF16,), False),
    ((BF16,), (from_user(BF16),), True),
    ((np.ones(3, ">f4"),), (F32,), True),
    (({"a": A, "b": A},), ({"b": A, "a": A},), True),
    (({"a": A},), ({"b": A},), False),
    (((A, A),), ([A, A],), False),
    ((A, A), ((A, A),), False),
    (((),), (None,), False),
]


@pytest.mark.parametrize("first, second, same", PATTERNS)
def test_patterns(first, second, same):
    f = Doubler()
    f(*first)
    f(*second)
    f(*first)
    f(*second)
    assert f.asked == f._cache_size() == (1 if same else 2)


def test_results():
    out = Doubler()({"x": np.float32(2), "y": [3, A]})[0]
    assert isinstance(out["x"], ArrayImpl)
    assert (float(out["x"]), int(out["y"][0]), np.asarray(out["y"][1]).tolist()) == (4.0, 6, [2.0, 2.0, 2.0])


def test_what_must_not_be_kept():
    f = Doubler(keep=False)
    f(A), f(A)
    assert (f.asked, f._cache_size()) == (2, 0)


@pytest.mark.parametrize(
    "options, calls, asked",
    [
        ({"static_argnums": (1,)}, [(A, 1), (A, 1), (A, 2), (A, True), (A, 1.0), (A, "a")], 5),
        ({"static_argnums": (-1,)}, [(A, 1), (A, 1), (A, 2)], 2),
        ({"static_argnums": (0,)}, [(print, A), (print, A), (len, A)], 2),
    ],
)
def test_static_positions(options, calls, asked):
    f = Doubler(**options)
    for args in calls:
        f(*args)
    assert f.asked == asked


def test_static_names():
    f = Doubler(static_argnames=("n", "m"))
    for kwargs in ({"n": 1}, {"n": 1}, {"m": 1}, {"n": 1, "m": 2}, {"m": 2, "n": 1}):
        f(A, **kwargs)
    assert f.asked == 3
    assert f.split((A,), {"n": 1, "x": 2})[1:] == ({"x": 2}, ((int,), ("n",), (1,)))


@pytest.mark.parametrize("value", [np.ones(2), [1, 2], {"a": 1}])
def test_static_values_must_be_hashable(value):
    with pytest.raises(ValueError, match="Non-hashable static arguments are not supported"):
        Doubler(static_argnums=(0,))(value)


def test_options_and_traces():
    f = Doubler()
    f(A)
    previous = context.swap_thread_word(1 << 40, 1 << 40)
    try:
        f(A)
    finally:
        context.swap_thread_word(*previous)
    assert f.asked == 2
    previous = context.swap_trace(object())
    try:
        assert f(A) == "traced"
    finally:
        context.swap_trace(previous)


def test_sources_of_results():
    constant = from_user(np.float32(7))
    outs = [("forwarded", 1, False, None), ("computed", 0, True, None), ("constant", 0, False, None)]
    runs = []
    executable = Executable(lambda xs: runs.append(len(xs)) or [xs[0] * 3], [0], outs, n_args=2, constants=[constant])
    user = np.ones(2, np.float32)
    kept, tripled, seven = executable.run([np.ones(2, np.float32), user])
    user[:] = 9
    assert runs == [1] and float(seven) == 7 and tripled.weak_type
    assert np.asarray(kept).tolist() == [1, 1]  # the user's memory was copied
    again = executable.run([A, A])[0]
    assert again is not A and np.shares_memory(np.asarray(again), np.asarray(A))
    with pytest.raises(TypeError, match="takes 2 arguments, 1 were given"):
        executable.run([A])


def test_failures_are_explained():
    def fail(_):
        raise RuntimeError("node add_1 is unwell")

    executable = Executable(fail, [], [], n_args=0, explain=lambda e: KeyError(f"explained: {e}"))
    with pytest.raises(KeyError, match="explained: node add_1"):
        executable.run([])


def test_donated_arguments_are_deleted():
    class Donating(Doubler):
        def _miss(self, args, kwargs, leaves, in_tree, statics):
            _, entry = super()._miss(args, kwargs, leaves, in_tree, statics)
            entry = CacheEntry(entry.executable, entry.out_tree, donated=[0])
            return entry.run(leaves), entry

    f = Donating()
    for _ in range(2):
        x, y = from_user(F32), from_user(F32)
        f(x, y)
        assert (x.is_deleted(), y.is_deleted()) == (True, False)


def test_methods_and_freeing():
    class Owner:
        method = Doubler(static_argnums=(0,))

    owner = Owner()
    assert np.asarray(owner.method(A)[0]).tolist() == [2, 2, 2]
    f = Doubler()
    f(A)
    programs = weakref.ref(f.cache.entries()[0].executable)
    f.clear_cache()
    assert programs() is None and f._cache_size() == 0
    gc.disable()
    try:
        f(A)
        programs = weakref.ref(f.cache.entries()[0].executable)
        del f
        assert programs() is None
    finally:
        gc.enable()


def test_threads():
    f = Doubler()
    failures = []

    def work(k):
        for i in range(200):
            x = np.full((k % 3 + 1,), i, np.float32)
            if np.asarray(f(x)[0]).tolist() != (x + x).tolist():
                failures.append((k, i))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures and f._cache_size() == 3


def test_the_cache_is_bounded():
    f = Doubler(static_argnums=(0,))
    for i in range(4100):
        f(i, 1)
    assert f._cache_size() == 4096
