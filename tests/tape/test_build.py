"""The tape of a program is made once and kept with it."""

import numpy as np

import onax as jax
from onax._tape.build import build_tape


def test_cached_with_the_program():
    jaxpr = jax.make_jaxpr(lambda x: x * 2)(np.float32(1))
    tape, constants = build_tape(jaxpr)
    assert build_tape(jaxpr)[0] is tape and constants == []


def test_large_constants_are_its_last_inputs():
    large = np.arange(5000, dtype=np.float32)
    jaxpr = jax.make_jaxpr(lambda x: x + jax.numpy.asarray(large))(large)
    tape, constants = build_tape(jaxpr)
    assert len(tape.operands) == 2 and len(constants) == 1
    np.testing.assert_array_equal(tape([large, *constants])[0], 2 * large)
