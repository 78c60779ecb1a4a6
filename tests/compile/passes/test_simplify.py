"""Common subexpressions of elementwise equations and views are computed once; nothing else is merged."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from native_passes import names
from onax import lax
from onax._compile.passes.simplify import simplify
from onax._core.check import check_jaxpr
from onax._core.evaluate import eval_jaxpr

X = np.linspace(-1, 1, 6, dtype=np.float32)
PROGRAMS = {  # function, primitive, how often it stands there afterwards
    "the same function": (lambda x: jnp.sin(x) + jnp.sin(x), "sin", 1),
    "through other expressions": (lambda x: jnp.sin(x + 1) * jnp.sin(x + 1), "add", 1),
    "another operand": (lambda x: jnp.sin(x) + jnp.sin(-x), "sin", 2),
    "another parameter": (lambda x: lax.integer_pow(x, 2) + lax.integer_pow(x, 3), "integer_pow", 2),
    "another type": (lambda x: x.astype(int) + x.astype(bool), "convert_element_type", 3),
    "literals": (lambda x: (x + 1.5) * (x + 1.5) + (x + 2.5), "add", 3),
    "zeros of two signs": (lambda x: lax.atan2(x, lax.full_like(x, 0.0)) + (x * 0.0) + (x * -0.0), "mul", 2),
    "views": (lambda x: x.reshape(2, 3).T + x.reshape(2, 3).T, "reshape", 1),
    "a sort": (lambda x: lax.sort(x) + lax.sort(x), "sort", 2),
    "results": (lambda x: (jnp.cos(x), jnp.cos(x)), "cos", 1),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_merged(name):
    function, primitive, count = PROGRAMS[name]
    jaxpr = jax.make_jaxpr(function)(X)
    program = simplify(jaxpr)
    check_jaxpr(program)
    assert names(program).count(primitive) == count
    for got, want in zip(eval_jaxpr(program, program.consts, X), eval_jaxpr(jaxpr, jaxpr.consts, X), strict=True):
        np.testing.assert_array_equal(got, want)


def test_each_body_is_simplified_on_its_own():
    def body(c, x):
        return c + jnp.sin(x) * jnp.sin(x), jnp.sin(c)

    program = simplify(jax.make_jaxpr(lambda x: (lax.scan(body, x[0], x), jnp.sin(x)))(X))
    (scan,) = [eqn for eqn in program.eqns if eqn.primitive is lax.scan_p]
    assert names(scan.params["jaxpr"]).count("sin") == 2 and names(program).count("sin") == 1


def test_effects_are_not_merged(capfd):
    jax.jit(lambda x: (jax.debug.print("{}", x), jax.debug.print("{}", x)) and x)(1.0)
    jax.effects_barrier()
    assert capfd.readouterr().out.split() == ["1.0", "1.0"]
