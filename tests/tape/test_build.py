"""The tape of a program is made once and kept with it."""

import numpy as np

import onax as jax
from onax._tape.build import build_tape


def test_cached_with_the_program():
    jaxpr = jax.make_jaxpr(lambda x: x * 2)(np.float32(1))
    tape, constants = build_tape(jaxpr)
    assert build_tape(jaxpr)[0] is tape and constants == []


def test_programs_of_equal_structure_share_it():
    make = lambda k: jax.make_jaxpr(lambda x: jax.numpy.sin(x) * k)(np.float32(1))
    first, second, other = [build_tape(make(k))[0] for k in (2.0, 2.0, 3.0)]
    assert first is second and first is not other


def test_large_constants_are_its_last_inputs():
    large = np.arange(5000, dtype=np.float32)
    jaxpr = jax.make_jaxpr(lambda x: x + jax.numpy.asarray(large))(large)
    tape, constants = build_tape(jaxpr)
    assert len(tape.operands) == 2 and len(constants) == 1
    np.testing.assert_array_equal(tape([large, *constants])[0], 2 * large)
