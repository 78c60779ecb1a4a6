"""closed_call: an equation that holds a program, under every transformation like the program itself."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax._control.closed_call import closed_call_p
from onax._core.check import check_jaxpr
from onax._core.rewrite import eliminate_dead_code
from onax.api_util import debug_info
from onax.extend import linear_util
from onax.extend.core.primitives import call_p

X = jnp.arange(1.0, 4.0)


def plain(x, y):
    return jnp.sin(x) * y, x + 1


PROGRAM = jax.make_jaxpr(plain)(X, X)


def called(x, y):
    return closed_call_p.bind(x, y, call_jaxpr=PROGRAM)


def loss(f):
    return lambda x, y: jnp.sum(f(x, y)[0] * f(x, y)[1])


WAYS = {
    "eager": lambda f: f(X, X),
    "jit": lambda f: jax.jit(f)(X, X),
    "jvp": lambda f: jax.jvp(lambda x: f(x, X), (X,), (X,)),
    "linearize": lambda f: jax.linearize(lambda y: f(X, y), X)[1](X),
    "grad": lambda f: jax.grad(loss(f), (0, 1))(X, X),
    "jit of grad": lambda f: jax.jit(jax.grad(loss(f)))(X, X),
    "checkpoint": lambda f: jax.grad(jax.checkpoint(loss(f), policy=jax.checkpoint_policies.dots_saveable))(X, X),
}


def of_function(primitive):
    """A call in JAX's form: the primitive is bound to a function, which may close over traced values."""

    def f(x, y):
        fun = linear_util.wrap_init(lambda y: plain(x, y), debug_info=debug_info("test", plain, (y,), {}))
        return tuple(primitive.bind(y, subfuns=(fun,)))

    return f


CALLS = {"program": called, "closed_call": of_function(closed_call_p), "call": of_function(call_p)}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("call", CALLS)
def test_it_is_its_program(call, way):
    for got, want in zip(*(jax.tree_util.tree_leaves(WAYS[way](f)) for f in (CALLS[call], plain)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_batching():
    batched = lambda f: jax.vmap(lambda x, y: f(jnp.stack([x] * 3), jnp.stack([y] * 3)), (0, None))(X, 2.0)
    for got, want in zip(batched(called), batched(plain), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_dead_results_and_operands_go():
    jaxpr = eliminate_dead_code(jax.make_jaxpr(lambda x, y: called(x, y)[1])(X, X))
    check_jaxpr(jaxpr)
    (eqn,) = jaxpr.eqns
    assert eqn.primitive is closed_call_p and len(eqn.invars) == len(eqn.outvars) == 1
    assert [e.primitive.name for e in eqn.params["call_jaxpr"].eqns] == ["add"]
