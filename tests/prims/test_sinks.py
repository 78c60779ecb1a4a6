"""dce_sink, stage and tokens: programs, values and errors as in JAX."""

import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax


def test_a_sink_keeps_a_computation_in_programs():
    def f(x):
        lax.dce_sink({"a": x * 2, "b": 3})
        return x + 1

    text = str(jax.make_jaxpr(jax.jit(f))(1.0))
    assert "mul a 2.0:f32[]" in text or "mul b 2.0:f32[]" in text
    assert text.count("dce_sink[prevent_mlir_dce=False]") == 2
    assert f(1.0) == 2.0 and jax.grad(f)(1.0) == 1.0 and jax.jvp(f, (1.0,), (3.0,))[1] == 3.0
    assert jax.vmap(f)(jnp.arange(2.0)).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("x", [2.0, 1j, jnp.ones((64, 64))])
def test_a_compiled_program_has_nothing_left_of_it(x):
    def f(x):
        lax.dce_sink(x * 2)
        return lax.scan(lambda carry, _: (lax.dce_sink(carry) or carry + 1, None), x, length=3)[0]

    assert (jax.jit(f)(x) == x + 3).all()


def test_a_computation_cannot_be_forced():
    with pytest.raises(NotImplementedError, match="Return the value"):
        lax.dce_sink(1.0, prevent_mlir_dce=True)


def test_stage_lifts_values():
    assert repr(lax.stage(3)) == "Array(3, dtype=int32, weak_type=True)"
    assert str(jax.make_jaxpr(lambda: lax.stage(3))()) == "{ lambda ; . let  in (3:i32[],) }"
    assert jax.grad(lax.stage)(3.0) == 1.0


def test_tokens_pass_through_every_function():
    first, second = lax.create_token(), lax.create_token(None)

    def step(carry, x):
        token, total = carry
        return (lax.after_all(token, second), total + x), None

    (token, total), _ = jax.jit(lambda xs: lax.scan(step, (first, 0.0), xs))(jnp.arange(3.0))
    assert type(token) is type(first) and total == 3.0
    assert type(lax.optimization_barrier((first, 1.0))[0]) is type(first)
    with pytest.raises(TypeError, match="Arguments to after_all must be tokens"):
        lax.after_all(first, 3)
