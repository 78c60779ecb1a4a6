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

gc.disable()
for i in range(50):
    compile_one(float(i))
before = resident()
for i in range({count}):
    compile_one(float(i))
gc.enable()
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
x + 1, jax.jit(lambda a: jnp.sum(a * 2 * jnp.arange(100_000.0)))(1.0)
before = resident()
lowered = k.lower(1.0)
lowered.compile()
print(resident() - before - big.nbytes / 1e6)  # a writable array is copied once, and never again
"""


def run(program):
    done = subprocess.run([sys.executable, "-c", START + program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(
    "program, count, limit",
    [(DROPPED, 300, 5), (HOSTED, 200, 5), (CALLS, 5000, 2), (EAGER, 100_000, 2), (CONSTANT, 20_000_000, 20)],
    ids=["dropped functions", "dropped kernels", "calls", "eager operations", "constants"],
)
def test_memory_does_not_grow(program, count, limit):
    assert float(run(program.format(count=count))) < limit


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(
    "program, count, limit",
    [(DROPPED, 1000, 5), (HOSTED, 1000, 5), (CALLS, 100_000, 2), (EAGER, 1_000_000, 2), (CONSTANT, 50_000_000, 20)],
)
def test_memory_does_not_grow_in_the_long_run(program, count, limit):
    assert float(run(program.format(count=count))) < limit


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
