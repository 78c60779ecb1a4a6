"""Ctrl-C, or any exception of a signal handler, ends a compiled loop."""

import signal
import sys
import threading

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._ground.config import direct_tapes

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs setitimer")


class Interrupted(Exception):
    pass


@pytest.fixture
def interrupted():
    """Calls a function, which a signal must end.

    The signal comes again, because Python drops what a handler raises while a weak reference's callback runs.
    """

    def interrupt(*_):
        raise Interrupted

    def check(call):
        signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)
        with pytest.raises(Interrupted):
            call()
        signal.setitimer(signal.ITIMER_REAL, 0)

    before = signal.signal(signal.SIGALRM, interrupt)
    yield check
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def endless(x):
    return lax.while_loop(lambda c: c[0] >= 0, lambda c: (c[0] * 1.0, jnp.sin(c[1])), (jnp.abs(x[0]), x))[1]


def endless_inside(x):
    return lax.fori_loop(0, 3, lambda i, c: lax.cond(i == 1, endless, lambda c: c + 1, c), x)


def very_long(x):
    return lax.fori_loop(0, 2**31 - 1, lambda i, c: c * 0.5 + 1, x)


@pytest.mark.parametrize("direct", [True, False])
@pytest.mark.parametrize("function", [endless, endless_inside, very_long])
def test_a_signal_ends_a_compiled_loop(function, direct, interrupted):
    x = np.ones(8, np.float32)
    with direct_tapes(direct):
        run = jax.jit(function)
        interrupted(lambda: run(x))
        np.testing.assert_array_equal(jax.jit(lambda x: lax.fori_loop(0, 9, lambda i, c: c + 1, x))(x), x + 9)
        interrupted(lambda: run(x))


def test_a_signal_ends_an_eager_loop(interrupted):
    interrupted(lambda: endless(jnp.ones(8)))


def test_other_threads_go_on(interrupted):
    done, x = [], np.ones(8, np.float32)
    long = jax.jit(lambda x: lax.fori_loop(0, 2_000_000, lambda i, c: c * 0.5 + 1, x))
    thread = threading.Thread(target=lambda: done.append(np.asarray(long(x))))
    thread.start()
    interrupted(lambda: jax.jit(endless)(x))
    thread.join()
    np.testing.assert_allclose(done[0], 2.0)
