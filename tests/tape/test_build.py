"""The tape of a program is made once and kept with it."""

import gc

import numpy as np

import onax as jax
from onax._tape.build import build_tape
from onax._tape.builder import Buffer, Part


def test_cached_with_the_program():
    jaxpr = jax.make_jaxpr(lambda x: x * 2)(np.float32(1))
    tape, constants = build_tape(jaxpr)
    assert build_tape(jaxpr)[0] is tape and constants == []


def test_programs_of_equal_structure_share_it():
    make = lambda k: jax.make_jaxpr(lambda x: jax.numpy.sin(x) * k)(np.float32(1))
    first, second, other = [build_tape(make(k))[0] for k in (2.0, 2.0, 3.0)]
    assert first is second and first is not other


def test_what_it_was_built_from_needs_no_collector():
    function = lambda x: jax.lax.scan(lambda c, y: (jax.numpy.sin(c) @ y, c[0]), x, x[None] * jax.numpy.ones((3, 1, 1)))
    jaxpr = jax.make_jaxpr(function)(np.ones((2, 2), np.float32))
    gc.collect()
    gc.disable()
    try:
        build_tape(jaxpr)
        assert not [x for x in gc.get_objects() if type(x) in (Buffer, Part)]
    finally:
        gc.enable()


def test_large_constants_are_its_last_inputs():
    large = np.arange(5000, dtype=np.float32)
    jaxpr = jax.make_jaxpr(lambda x: x + jax.numpy.asarray(large))(large)
    tape, constants = build_tape(jaxpr)
    assert len(tape.operands) == 2 and len(constants) == 1
    np.testing.assert_array_equal(tape([large, *constants])[0], 2 * large)
