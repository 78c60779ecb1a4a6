"""Staging the bodies of loops and branches: what errors say about them."""

import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax

X = jnp.arange(3.0)
TRACED = {
    "scan": (lambda body: lax.scan(lambda c, x: (body(c), x), 1.0, X), "<lambda>", "scan"),
    "map": (lambda body: lax.map(body, X), "body", "map"),
    "fori_loop": (lambda body: lax.fori_loop(0, 3, lambda i, v: body(v), 1.0), "<lambda>", "fori_loop"),
    "fori_loop of traced length": (
        lambda body: jax.jit(lambda n: lax.fori_loop(0, n, lambda i, v: body(v), 1.0))(3),
        "<lambda>",
        "fori_loop",
    ),
    "while_loop": (lambda body: lax.while_loop(lambda v: True, body, 1.0), "body", "while_body"),
    "while_loop's condition": (lambda body: lax.while_loop(body, lambda v: v, 1.0), "body", "while_cond"),
    "cond": (lambda body: lax.cond(True, body, lambda v: v, 1.0), "body", "cond"),
    "switch": (lambda body: lax.switch(0, [body, lambda v: v], 1.0), "body", "switch"),
    "checkpoint": (lambda body: jax.checkpoint(body)(1.0), "body", "checkpoint / remat"),
    "custom_jvp": (lambda body: jax.jit(with_rule(jax.custom_jvp, body))(1.0), "body", "custom_jvp fun"),
    "custom_vjp": (lambda body: jax.jit(with_rule(jax.custom_vjp, body))(1.0), "body", "custom_vjp fun"),
    "custom_gradient": (
        lambda body: jax.grad(jax.custom_gradient(lambda x: (x, lambda g: body(g))))(1.0),
        "<lambda>",
        "custom_gradient fwd",
    ),
    "custom_root": (lambda body: lax.custom_root(body, 1.0, solve, tangent_solve), "body", "custom_root"),
    "custom_root's solve": (
        lambda body: lax.custom_root(lambda x: x, 1.0, lambda f, guess: body(guess), tangent_solve),
        "<lambda>",
        "custom_root solve",
    ),
    "custom_root's tangent_solve": (
        lambda body: lax.custom_root(lambda x: x, 1.0, solve, lambda g, y: body(y)),
        "<lambda>",
        "custom_root tangent_solve",
    ),
    "custom_linear_solve": (lambda body: lax.custom_linear_solve(body, 1.0, solve), "body", "custom_linear_solve"),
    "custom_linear_solve's solve": (
        lambda body: lax.custom_linear_solve(lambda x: x, 1.0, lambda f, b: body(b)),
        "<lambda>",
        "custom_linear_solve solve",
    ),
    "pmap": (lambda body: jax.pmap(body)(X[:1]), "body", "pmap"),
}


def solve(f, x):
    return x


def tangent_solve(g, y):
    return y / g(1.0)


def with_rule(kind, body):
    function = kind(body)
    if kind is jax.custom_jvp:
        function.defjvp(lambda primals, tangents: (primals[0], tangents[0]))
    else:
        function.defvjp(lambda v: (v, None), lambda residuals, g: (g,))
    return function


def test_programs_of_custom_rules_name_their_arguments():
    function = with_rule(jax.custom_vjp, lambda tree: tree["a"] * 2)
    (eqn,) = jax.make_jaxpr(function)({"a": 1.0, "b": X}).eqns
    assert eqn.params["call_jaxpr"].jaxpr.debug_info.arg_names == ("tree['a']", "tree['b']")
    mapped = jax.make_jaxpr(jax.pmap(lambda v, *, w: v + w))(X[:1], w=X[:1])
    (region,) = mapped.eqns[0].params["jaxpr"].eqns
    assert region.params["jaxpr"].debug_info.arg_names == ("v", "w")
    assert region.params["jaxpr"].debug_info.result_paths == ("result",)


@pytest.mark.parametrize("name", TRACED)
def test_a_traced_condition_names_function_construct_and_argument(name):
    def body(v):
        return v if v > 0 else -v

    run, function, construct = TRACED[name]
    with pytest.raises(jax.errors.TracerBoolConversionError) as caught:
        run(body)
    text = str(caught.value)
    assert f"while tracing the function {function} at {__file__}:" in text
    assert f" for {construct}." in text
    assert "depends on the value of the argument" in text
