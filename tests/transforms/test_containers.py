"""Pullbacks and pushforwards are containers: results and arguments of transformed functions; fwd_and_bwd."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax

X = jnp.arange(1.0, 4.0)


def f(x, y):
    return {"a": jnp.sin(x) * y}


WANTED = (np.cos([1, 2, 3]) * 2 * [1, 2, 3], float(np.sum(np.sin([1, 2, 3]) * [1, 2, 3])))


def agree(cts):
    for got, wanted in zip(cts, WANTED, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-5)


def test_a_pullback_leaves_jit():
    out, pull = jax.jit(lambda x, y: jax.vjp(f, x, y))(X, 2.0)
    np.testing.assert_allclose(out["a"], np.sin([1, 2, 3]) * 2, rtol=1e-6)
    agree(pull({"a": X}))
    agree(jax.jit(pull)({"a": X}))


def test_a_pullback_enters_jit():
    traces = []

    @jax.jit
    def apply(pull, ct):
        traces.append(1)
        return pull(ct)

    _, pull = jax.vjp(f, X, 2.0)
    agree(apply(pull, {"a": X}))
    agree(apply(jax.tree_util.tree_map(lambda leaf: leaf, pull), {"a": X}))
    assert len(traces) == 1


def test_a_pushforward_leaves_and_enters_jit():
    _, push = jax.jit(lambda x, y: jax.linearize(f, x, y))(X, 2.0)
    wanted = jax.jvp(f, (X, 2.0), (X, 1.0))[1]["a"]
    np.testing.assert_allclose(push(X, 1.0)["a"], wanted, rtol=1e-6)
    np.testing.assert_allclose(jax.jit(lambda p: p(X, 1.0))(push)["a"], wanted, rtol=1e-6)


def test_pullbacks_of_each_example_and_of_each_step():
    _, mapped = jax.vmap(lambda x: jax.vjp(jnp.sin, x))(X)
    (slopes,) = jax.vmap(lambda pull, ct: pull(ct))(mapped, jnp.ones(3))
    np.testing.assert_allclose(slopes, np.cos([1, 2, 3]), rtol=1e-6)
    _, stacked = lax.scan(lambda c, x: (c, jax.vjp(jnp.sin, x)[1]), 0.0, X)
    np.testing.assert_allclose(jax.vmap(lambda pull: pull(1.0))(stacked)[0], np.cos([1, 2, 3]), rtol=1e-6)


def test_what_a_pullback_knows():
    _, pull = jax.vjp(f, X, 2.0)
    assert pull.in_tree == jax.tree_util.tree_structure((0, 0))
    assert pull.out_tree == jax.tree_util.tree_structure({"a": 0})
    assert repr(pull).startswith("VJP(fun=f at ")


@pytest.mark.parametrize("jitted", [True, False])
def test_forward_and_backward(jitted):
    fwd, bwd = jax.fwd_and_bwd(f, (0, 1), jitted=jitted)
    for _ in range(2):
        out, residuals = fwd(X, 2.0)
        np.testing.assert_allclose(out["a"], np.sin([1, 2, 3]) * 2, rtol=1e-6)
        agree(bwd(residuals, {"a": X}))


def test_forward_and_backward_of_one_argument_with_auxiliary_output():
    fwd, bwd = jax.fwd_and_bwd(lambda x, y: (f(x, y), x), 0, has_aux=True)
    _, residuals, aux = fwd(X, 2.0)
    np.testing.assert_array_equal(aux, X)
    np.testing.assert_allclose(bwd(residuals, {"a": X}), WANTED[0], rtol=1e-5)
    with pytest.raises(TypeError, match="requires at least 3 positional"):
        jax.fwd_and_bwd(f, 2)[0](X, 2.0)


BARRIER = {
    "value": lambda b: b(X),
    "tree": lambda b: b({"p": X, "q": 2.0})["p"],
    "jit": lambda b: jax.jit(lambda x: b((x, x * 1j)))(X)[0],
    "vmap": lambda b: jax.vmap(lambda x: b((x, 2.0)))(X)[0],
    "grad": lambda b: jax.grad(lambda x: jnp.sum(b((x * x, 3.0))[0]))(X / 2),
    "jvp": lambda b: jax.jvp(lambda x: b((x, 2.0))[0], (X,), (X,))[1],
}


@pytest.mark.parametrize("name", BARRIER)
def test_optimization_barrier_is_the_value_itself(name):
    np.testing.assert_array_equal(BARRIER[name](lax.optimization_barrier), X)
