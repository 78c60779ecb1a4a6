"""Branches and loops as instructions of tapes."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._ground.config import enable_x64
from tape.harness import check, tape_of

X = np.linspace(-1, 1, 8, dtype=np.float32)


def elementwise(x):
    return lax.fori_loop(0, 100, lambda i, c: jnp.sin(c * x) + i.astype(jnp.float32) * 1e-3, x)


def branch(x):
    return lax.fori_loop(0, 100, lambda i, c: lax.cond(i % 2 == 0, lambda c: c * 1.01, lambda c: c * 0.99, c), x)


def switch(x):
    step = lambda c, i: (lax.switch(i, [lambda c: c + 1, lambda c: c * 2, lambda c: -c], c), c)
    return lax.scan(step, x, jnp.arange(-2, 6))


def nested(x):
    return lax.fori_loop(0, 7, lambda i, c: lax.fori_loop(0, 5, lambda j, d: d * 1.5 + i, c), x)


def stacked(x):
    step = lambda c, y: ((c[0] + y, c[0]), (c[0] * 2, c[1] - y))
    return lax.scan(step, (x, x * 2), jnp.arange(88.0).reshape(11, 8) * x, reverse=True)


def rotated(x):
    """Carries that change places, and one that stays as it is."""
    return lax.while_loop(lambda c: c[0] < 7, lambda c: (c[0] + 1, c[2], c[1] + 1, c[3]), (0, x, x, x * 3))


def no_steps(x):
    return lax.scan(lambda c, y: (c + y, c), x, jnp.zeros((0, 8)) + x), lax.fori_loop(3, 3, lambda i, c: c * 2, x)


def same_result_twice(x):
    step = lambda c, y: ((c[0] * y, c[0] * y), (c[0] * y, y, c[1]))
    return lax.scan(step, (x, x), jnp.arange(24.0).reshape(3, 8) * x)


def batched_while(x):
    return jax.vmap(lambda v: lax.while_loop(lambda c: c < 10, lambda c: c * c + 2, v))(x)


def loop_in_branch(x):
    inside = lambda c: lax.while_loop(lambda s: jnp.sum(s) < 50, lambda s: s + 1, c)
    return lax.cond(x[0] < 0, inside, lambda c: c * 2, x), lax.cond(x[0] > 0, inside, lambda c: c * 2, x)


def bounded(x):
    """The condition reads a number from outside, of which the body's own numbers must not take the place."""
    bound = 1e-3 * jnp.dot(x, x)

    def step(c):
        size = c[1] / jnp.dot(c[0], c[0] * 2)
        rest = c[0] - size * c[0] * jnp.max(x)
        return rest, jnp.dot(rest, rest), c[2] + 1

    return lax.while_loop(lambda c: c[1] > bound, step, (x, jnp.dot(x, x), 0))


PROGRAMS = [
    bounded,
    elementwise,
    branch,
    switch,
    nested,
    stacked,
    rotated,
    no_steps,
    same_result_twice,
    batched_while,
    loop_in_branch,
]


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda f: f.__name__)
def test_programs(fn):
    check(fn, X, rtol=1e-6, python=None)


@pytest.mark.parametrize("fn", [elementwise, nested, lambda x: stacked(x)[0]], ids=["elementwise", "nested", "stacked"])
def test_gradients(fn):
    gradient = jax.grad(lambda x: sum(jnp.sum(leaf) for leaf in jax.tree.leaves(fn(x))))
    check(gradient, X, rtol=1e-5, python=None)


def test_tape_is_made_once():
    tape, operands, jaxpr = tape_of(branch, X)
    assert tape_of(branch, X)[0] is not None and tape.memory > 0
    first, second = tape(operands), tape(operands)
    np.testing.assert_array_equal(first[0], second[0])
    assert not np.shares_memory(first[0], second[0])
    assert jaxpr.cache["tape"][0] is tape


# ---- loops over many positions go through many steps a strip at a time


def _steps_one_by_one(step, carry, xs):
    """What `lax.scan` gives, by calls of one compiled step."""
    one, results = jax.jit(step), []
    for x in xs:
        carry, y = one(carry, x)
        results.append(y)
    return carry, None if results[0] is None else jnp.stack(results)


STRIPS = {
    "one carry": (lambda c, x: (c + np.float32(0.01) * (c - c * c * c), None), "f4", "numbers"),
    "slices and results": (lambda c, x: (c * np.float32(0.5) + x, c - x), "f4", "rows"),
    "a number each step": (lambda c, x: (c * np.float32(0.5) + x, c - x), "f4", "numbers"),
    "functions": (lambda c, x: (jnp.sin(c) + x, jnp.exp(-c * c)), "f4", "numbers"),
    "float64": (lambda c, x: (jnp.where(c > 1, c * 0.25, c + x), c * 2), "f8", "numbers"),
    "integers": (lambda c, x: (c * 3 + x, c ^ x), "i4", "numbers"),
    "halves": (lambda c, x: (c * np.float16(0.5) + x, c), "f2", "rows"),
    "two carries": (lambda c, x: ((c[1], c[0] * np.float32(0.5) + x), c[0] + c[1]), "f4", "pair"),
    "mixed widths": (lambda c, x: ((c[0] + x, c[1] * 2 + c[0]), c[1]), ("f4", "f8"), "pair"),
}


@pytest.mark.parametrize("trips", [1, 2, 7, 301])
@pytest.mark.parametrize("name", STRIPS)
def test_strips_have_the_bits_of_steps_one_by_one(name, trips):
    step, dtype, kind = STRIPS[name]
    n, rng = 13_001, np.random.default_rng(trips)
    dtypes = dtype if isinstance(dtype, tuple) else (dtype, dtype)
    with enable_x64(True):
        first, second = [(rng.normal(size=n) * 3).astype(d) for d in dtypes]
        trips = min(trips, 60) if kind == "rows" or name == "functions" else trips
        shape = (trips, n) if kind == "rows" else (trips,)
        xs = (rng.normal(size=shape) * 3).astype(dtypes[0])
        carry = (first, second) if kind == "pair" else first
        got, stacked = jax.jit(lambda c, xs: lax.scan(step, c, xs, unroll=1))(carry, xs)
        want, listed = _steps_one_by_one(step, carry, xs)
    for g, w in zip(jax.tree.leaves((got, stacked)), jax.tree.leaves((want, listed))):
        np.testing.assert_array_equal(np.asarray(g), np.asarray(w))


def test_strips_in_loops_and_branches_and_with_what_is_the_same_everywhere():
    x, scale = np.linspace(-2, 2, 20_000, dtype=np.float32), np.float32(0.3)

    def inner(c, s, n):
        return lax.fori_loop(0, n, lambda i, c: c - s * (c * c - 1), c)

    def program(c, s):
        c = lax.fori_loop(0, 3, lambda i, c: inner(c, s, 4) + 1, c)
        return lax.cond(s > 0, lambda c: inner(c, s * 2, 5), lambda c: inner(c, s, 6), c)

    def plain(c, s):
        def some(c, s, n):
            for _ in range(n):
                c = c - s * (c * c - np.float32(1))
            return c

        for _ in range(3):
            c = some(c, s, 4) + np.float32(1)
        return some(c, s * np.float32(2), 5) if s > 0 else some(c, s, 6)

    for s in (scale, -scale / 10):
        np.testing.assert_array_equal(jax.jit(program)(x, s), plain(x, s))
    np.testing.assert_array_equal(x, np.linspace(-2, 2, 20_000, dtype=np.float32))  # the argument is as it was


def test_a_carry_that_is_read_in_other_positions_is_not_cut_into_strips():
    x = np.linspace(-2, 2, 20_000, dtype=np.float32)
    program = jax.jit(lambda c: lax.fori_loop(0, 9, lambda i, c: c[::-1] * np.float32(0.5) + c[0], c))
    want = x
    for _ in range(9):
        want = want[::-1] * np.float32(0.5) + want[0]
    np.testing.assert_array_equal(program(x), want)
