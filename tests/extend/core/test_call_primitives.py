"""Primitives that call a program: every transformation gives what the program itself gives."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax.extend.core import Primitive, create_call_primitive, eval_jaxpr_transpose, register_call_primitive_rules
from onax.interpreters import ad

CALLED = create_call_primitive("called")


def program(x):
    return jnp.sin(x) * x


def call(x):
    return CALLED.bind(x, call_jaxpr=jax.make_jaxpr(program)(x))[0]


WAYS = {
    "eager": lambda f: f,
    "jit": jax.jit,
    "grad": jax.grad,
    "grad of jit": lambda f: jax.grad(jax.jit(f)),
    "twice": lambda f: jax.jacfwd(jax.grad(f)),
    "vmap": lambda f: lambda x: jax.vmap(f)(jnp.stack([x, x + 1])),
    "checkpoint": lambda f: jax.grad(jax.checkpoint(f)),
    "scan": lambda f: lambda x: jax.lax.scan(lambda c, _: (f(c), c), x, None, length=3)[1],
    "exported": lambda f: lambda x: jax.export.export(jax.jit(f))(x).call(x),
}


@pytest.mark.parametrize("way", WAYS)
def test_it_is_what_its_program_is(way):
    x = np.float32(0.7)
    np.testing.assert_allclose(WAYS[way](call)(x), WAYS[way](program)(x), rtol=1e-6)


def test_it_is_one_equation_until_it_is_derived():
    assert [eqn.primitive.name for eqn in jax.make_jaxpr(call)(2.0).eqns] == ["called"]


def test_its_transpose():
    linear = jax.make_jaxpr(lambda a, x: a * x)(2.0, 3.0)
    operands = 2.0, ad.UndefinedPrimal(linear.in_avals[1])
    assert eval_jaxpr_transpose(CALLED, [5.0], *operands, call_jaxpr=linear)[1] == 10
    pull = jax.linear_transpose(lambda x: CALLED.bind(2.0, x, call_jaxpr=linear)[0], 3.0)
    assert pull(5.0) == (10,)


def test_another_transpose_takes_its_place():
    primitive = Primitive("with_own_transpose")
    register_call_primitive_rules(primitive, transpose_rule=lambda ct, *args, call_jaxpr: [None, ct[0] * 100])
    linear = jax.make_jaxpr(lambda a, x: a * x)(2.0, 3.0)
    assert jax.linear_transpose(lambda x: primitive.bind(2.0, x, call_jaxpr=linear)[0], 3.0)(5.0) == (500,)
