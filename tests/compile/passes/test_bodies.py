"""Passes in the programs of branches and loops: which are rewritten, and that each is rewritten once."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._compile.passes.bodies import cache_on_program, map_bodies

X = np.ones(3, np.float32)


def equation(function):
    return jax.make_jaxpr(function)(X).eqns[-1]


HELD = {  # an equation, the number of programs that a pass rewrites
    "cond": (lambda x: lax.switch(1, [jnp.sin, jnp.cos, jnp.tanh], x), 3),
    "scan": (lambda x: lax.scan(lambda c, y: (c + y, c), 0.0, x), 1),
    "while": (lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: c + 1, x), 2),
    "a call": (lambda x: jax.jit(jnp.sin)(x), 0),
    "no program": (jnp.sin, 0),
}


@pytest.mark.parametrize("name", HELD)
def test_programs_of_branches_and_loops_are_rewritten(name):
    function, count = HELD[name]
    eqn, seen = equation(lambda x: function(x)), []
    assert map_bodies(lambda jaxpr: (seen.append(jaxpr), jaxpr)[1], eqn) is eqn
    assert len(seen) == count


def test_a_changed_body_gives_a_changed_equation():
    eqn = equation(lambda x: lax.scan(lambda c, y: (c + y, c), 0.0, x))
    other = equation(lambda x: lax.scan(lambda c, y: (c * y, c), 0.0, x)).params["jaxpr"]
    new = map_bodies(lambda jaxpr: other, eqn)
    assert new.params["jaxpr"] is other and new.outvars == eqn.outvars and eqn.params["jaxpr"] is not other


def test_a_program_is_rewritten_once():
    calls = []

    @cache_on_program
    def swap(jaxpr):
        calls.append(jaxpr)
        return other

    @cache_on_program
    def leave(jaxpr):
        calls.append(jaxpr)
        return jaxpr

    program, other = jax.make_jaxpr(jnp.sin)(X), jax.make_jaxpr(jnp.cos)(X)
    assert swap(program) is swap(program) is other
    assert leave(program) is leave(program) is program
    assert len(calls) == 2
