"""All primitives that JAX has are there under its names; call_p evaluates a program."""

import onax as jax
from onax import numpy as jnp
from onax._native.dispatch import Primitive
from onax.extend.core import primitives


def test_names_are_those_of_primitives():
    found = {name: getattr(primitives, name) for name in primitives.__all__}
    assert len(found) > 150
    functions = [name for name, p in found.items() if not (name.endswith("_p") and isinstance(p, Primitive))]
    assert functions == ["create_call_primitive", "eval_jaxpr_transpose", "register_call_primitive_rules"]
    for name in "add mul dot_general scan while cond cholesky random_bits sort".split():
        assert found[f"{name}_p"].name == name
    assert found["add_jaxvals_p"].name == "add_any"


def test_a_primitive_is_that_of_programs():
    jaxpr = jax.make_jaxpr(lambda x: jnp.sin(x) @ x)(jnp.ones(3))
    assert [eqn.primitive for eqn in jaxpr.eqns] == [primitives.sin_p, primitives.dot_general_p]


def test_calls_of_programs():
    jaxpr = jax.make_jaxpr(lambda x, y: (x * y, x - y))(2.0, 3.0)
    call = lambda x, y: primitives.call_p.bind(x, y, call_jaxpr=jaxpr)
    assert [float(r) for r in call(2.0, 5.0)] == [10, -3]
    _, tangents = jax.jvp(lambda x: call(x, 5.0), (2.0,), (1.0,))
    assert [float(r) for r in tangents] == [5, 1]
    assert jax.vmap(call, (0, None))(jnp.arange(3.0), 2.0)[0].tolist() == [0, 2, 4]


def test_which_primitives_are_calls_alone():
    found = {name for name in primitives.__all__ if getattr(getattr(primitives, name), "call_primitive", False)}
    assert found == {"call_p", "closed_call_p"}
