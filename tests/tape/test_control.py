"""Branches and loops as instructions of tapes."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
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
