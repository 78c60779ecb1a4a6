"""Names of parts of programs: checked, and without effect."""

import pytest

import onax as jax
import onax.numpy as jnp


def test_operations_are_those_without_a_name():
    @jax.named_scope("outer")
    def named(x):
        with jax.named_scope("inner"):
            return jnp.sin(x)

    assert str(jax.make_jaxpr(named)(1.0)) == str(jax.make_jaxpr(jnp.sin)(1.0)) and named(0.0) == 0.0
    assert str(jax.make_jaxpr(jax.named_call(jnp.sin, name="f"))(1.0)) == str(jax.make_jaxpr(jnp.sin)(1.0))


def test_errors_pass_and_functions_keep_their_names():
    with pytest.raises(ZeroDivisionError), jax.named_scope("s"):
        raise ZeroDivisionError

    def f(x):
        "Doc."
        return x

    assert (jax.named_call(f).__name__, jax.named_call(f).__doc__) == ("f", "Doc.")


@pytest.mark.parametrize("call, text", [
    (lambda: jax.named_scope(3), "named_scope name argument must be a string"),
    (lambda: jax.named_call(jnp.sin, name=3), "named_scope name argument must be a string"),
    (lambda: jax.named_call(3), "Expected a callable value, got 3"),
])  # fmt: skip
def test_errors(call, text):
    with pytest.raises(TypeError, match=text):
        call()


def test_scopes_change_neither_results_nor_programs():
    @jax.named_scope("inner")
    def f(x):
        with jax.named_scope("doubled"):
            return x * 2

    assert jax.jit(f)(3.0) == 6.0
    assert str(jax.make_jaxpr(jax.named_call(lambda x: x + 1, name="foo"))(1.0)) == (
        "{ lambda ; a:f32[]. let b:f32[] = add a 1.0:f32[] in (b,) }"
    )
    with pytest.raises(TypeError, match="must be a string"):
        jax.named_scope(1)
