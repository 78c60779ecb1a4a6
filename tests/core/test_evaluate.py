"""Evaluating programs: compiled where nothing is transformed, equation by equation elsewhere; both give the same."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._core.evaluate import eval_jaxpr, interpreter_of, jaxpr_as_fun

X = jnp.arange(1.0, 4.0)
PROGRAMS = {
    "several results": lambda x: (jnp.sin(x), x, jnp.asarray(2.0), jnp.frexp(x)),
    "constants": lambda x: x + np.arange(3),
    "an unused result": lambda x: (jnp.sin(x), x * 2)[1],
    "a call": lambda x: jax.jit(lambda y: y * 2)(x) + 1,
    "a loop": lambda x: lax.scan(lambda c, y: (c + y, c * y), 0.0, x),
    "keys": lambda x: jax.random.bits(jax.random.key(x[0].astype(int)), (3,)),
    "no arguments": lambda x: jnp.zeros(3),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_ways_give_what_the_function_gives(name):
    function = PROGRAMS[name]
    closed, want = jax.make_jaxpr(function)(X), jax.tree_util.tree_leaves(function(X))
    evaluated = eval_jaxpr(closed, closed.consts, X)
    assert interpreter_of(closed) is interpreter_of(closed)
    (batched,) = (jax.vmap(lambda x: jaxpr_as_fun(closed)(x))(X[None]),)
    for got, mapped, w in zip(evaluated, batched, want, strict=True):
        assert got.dtype == w.dtype and got.weak_type == w.weak_type
        np.testing.assert_array_equal(got, w)
        np.testing.assert_allclose(mapped[0], w, rtol=1e-6)


def test_binding_keeps_the_lines_of_the_equations():
    def inner(x):
        return jnp.sin(x) * 2

    closed = jax.make_jaxpr(inner)(1.0)
    again = jax.make_jaxpr(jaxpr_as_fun(closed))(1.0)
    assert [e.source_info for e in again.eqns] == [e.source_info for e in closed.eqns]
    outside = jax.make_jaxpr(lambda x: (jaxpr_as_fun(closed)(x), jnp.cos(x))[1])(1.0).eqns[-1]
    assert outside.source_info.code.co_name == "<lambda>"


def test_a_failing_equation_leaves_no_location_behind():
    closed = jax.make_jaxpr(lambda x: jnp.log(x))(1.0)
    with pytest.raises(FloatingPointError), jax.debug_nans(True):
        jax.jvp(jaxpr_as_fun(closed), (-1.0,), (1.0,))
    (eqn,) = jax.make_jaxpr(lambda x: jnp.cos(x))(1.0).eqns
    assert eqn.source_info.code.co_name == "<lambda>"


@pytest.mark.parametrize("count", [0, 2])
def test_a_program_takes_as_many_values_as_it_has_arguments(count):
    closed = jax.make_jaxpr(jnp.sin)(1.0)
    for evaluate in (eval_jaxpr, jax.jit(lambda *xs: eval_jaxpr(closed, [], *xs))):
        with pytest.raises(ValueError, match=f"takes 1 values, {count} were given"):
            evaluate(*([closed, []] if evaluate is eval_jaxpr else []), *[1.0] * count)
