"""Calls of functions that are one instruction, and calls that only look like them."""

import numpy as np
import pytest

import onax as jax
from onax import lax
from onax._tape.calls import is_one_instruction
from tape.harness import check_bits

KEY = jax.random.key(1)


def calls_of_one_instruction(fn, *args):
    """The calls in a function, at any depth, that are one instruction."""
    found, programs = [], [jax.make_jaxpr(fn)(*args)]
    while programs:
        eqns = programs.pop().eqns
        found += [eqn for eqn in eqns if is_one_instruction(eqn)]
        programs += [eqn.params["jaxpr"] for eqn in eqns if "jaxpr" in eqn.params]
    return found


@pytest.mark.parametrize("shape", [(), (3,), (0,), (70_001,), (4, 5)], ids=str)
def test_normal_numbers_are_one_instruction(shape):
    draw = lambda k: jax.random.normal(k, shape)
    keys = jax.random.split(KEY, 3)
    assert calls_of_one_instruction(draw, KEY) and calls_of_one_instruction(jax.vmap(draw), keys)
    check_bits(draw, KEY)
    check_bits(jax.vmap(draw), keys)
    assert np.asarray(jax.jit(draw)(KEY)).tobytes() == np.asarray(draw(KEY)).tobytes()


def test_other_calls_are_their_equations():
    def _normal_real(key):
        return lax.erf_inv(jax.random.uniform(key, (5000,), minval=-0.5, maxval=0.5)) * 2

    for draw, key in (
        (jax.jit(_normal_real), KEY),
        (lambda k: jax.random.normal(k, (50,), "float16"), KEY),
        (lambda k: jax.random.uniform(k, (50,)), KEY),
        (lambda k: jax.random.normal(k, (50,)), jax.random.key(1, impl="rbg")),
    ):
        assert not calls_of_one_instruction(draw, key)
    check_bits(jax.jit(_normal_real), KEY)
    check_bits(lambda k: jax.random.normal(k, (50,), "float16"), KEY)
