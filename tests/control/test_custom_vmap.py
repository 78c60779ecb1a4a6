"""custom_vmap and sequential_vmap: what is printed, what is refused.  Values: test_shard_map.py."""

import re

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax.custom_batching import custom_vmap, sequential_vmap

X = np.arange(12, dtype=np.float32).reshape(4, 3)


def identity(rule):
    f = custom_vmap(lambda x: x)
    f.def_vmap(rule)
    return f


def test_the_rule_sees_axes_in_front():
    seen = []

    @custom_vmap
    def f(x, y):
        return x + y

    @f.def_vmap
    def rule(axis_size, in_batched, x, y):
        seen.append((axis_size, in_batched, x.shape, y.shape))
        return x + y, True

    jax.vmap(f, in_axes=(1, None))(X, X[:, 0])
    assert seen == [(3, [True, False], (3, 4), (4,))]
    assert f.vmap_rule is rule


def test_nothing_mapped_calls_no_rule():
    f = identity(lambda n, b, x: pytest.fail("the rule was called"))
    assert np.array_equal(jax.vmap(lambda y: f(X) + y)(X[:, 0]), X + X[:, :1, None])


def test_keywords_go_to_their_places():
    f = custom_vmap(lambda x, y=2.0: x * y)
    f.def_vmap(lambda n, b, x, y: (x * y, True))
    assert np.array_equal(f(X, y=3.0), X * 3)
    assert np.array_equal(jax.vmap(lambda x: f(y=3.0, x=x))(X), X * 3)


def test_printed():
    f = identity(lambda n, b, x: (x, True))
    text = str(jax.make_jaxpr(f)(1.0))
    assert "custom_vmap_call[" in text and "<lambda> at 0xXXXXXXXXXXXX>" in text
    assert "in_tree=PyTreeDef(([], (*,)))" in text


def test_a_result_that_is_not_batched():
    f = identity(lambda n, b, x: (x[0], False))
    assert np.array_equal(jax.vmap(f)(X), np.broadcast_to(X[0], X.shape))


@pytest.mark.parametrize("axes", [(0, None), (None, 0), (0, 0)])
def test_the_rule_of_a_derivative_is_told_what_is_mapped_with_its_tangent(axes):
    seen = []
    f = custom_vmap(jnp.sin)

    @f.def_vmap
    def rule(size, batched, x):
        seen.append(list(batched))
        return jnp.cos(x), batched[0]

    x, t = (X if a == 0 else X[0] for a in axes)
    y, moved = jax.vmap(lambda x, t: jax.jvp(f, (x,), (t,)), in_axes=axes)(x, t)
    assert seen == [[axes == (0, 0)]]
    np.testing.assert_allclose(y, np.broadcast_to(np.cos(x), X.shape), rtol=1e-6)
    np.testing.assert_allclose(moved, -np.sin(x) * t, rtol=1e-5)


ERRORS = {
    "no rule": (
        lambda: custom_vmap(lambda x: x)(X),
        AttributeError,
        "No batching rule defined for custom_vmap function",
    ),
    "no rule, mapped": (lambda: jax.vmap(custom_vmap(lambda x: x))(X), AttributeError, "using def_vmap."),
    "flags of another structure": (
        lambda: jax.vmap(identity(lambda n, b, x: (x, [True])))(X),
        ValueError,
        "structure of output value and output batching specification returned by custom vmap rule (<lambda>) do not "
        "match.\nOutput values: PyTreeDef(*)\nBatching spec: PyTreeDef([*])",
    ),
    "results of another structure": (
        lambda: jax.vmap(identity(lambda n, b, x: ([x], [True])))(X),
        ValueError,
        "does not match that of original custom-vmapped function",
    ),
    "reverse mode": (
        lambda: jax.grad(identity(lambda n, b, x: (x, True)))(1.0),
        ValueError,
        "Linearization failed to produce known values for all output primals.",
    ),
    "no such argument": (
        lambda: custom_vmap(closing)(v=1.0),
        TypeError,
        "The input arguments to the custom_vmap-decorated function closing could not be resolved",
    ),
    "what is no array": (lambda: identity(lambda *_: None)("a"), TypeError, "is not a valid JAX type"),
    "closes over what is mapped": (
        lambda: jax.vmap(lambda w: closing(w)(w))(X),
        NotImplementedError,
        "closes over a value that is mapped; pass it as an argument",
    ),
}


def closing(w):
    f = custom_vmap(lambda x: x * w)
    f.def_vmap(lambda n, b, x: (x, True))
    return f


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    call, kind, text = ERRORS[name]
    with pytest.raises(kind, match=re.escape(text)):
        call()


def test_sequential_vmap_is_a_loop():
    f = sequential_vmap(lambda x, y: jnp.sin(x) + y)
    (eqn,) = jax.make_jaxpr(jax.vmap(f, in_axes=(0, None)))(X, 1.0).eqns
    assert eqn.primitive.name == "scan" and eqn.params["num_consts"] == 1 and eqn.params["length"] == 4
