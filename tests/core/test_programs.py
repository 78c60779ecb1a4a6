"""The descriptions of programs inside equations, against what the equations do."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._core import programs
from onax._core.evaluate import eval_jaxpr
from onax._core.programs import called_program, held_programs, replace_programs
from onax._core.slots import declared_slots
from onax.extend.core import Primitive

VECTOR = np.arange(3, dtype=np.float32)


@jax.custom_jvp
def with_jvp(x):
    return jnp.sin(x)


with_jvp.defjvp(lambda primals, tangents: (with_jvp(*primals), tangents[0]))


@jax.custom_vjp
def with_vjp(x):
    return jnp.sin(x)


with_vjp.defvjp(lambda x: (with_vjp(x), None), lambda _, ct: (ct,))


@jax.custom_batching.custom_vmap
def with_vmap(x):
    return jnp.sin(x)


with_vmap.def_vmap(lambda size, batched, x: (jnp.sin(x), batched[0]))

CALLS = {
    "jit": jax.jit(jnp.sin),
    "remat": jax.checkpoint(jnp.sin),
    "custom_jvp": with_jvp,
    "custom_vjp": with_vjp,
    "custom_vmap": with_vmap,
    "composite": lax.composite(lambda x: jnp.sin(x), "test.sin"),
}


def only_equation(fun, *args):
    (eqn,) = jax.make_jaxpr(fun)(*args).eqns
    return eqn


@pytest.mark.parametrize("name", CALLS)
def test_a_call_computes_its_program(name):
    eqn = only_equation(CALLS[name], VECTOR)
    program = called_program(eqn)
    (found,) = eval_jaxpr(program, program.consts, VECTOR)
    assert np.array_equal(found, jnp.sin(VECTOR))
    (held,) = held_programs(eqn)
    assert held.program is program
    assert (list(held.operands), list(held.results)) == ([0], [0])


def test_the_parts_of_a_scan():
    y = jnp.ones(3)
    eqn = only_equation(lambda c, xs: lax.scan(lambda a, x: (a + x * y, a * y), c, xs), VECTOR, np.ones((4, 3), "f"))
    (held,) = held_programs(eqn)
    assert (held.kind, held.num_consts, held.num_carry) == (programs.LOOP, 1, 1)
    assert called_program(eqn) is None


def test_the_parts_of_a_while_loop():
    def loop(end, by, x):
        return lax.while_loop(lambda c: c[0] < end, lambda c: c * by, x)

    eqn = only_equation(loop, 3.0, VECTOR, VECTOR)
    condition, body = held_programs(eqn)
    assert (condition.kind, body.kind) == (programs.CONDITION, programs.LOOP)
    for held in (condition, body):
        assert (held.num_consts, held.num_carry) == (1, 1)
        types = [eqn.invars[i].aval.str_short() for i in held.operands]
        assert types == [a.str_short() for a in held.program.in_avals]


def test_the_branches_of_a_cond():
    jaxpr = jax.make_jaxpr(lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.tan], x))(1, VECTOR)
    found = held_programs(jaxpr.eqns[-1])
    assert [h.label for h in found] == ["branches[0]", "branches[1]", "branches[2]"]
    assert all(list(h.operands) == [1] and list(h.results) == [0] for h in found)


def test_a_primitive_without_description():
    mystery = Primitive("mystery_of_programs")
    mystery.def_abstract_eval(lambda x, **_: x)
    inner = jax.make_jaxpr(jnp.sin)(VECTOR)
    eqn = only_equation(lambda x: mystery.bind(x, inside=inner, several=(inner, inner)), VECTOR)
    found = held_programs(eqn)
    assert [h.label for h in found] == ["inside", "several[0]", "several[1]"]
    assert {h.kind for h in found} == {programs.UNKNOWN}
    assert called_program(eqn) is None


def test_replacing_programs():
    eqn = only_equation(jax.jit(jnp.sin), VECTOR)
    assert replace_programs(eqn, lambda program: program) is eqn
    other = jax.make_jaxpr(jnp.cos)(VECTOR)
    assert called_program(replace_programs(eqn, lambda program: other)) is other


def test_replacing_the_programs_of_a_linear_solve():
    solve = lambda matvec, b: b / matvec(jnp.ones(3))
    fun = lambda b: lax.custom_linear_solve(lambda x: 2 * x, b, solve, symmetric=True)
    eqn = only_equation(fun, VECTOR)
    seen = []
    new = replace_programs(eqn, lambda program: seen.append(program) or program.replace(consts=program.consts))
    assert len(seen) == 4
    assert type(new.params["jaxprs"]) is type(eqn.params["jaxprs"])


def test_replacing_programs_replaces_their_effects():
    def loud(x):
        jax.debug.print("{}", x)
        return jnp.sin(x)

    eqn = only_equation(jax.jit(loud), VECTOR)
    quiet = jax.make_jaxpr(jnp.sin)(VECTOR)
    assert eqn.effects
    assert not replace_programs(eqn, lambda program: quiet).effects


def test_the_slot_is_declared():
    assert programs.programs in declared_slots()
