"""Recorded tapes compute what others do, and name the equation, the location and the time of each instruction."""

import numpy as np

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._compile.pipeline import native_program, optimize
from onax._tape.recording import record_tape, with_recorded_tape
from onax.extend.core import Primitive


def tape_equation(fun, *args):
    """The one equation of `tape_p` that a function becomes."""
    (eqn,) = native_program(optimize(jax.jit(fun).trace(*args).jaxpr, "f")).eqns
    return eqn


def nested(x):
    def step(c, _):
        c = lax.cond(c[0] > 0.5, jnp.sort, lambda c: jnp.cumsum(c) * 0.1, c)
        return c, jnp.max(c)

    return lax.scan(step, x, None, length=7)


X = np.linspace(0, 1, 4, dtype=np.float32)


def test_a_recorded_tape_computes_the_same_and_counts():
    eqn = tape_equation(nested, X)
    recording = record_tape(eqn.params["jaxpr"])
    results = recording.tape([X])
    for got, want in zip(results, jax.tree.leaves(jax.jit(nested)(X))):
        np.testing.assert_array_equal(got, want)
    runs = {}
    for part in recording.timings():
        for instruction, count, nanoseconds in part:
            assert nanoseconds >= 0
            assert (nanoseconds > 0) <= (count > 0)
            runs.setdefault(instruction.operation, []).append(count)
    assert runs["loop"] == [1]
    assert runs["branch"] == [7]
    assert sum(runs["sort"]) + sum(runs["cumulative"]) == 7


def test_parts_are_those_that_an_instruction_holds():
    recording = record_tape(tape_equation(nested, X).params["jaxpr"])
    (loop,) = recording.parts[0]
    (body,) = loop.parts
    branch = next(q for q in recording.parts[body] if q.operation == "branch")
    held = [q.operation for part in branch.parts for q in recording.parts[part]]
    assert len(branch.parts) == 2
    assert {"sort", "cumulative"} <= set(held)

    recording = record_tape(
        tape_equation(lambda x: lax.while_loop(lambda c: c < 9, lambda c: c * 2, x), 1.0).params["jaxpr"]
    )
    (loop,) = recording.parts[0]
    assert [q.eqn.primitive.name for part in loop.parts for q in recording.parts[part]] == ["lt", "mul"]


def test_equations_locations_and_kernels_are_told():
    thrice = Primitive("thrice")
    thrice.def_impl(lambda x: x * 3)
    thrice.def_abstract_eval(lambda x: x)
    recording = record_tape(tape_equation(lambda x: jnp.sort(thrice.bind(x)), X).params["jaxpr"])
    (call,) = [q for q in recording.parts[0] if q.operation == "call"]
    assert call.kernel.name == call.eqn.primitive.name
    assert call.kernel.reason
    assert all(q.location is not None for part in recording.parts for q in part)
    assert all(q.bytes > 0 for part in recording.parts for q in part)


def test_an_equation_takes_the_recorded_tape():
    eqn = tape_equation(nested, X)
    new, recording = with_recorded_tape(eqn)
    assert new.primitive is eqn.primitive
    assert new.params["jaxpr"].cache["tape"][0] is recording.tape
    assert new.params["jaxpr"].cache is not eqn.params["jaxpr"].cache
