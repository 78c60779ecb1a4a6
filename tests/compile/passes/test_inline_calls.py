"""Calls are replaced by their equations, in branches and loops too; shared programs are copied, results agree."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from native_passes import names
from onax import lax
from onax._compile.passes.inline_calls import inline_calls
from onax._core.check import check_jaxpr
from onax._core.evaluate import eval_jaxpr
from onax._core.jaxpr import jaxprs_in_params

X = np.linspace(-1, 1, 6, dtype=np.float32)
inner = jax.jit(lambda x: jnp.sin(x) * 2)
LARGE = np.linspace(0, 1, 100_000, dtype=np.float32)


@jax.custom_jvp
def custom(x):
    return jnp.cos(x)


custom.defjvps(lambda t, out, x: t)
PROGRAMS = {  # function, primitives of the program without calls
    "twice": (lambda x: inner(inner(x)), ["sin", "mul", "sin", "mul"]),
    "in a call": (jax.jit(lambda x: inner(x) + 1), ["sin", "mul", "add"]),
    "a rule of the user's": (lambda x: custom(x) + 1, ["cos", "add"]),
    "checkpoint": (lambda x: jax.checkpoint(jnp.sin)(x), ["sin"]),
    "a call of an argument alone": (lambda x: jax.jit(lambda y: y)(x), []),
    "a call with a constant": (lambda x: jax.jit(lambda y: y + X)(x), ["add"]),
    "in a branch": (lambda x: lax.cond(x[0] > 0, inner, lambda v: v, x), None),
    "in a loop": (lambda x: lax.scan(lambda c, y: (inner(c) + y, c), x[0], x), None),
}


def all_names(jaxpr):
    return [*names(jaxpr), *(n for eqn in jaxpr.eqns for held in jaxprs_in_params(eqn.params) for n in all_names(held))]


@pytest.mark.parametrize("name", PROGRAMS)
def test_calls_are_inlined(name):
    function, wanted = PROGRAMS[name]
    jaxpr = jax.make_jaxpr(function)(X)
    program = inline_calls(jaxpr)
    check_jaxpr(program)
    assert not {"jit", "custom_jvp_call", "remat2", "checkpoint"} & set(all_names(program))
    assert wanted is None or names(program) == wanted
    for got, want in zip(eval_jaxpr(program, program.consts, X), eval_jaxpr(jaxpr, jaxpr.consts, X), strict=True):
        np.testing.assert_array_equal(got, want)
