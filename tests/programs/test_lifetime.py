"""What compiled programs leave behind in memory (nothing), and threads whose first call compiles; each in a process
of its own."""

import subprocess
import sys

import pytest

START = """
import gc, threading, weakref
import numpy as np
import onax as jax
import onax.numpy as jnp

def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096 / 1e6  # MB

x = jnp.ones(100)
"""
DROPPED = """
refs = []
def compile_one(i):
    f = lambda a: jnp.sin(a) * i + jnp.sum(a)
    jax.jit(f)(x)
    refs.append(weakref.ref(f))

gc.disable()
for i in range(50):
    compile_one(float(i))
before = resident()
for i in range({count}):
    compile_one(float(i))
assert not any(r() for r in refs)
print(resident() - before)
"""
HOSTED = """
refs = []
key = jax.random.key(0)
def compile_one(i):
    host = lambda a: a * i
    f = lambda k, a: jax.pure_callback(host, a, jnp.sort(a)) + jax.random.normal(k, (100,)) + a.at[3].add(i)
    for _ in range(3):
        jax.jit(f)(key, x)
    refs.extend([weakref.ref(f), weakref.ref(host)])

for i in range(50 + {count} // 2):  # the long run fills the caches of equal programs first
    compile_one(float(i))
before = resident()
for i in range({count}):
    compile_one(float(i))
gc.collect()
assert not any(r() for r in refs)
print(resident() - before)
"""
CALLS = """
f = jax.jit(lambda t: ({{"a": jnp.tanh(t["a"]) + 1}}, None, t["b"]))
g = jax.jit(jax.grad(lambda a: jnp.sum(jnp.tanh(a) ** 2)))
t = {{"a": x, "b": (x, 2.0)}}
def call(n):
    for _ in range(n):
        f(t)
        g(x)
call(500)
before = resident()
call({count})
print(resident() - before)
"""
EAGER = """
grad = jax.grad(lambda v: jnp.sum(v * v))
def operate(n):
    for i in range(n // 4):  # four operations a round, a gradient now and then
        y = x * 2.0 + x
        y[3], jnp.sum(y)
        if i % 100 == 0:
            grad(x)
operate(4000)
before = resident()
operate({count})
print(resident() - before)
"""
CONSTANT = """
big = np.ones({count}, np.float32)
k = jax.jit(lambda a: jnp.sum(a * big))
small = np.ones(1_000_000, np.float32)
x + 1, jax.jit(lambda a: jnp.sum(a * small))(1.0)  # the runtime is loaded
before = resident()
lowered = k.lower(1.0)
lowered.compile()
print(resident() - before - big.nbytes / 1e6)  # a writable array is copied once, and never again
"""

SOAK = """
from onax import lax
from onax._ground.config import direct_tapes

def unfit(i):
    return lambda a: jnp.reshape(a, (int(i) + 1000, 7))

KINDS = [
    lambda i: lambda a: jnp.tanh(a) * i + jnp.sum(a),
    lambda i: lambda a: lax.fori_loop(0, 3, lambda k, c: jnp.sin(c) + i * a, a),
    lambda i: jax.grad(lambda a: lax.scan(lambda c, y: (c * y + i, c), a[0], a)[0]),
    lambda i: lambda a: lax.cond(a[0] > i, lambda: a * i, lambda: jnp.cumsum(a)),
    lambda i: lambda a: jax.pure_callback(lambda v: np.asarray(v) * np.float32(i), a, a) + i,
    lambda i: lambda a: jnp.linalg.solve(jnp.eye(4) * (i + 1) + a[:4], a[:4]),
    lambda i: jax.vmap(lambda r: jnp.sin(r * i) + jax.random.uniform(jax.random.key(3))),
    lambda i: jax.value_and_grad(jax.checkpoint(lambda a: jnp.sum(jnp.sin(a) @ jnp.ones((a.size, 2)) * i))),
    unfit,
]

def compile_one(i):
    make = KINDS[i % len(KINDS)]
    f, a = jax.jit(make(float(i))), np.ones(5 + i % 40, np.float32)
    with direct_tapes(i // len(KINDS) % 8 > 0):  # one of eight in a session
        try:
            f(a), f(a)
        except TypeError:
            assert make is unfit
        else:
            assert make is not unfit

def compile_all(first, count):
    for i in range(first, first + count):
        compile_one(i)
    gc.collect()

compile_all(0, {warm})
before = resident()
compile_all({warm}, {count})
print(resident() - before)
"""
MIXED_CALLS = """
from onax import lax
from onax._ground.config import direct_tapes
host = lambda v: np.asarray(v) + 1
functions = [
    jax.jit(lambda a: jnp.tanh(a) + 1),
    jax.jit(lambda a: lax.fori_loop(0, 3, lambda k, c: jnp.sin(c) + a, a)),
    jax.jit(jax.grad(lambda a: lax.scan(lambda c, y: (c * y, c), a[0], a)[0])),
    jax.jit(lambda a: lax.cond(a[0] > 0, lambda: a, lambda: jnp.cumsum(a))),
    jax.jit(lambda a: lax.scan(lambda c, y: (c, jax.pure_callback(host, y, y)), 0, a[:2])),
    jax.jit(lambda a: jnp.sort(a) * 2),
]
in_session = jax.jit(lambda a: jnp.tanh(a) + 1)
def call(n):
    for i in range(n // 7):
        for f in functions:
            f(x)
        with direct_tapes(False):
            in_session(x)
call(3500)
before = resident()
call({count})
print(resident() - before)
"""


def run(program):
    done = subprocess.run([sys.executable, "-c", START + program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(
    "program, count, limit",
    [
        (DROPPED, 300, 5),
        (HOSTED, 200, 5),
        (CALLS, 5000, 2),
        (MIXED_CALLS, 30_000, 2),
        (EAGER, 100_000, 2),
        (CONSTANT, 20_000_000, 20),
    ],
    ids=["dropped functions", "dropped kernels", "calls", "mixed calls", "eager operations", "constants"],
)
def test_memory_does_not_grow(program, count, limit):
    assert float(run(program.format(count=count))) < limit


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(
    "program, count, limit",
    [
        (DROPPED, 1000, 5),
        (HOSTED, 1000, 5),
        (CALLS, 100_000, 2),
        (MIXED_CALLS, 1_000_000, 2),
        (EAGER, 1_000_000, 2),
        (CONSTANT, 50_000_000, 20),
    ],
)
def test_memory_does_not_grow_in_the_long_run(program, count, limit):
    assert float(run(program.format(count=count))) < limit


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("warm, count, limit", [(100, 300, 5), pytest.param(5000, 10_000, 5, marks=pytest.mark.slow)])
def test_compiling_distinct_programs(warm, count, limit):
    """Of all kinds, a kind that fails among them.

    The caches of equal programs hold 2,048 block programs of about 1.5 KB at most, which the long run has filled when
    it begins to look.
    """
    assert float(run(SOAK.format(warm=warm, count=count))) < limit


THREADS = """
f = jax.jit(lambda a, b: jnp.sum(jnp.tanh(a @ b)))
inputs = [np.random.default_rng(k).normal(size=(8, 8)).astype(np.float32) for k in range(8)]
wrong = []

def work(a):
    expected = np.tanh(a @ a).sum()
    for _ in range(200):
        if not np.allclose(f(a, a), expected, rtol=1e-4, atol=1e-4):
            wrong.append(a)

def compile_others():
    i = 0
    while any(t.is_alive() for t in workers):
        i += 1
        out = jax.jit(lambda a: a * i)(np.ones(i % 9 + 1, np.float32))
        if not (np.asarray(out) == i).all():
            wrong.append(i)

workers = [threading.Thread(target=work, args=(a,)) for a in inputs]
compiler = threading.Thread(target=compile_others)
for t in (*workers, compiler):
    t.start()
for t in (*workers, compiler):
    t.join()
assert not wrong and f._cache_size() == 1
"""


def test_threads_compile_and_call_at_once():
    """The first call in each of eight threads also imports the lowerings: none may see them half filled."""
    done = subprocess.run([sys.executable, "-c", START + THREADS], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
