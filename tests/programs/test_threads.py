"""Eight threads call one compiled function, or many, at once, the first calls among them."""

import random
import threading

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._ground.config import direct_tapes

THREADS = 8
INPUTS = [jnp.asarray(np.random.default_rng(i).normal(size=(6, 6)), np.float32) for i in range(THREADS)]

FUNCTIONS = {
    "elementwise": lambda x: jnp.tanh(x) * 2 + 1,
    "loop": lambda x: lax.fori_loop(0, 20, lambda i, c: jnp.tanh(c @ x), x),
    "endless loop": lambda x: lax.while_loop(lambda c: jnp.sum(jnp.abs(c)) > 0.1, lambda c: c * 0.7, x),
    "scan": lambda x: lax.scan(lambda c, row: (c * 0.5 + row, jnp.sort(c)), x[0], x),
    "branch": lambda x: lax.cond(x[0, 0] > 0, lambda: jnp.cumsum(x, 0), lambda: x.T),
    "gradient": jax.grad(lambda x: jnp.sum(lax.scan(lambda c, r: (jnp.sin(c * r), c), x[0], x)[0])),
    "linear algebra": lambda x: jnp.linalg.solve(x @ x.T + jnp.eye(6), x),
    "spectrum": lambda x: jnp.linalg.eigvalsh(x @ x.T),
    "products": lambda x: jnp.tile(x, (50, 50)) @ jnp.tile(x.T, (50, 1)),
    "random": lambda x: jax.random.normal(jax.random.key(jnp.int32(jnp.abs(x[0, 0]) * 1000)), (40,)),
    "callback": lambda x: lax.map(lambda row: jax.pure_callback(np.sin, row, row), x),
    "indices": lambda x: x.at[jnp.argsort(x[0])].add(x)[jnp.argmax(x, 1)],
}


def run_together(work):
    """Runs work(number) in every thread; the first error of any."""
    errors, start = [], threading.Barrier(THREADS)

    def run(number):
        start.wait()
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def assert_same(got, want):
    for g, w in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(np.asarray(g), np.asarray(w), rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("direct", [True, False], ids=["tapes", "sessions"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_function(name, direct):
    """Which none has called before; each thread has arguments of its own."""
    function = FUNCTIONS[name]
    wanted = [function(x) for x in INPUTS]
    with direct_tapes(direct):
        compiled = jax.jit(lambda x: function(x))

    def work(number):
        with direct_tapes(direct):
            for k in range(6):
                at = (number + k) % THREADS
                assert_same(compiled(INPUTS[at]), wanted[at])

    run_together(work)


@pytest.mark.parametrize("direct", [True, False], ids=["tapes", "sessions"])
def test_many_functions(direct):
    wanted = {name: [function(x) for x in INPUTS] for name, function in FUNCTIONS.items()}
    compiled = {name: jax.jit(lambda x, function=function: function(x)) for name, function in FUNCTIONS.items()}

    def work(number):
        names = list(FUNCTIONS) * 3
        random.Random(number).shuffle(names)
        with direct_tapes(direct):
            for k, name in enumerate(names):
                at = (number + k) % THREADS
                assert_same(compiled[name](INPUTS[at]), wanted[name][at])
                if k % 9 == number:
                    jax.clear_caches()  # while others run

    run_together(work)


def test_functions_of_each_thread():
    """Each thread makes functions of its own, transforms and drops them."""

    def work(number):
        x = INPUTS[number]
        for k in range(10):
            factor = float(number * 100 + k)
            function = lambda a, factor=factor: jnp.sum(lax.fori_loop(0, 3, lambda i, c: c + a * factor, a))
            assert_same(jax.jit(jax.grad(function))(x), np.full((6, 6), 1 + 3 * factor, np.float32))
            assert_same(jax.vmap(jax.jit(lambda r, factor=factor: r * factor))(x), x * np.float32(factor))

    run_together(work)


def test_errors_stay_in_their_threads():
    """Callbacks of four threads raise; the others' results are right."""

    def host(value):
        if value[0] > 1000:
            raise KeyError(f"thread {int(value[0]) - 1001}")
        return value * 2

    compiled = jax.jit(lambda x: lax.map(lambda row: jax.pure_callback(host, row, row), x))

    def work(number):
        for _ in range(20):
            if number % 2:
                with pytest.raises(KeyError, match=f"thread {number}"):
                    compiled(np.full((6, 6), 1001 + number, np.float32))
            else:
                assert_same(compiled(INPUTS[number]), INPUTS[number] * 2)

    run_together(work)
