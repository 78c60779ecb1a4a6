"""Processes that are started after compiled functions have run: by os.fork, and by multiprocessing's ways.

Each test runs in a process of its own with a time limit, because what goes wrong here is waiting for ever.
"""

import multiprocessing
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

PROGRAMS = """
import gc, os, sys, threading, traceback
import numpy as np
import onax as jax, onax.numpy as jnp
from onax import lax
from onax._ground.config import direct_tapes

x = np.linspace(0, 1, 64, dtype=np.float32).reshape(8, 8)
large = np.ones((300, 300), np.float32) / 300
small_program = jax.jit(lambda a: jnp.tanh(a) + 1)
loop = jax.jit(lambda a: lax.fori_loop(0, 100, lambda i, c: jnp.tanh(c @ a), a))
products = jax.jit(lambda a: a @ a @ a)
gradient = jax.jit(jax.grad(lambda a: jnp.sum(jnp.sin(a) * a)))

def through_the_runtime(a):
    with direct_tapes(False):
        return jax.jit(lambda a: jnp.sort(jnp.tanh(a) @ a))(a)

def results():
    '''Of compiled functions old and new, in sessions and not, of eager operations, random numbers and LAPACK.'''
    out = [small_program(x), loop(x), products(large), gradient(x), through_the_runtime(x), jnp.sum(jnp.asarray(x) * 2)]
    out += [jax.jit(lambda a: jnp.cos(a) * 3)(x), jax.jit(lambda a: jnp.cos(a) @ a @ a)(large)]
    out += [jnp.linalg.solve(large + jnp.eye(300), large), jax.random.normal(jax.random.key(1), (9,)), large @ large]
    return [np.asarray(o) for o in out]

def check():
    for got, want in zip(results(), WANTED, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)

def fork(work, leave=os._exit):
    '''The exit status of a forked process: 0 if `work` ran there.'''
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        leave(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

def wanted():
    global WANTED
    WANTED = results()
"""


# Python 3.12 and later warn of a fork while there are threads.
QUIET_PYTHON = (sys.executable, "-W", "ignore::DeprecationWarning")


def run(program, *arguments):
    done = subprocess.run(
        [*QUIET_PYTHON, "-c", PROGRAMS + program, *arguments], capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_forked_process_runs_everything():
    run("""
wanted()
assert fork(check) == 0
assert fork(lambda: fork(check) and os._exit(1)) == 0  # and what it forks
check()
""")


def test_a_forked_process_that_drops_its_programs_ends_as_any_other():
    """By the end of the interpreter too, which runs the destructors of libraries."""
    run("""
wanted()
assert fork(lambda: (jax.clear_caches(), globals().pop("products"), gc.collect())) == 0
assert fork(check, sys.exit) == 0
assert fork(lambda: None, lambda _: sys.exit(7)) == 7
""")
    out = run("""
wanted()
if os.fork() == 0:
    print("in the child", end="")  # in a buffer, which the end writes out
    sys.exit()
os.wait()
""")
    assert out == "in the child"


def test_many_processes_forked_while_other_threads_compute():
    """These threads run tapes, which have no locks."""
    run("""
stop = threading.Event()

def compute():
    while not stop.is_set():
        loop(x), small_program(x)

WANTED = None
want = np.asarray(loop(x))
threads = [threading.Thread(target=compute) for _ in range(3)]
for t in threads:
    t.start()

def same():
    np.testing.assert_array_equal(np.asarray(loop(x)), want)
    assert (np.asarray(jax.jit(lambda a: a * 2 - a)(x)) == x).all()

statuses = [fork(same) for _ in range(6)]
stop.set()
for t in threads:
    t.join()
assert statuses == [0] * 6, statuses
""")


def test_a_process_forked_while_a_session_ran_refuses_sessions():
    run("""
wanted()
inside, go = threading.Event(), threading.Event()

def wait(a):
    inside.set()
    go.wait()
    return a

def waiting(a):
    with direct_tapes(False):
        return jax.jit(lambda a: jax.pure_callback(wait, a, a) @ a)(a)

thread = threading.Thread(target=waiting, args=(x,))
thread.start()
inside.wait()

def refused():
    assert (np.asarray(small_program(x)) == WANTED[0]).all() and (np.asarray(loop(x)) == WANTED[1]).all()
    for program in (lambda: products(large), lambda: through_the_runtime(x)):
        try:
            program()
        except RuntimeError as error:
            assert "forked while its parent ran a session of ONNX Runtime" in str(error), error
        else:
            raise AssertionError("it ran")

status = fork(refused, sys.exit)
go.set()
thread.join()
assert status == 0
check()
assert fork(check) == 0
""")


WORKERS = """
import sys, multiprocessing
from concurrent import futures
import numpy as np
import onax as jax, onax.numpy as jnp
from onax import lax

def work(n):
    f = jax.jit(lambda a: lax.fori_loop(0, 5, lambda i, c: jnp.tanh(c @ a), a) @ (a * n))
    return np.asarray(f(np.full((200, 200), 0.01, np.float32)))

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    wanted = [work(n) for n in range(6)]
    with futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        got = list(pool.map(work, range(6)))
    with context.Pool(2) as pool:
        got += pool.map(work, range(6))
        arrays = pool.map(jnp.sin, [jnp.ones(3)] * 2)  # arrays go both ways
    np.testing.assert_allclose(got, wanted * 2, rtol=1e-5)
    assert all(isinstance(a, jax.Array) for a in arrays)
"""


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_multiprocessing(method, tmp_path):
    (tmp_path / "workers.py").write_text(WORKERS)
    done = subprocess.run(
        [*QUIET_PYTHON, "workers.py", method], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_two_hundred_processes_after_sessions_of_several_threads():
    run("""
wanted()
for i in range(200):
    products(large)
    assert fork(lambda: (products(large), products(large), through_the_runtime(x)), [os._exit, sys.exit][i % 2]) == 0, i
""")
