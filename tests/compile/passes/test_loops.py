"""Loops of small steps become one equation."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from native_passes import check, names
from onax import lax

X = np.linspace(0.1, 1, 6, dtype=np.float32).reshape(2, 3)
YS = np.linspace(-1, 1, 15, dtype=np.float32).reshape(5, 3)
CLOSED = jnp.array([1.0, 2.0, 3.0])
LOOPS = {  # function, whether the loop is one equation
    "carry and slices": (lambda x: lax.scan(lambda c, y: (c * 0.5 + y, c - y), x[0], YS), True),
    "backwards": (lambda x: lax.scan(lambda c, y: (c * 0.5 + y, c - y), x[0], YS, reverse=True), True),
    "several carries": (
        lambda x: lax.scan(lambda c, y: ((c[0] * y + c[2], c[1] + 1, c[0]), c[1] * 2), (x[0], 0, x[1]), YS),
        True,
    ),
    "a carry handed through": (lambda x: lax.scan(lambda c, y: ((c[1], c[0]), c[0]), (x[0], x[1]), None, 4), True),
    "constant results": (lambda x: lax.scan(lambda c, y: (c, (1.0, c)), x[0], YS), True),
    "an array closed over": (lambda x: lax.scan(lambda c, y: (c + jnp.array(YS[0]) * CLOSED, None), x[0], YS)[0], True),
    "numbers beside arrays": (lambda x: lax.scan(lambda c, y: (c * 2 + 1, c * y), jnp.float32(1), YS), True),
    "a bool": (lambda x: lax.scan(lambda c, y: (jnp.logical_not(c), jnp.where(c, y, -y)), True, YS), True),
    "while": (lambda x: lax.while_loop(lambda c: c[0] < 7, lambda c: (c[0] + 1, c[1] * 0.5 + c[0]), (0, x[0])), True),
    "while, no step": (lambda x: lax.while_loop(lambda c: c[0] < 0, lambda c: (c[0] + 1, c[1]), (0, x[0])), True),
    "fori, bound unknown": (lambda x: lax.fori_loop(0, x[0, 0].astype(int) + 3, lambda i, c: c * 0.5 + i, x), True),
    "no trips": (lambda x: lax.scan(lambda c, y: (c + 1, c), x, None, 0), False),
    "a sum in the step": (lambda x: lax.scan(lambda c, y: (c + 4 * jnp.sum(jnp.round(y * 8)), None), x, YS), True),
    "slices in the step": (lambda x: lax.scan(lambda c, y: (c + y[1:] * c[0], c[1] * y[0]), x[0, 1:], YS), True),
    "a sort in the step": (lambda x: lax.scan(lambda c, y: (c + jnp.sort(y), None), x, YS[:, :3]), False),
    "large": (lambda x: lax.scan(lambda c, y: (c + 1, None), jnp.zeros((40, 50)) + x[0, 0], None, 3), False),
    "a condition for each example": (
        jax.vmap(lambda r: lax.while_loop(lambda c: c[0] < 1, lambda c: c + r * r + 0.2, r)),
        True,
    ),
    "loops in loops": (
        lambda x: lax.fori_loop(0, 3, lambda i, c: lax.fori_loop(0, 2, lambda j, d: d * 0.5 + i, c), x),
        False,
    ),
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops_of_small_steps_are_one_equation(name):
    function, is_one = LOOPS[name]
    program = check(function, X)
    assert ("looped" in names(program)) == is_one, program
    check(lambda x: (function(x), jnp.sort(x)), X)  # in a session


def test_loops_with_effects_stay():
    seen = []

    def step(c, y):
        jax.debug.callback(lambda v: seen.append(float(v)), c)
        return c + y, None

    assert float(jax.jit(lambda x: lax.scan(step, x, np.arange(3, dtype=np.float32))[0])(1.0)) == 4.0
    jax.effects_barrier()
    assert sorted(seen) == [1.0, 1.0, 2.0]


def test_gradients_through_loops():
    def loss(x):
        return jnp.sum(lax.scan(lambda c, y: (jnp.tanh(c * y) + 0.1, c), x, YS)[1])

    np.testing.assert_allclose(jax.jit(jax.grad(loss))(X[0]), jax.grad(loss)(X[0]), rtol=1e-5)
