"""Containers of the user's that refuse what is no array go through everything that takes trees."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax


@jax.tree_util.register_pytree_node_class
class Strict:
    """Takes arrays, and the objects that stand for leaves where only the structure matters; no numbers, no None."""

    def __init__(self, x):
        if x is None or isinstance(x, (int, float, bool)):
            raise ValueError(f"an array, not {x!r}")
        self.x = x

    def tree_flatten(self):
        return (self.x,), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)


@jax.custom_vjp
def by_vjp(b):
    return b.x * 2


by_vjp.defvjp(lambda b: (b.x * 2, None), lambda residual, ct: (Strict(ct * 2),))


@jax.custom_vjp
def by_wrong_vjp(b):
    return b.x[0]


by_wrong_vjp.defvjp(lambda b: (b.x[0], None), lambda residual, ct: (ct, ct))


@jax.custom_jvp
def by_jvp(b):
    return b.x * 2


@by_jvp.defjvp
def _(primals, tangents):
    return primals[0].x * 2, tangents[0].x * 2


@jax.custom_gradient
def by_gradient(x):
    return Strict(x * 2), lambda ct: ct.x * 2


ONE = jnp.ones(3)
CALLS = {
    "custom_vjp": (lambda b: jax.grad(lambda b: by_vjp(b).sum())(b).x, 2),
    "custom_vjp under jit": (jax.jit(by_vjp), 2),
    "custom_jvp": (lambda b: jax.jvp(by_jvp, (b,), (b,))[1], 2),
    "custom_gradient": (lambda b: jax.grad(lambda x: by_gradient(x).x.sum())(b.x), 2),
    "vmap": (lambda b: jax.vmap(lambda b: Strict(b.x + 1))(b).x, 2),
    "pmap": (lambda b: jax.pmap(lambda b: Strict(b.x + 1))(Strict(b.x[None])).x[0], 2),
    "scan": (lambda b: lax.scan(lambda c, y: (c, Strict(y.x + 1)), jnp.float32(0), b)[1].x, 2),
    "while_loop": (lambda b: lax.while_loop(lambda b: b.x[0] < 2, lambda b: Strict(b.x + 1), b).x, 2),
    "cond": (lambda b: lax.cond(True, lambda b: Strict(b.x * 2), lambda b: b, b).x, 2),
    "checkpoint": (lambda b: jax.grad(lambda b: jax.checkpoint(lambda b: b.x**2)(b).sum())(b).x, 2),
    "compiled": (lambda b: jax.jit(lambda b: Strict(b.x * 2)).lower(b).compile()(b).x, 2),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    call, wanted = CALLS[name]
    assert np.array_equal(call(Strict(ONE)), np.full(3, wanted))


MISTAKES = {
    "compiled": lambda b: jax.jit(lambda b: b.x).lower(b).compile()({"a": b}),
    "branches": lambda b: lax.cond(True, lambda b: b, lambda b: b.x, b),
    "carry": lambda b: lax.scan(lambda c, _: (c.x, None), b, None, 2),
    "cotangents": lambda b: jax.grad(by_wrong_vjp)(b),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_described(name):
    with pytest.raises(TypeError, match=r"structure|pytree"):
        MISTAKES[name](Strict(ONE))
