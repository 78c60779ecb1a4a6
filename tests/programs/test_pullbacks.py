"""Pullbacks and pushforwards are containers: results and arguments of transformed functions."""

import numpy as np

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
