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
}


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
