"""Instructions that call Python."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from tape.harness import check, run_tape, tape_of

X = np.linspace(0, 1, 8, dtype=np.float32)


def test_a_callback_runs_in_every_step():
    seen = []

    def note(x):
        seen.append(float(x))
        return np.float32(x + 1)

    out = jax.ShapeDtypeStruct((), np.dtype(np.float32))
    fn = lambda x: lax.fori_loop(0, 3, lambda i, c: jax.pure_callback(note, out, c), x)
    (result,) = run_tape(fn, np.float32(1), python=("pure_callback",))
    assert float(result) == 4.0 and seen[-3:] == [1.0, 2.0, 3.0]


def test_an_exception_ends_the_tape_and_leaves_it_usable():
    answers = iter([np.float32(1), ZeroDivisionError("no more"), np.float32(2), np.float32(3)])

    def answer(x):
        found = next(answers)
        if isinstance(found, Exception):
            raise found
        return found

    out = jax.ShapeDtypeStruct((), np.dtype(np.float32))
    fn = lambda x: jax.pure_callback(answer, out, jax.pure_callback(answer, out, x))
    tape, operands, _ = tape_of(fn, np.float32(0))
    with pytest.raises(Exception, match="no more"):
        tape(operands)
    assert float(tape(operands)[0]) == 3.0


def test_a_callback_may_call_a_jitted_function():
    double = jax.jit(lambda x: x * 2)
    out = jax.ShapeDtypeStruct((8,), np.dtype(np.float32))
    fn = lambda x: jax.pure_callback(lambda v: np.asarray(double(v)), out, x)
    np.testing.assert_array_equal(np.asarray(run_tape(fn, X, python=("pure_callback",))[0]), X * 2)


def test_kernels_of_numpy_are_the_last_resort():
    check(lambda x: jnp.linalg.svd(x.reshape(2, 4), compute_uv=False), X, python=None, rtol=1e-5)
