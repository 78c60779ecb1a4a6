"""Runs functions as single tapes."""

import numpy as np

import onax as jax
from onax._core.trace import as_array
from onax._native.array import make_array
from onax._tape.build import build_tape


def tape_of(fn, *args):
    """(Tape, its operands): the whole of a function of arrays as one tape."""
    args = [as_array(x) for x in args]
    jaxpr = jax.make_jaxpr(fn)(*args)
    tape, constants = build_tape(jaxpr)
    return tape, [*[np.asarray(x._value) for x in args], *constants], jaxpr


def run_tape(fn, *args, python=()):
    """The results of a function, run as one tape.

    Fails if the tape calls other Python kernels than those of the primitives named in `python` (None: any may be).
    """
    tape, operands, jaxpr = tape_of(fn, *args)
    called = {kernel.name for kernel in tape.kernels}
    assert python is None or called <= set(python), (
        f"the tape calls the Python kernels of {sorted(called - set(python or ()))}"
    )
    results = tape(operands)
    return [make_array(x, a.dtype, a.weak_type) for x, a in zip(results, jaxpr.out_avals)]


def check(fn, *args, python=(), rtol=0.0, atol=0.0):
    """Asserts that a function gives the same as one tape as it does eagerly, dtypes included."""
    expected = jax.tree.leaves(fn(*[as_array(x) for x in args]))
    for got, want in zip(run_tape(fn, *args, python=python), expected, strict=True):
        assert got.dtype == want.dtype and got.shape == want.shape
        got, want = _comparable(got), _comparable(want)
        if rtol or atol:
            np.testing.assert_allclose(got, want, rtol=rtol, atol=atol)
        else:
            np.testing.assert_array_equal(got, want)


def _comparable(x):
    """The ndarray of an Array, in a type of which NumPy's assertions know that NaN equals NaN."""
    array = np.asarray(x._value)
    return (
        array.astype(np.float32) if array.dtype.kind == "V" and jax.dtypes.issubdtype(x.dtype, np.floating) else array
    )


def check_bits(fn, *args):
    """Asserts that a function gives the same dtypes, shapes and bits as one tape as it does eagerly."""
    expected = jax.tree.leaves(fn(*[as_array(x) for x in args]))
    for got, want in zip(run_tape(fn, *args), expected, strict=True):
        assert got.dtype == want.dtype and got.shape == want.shape
        assert np.asarray(got._value).tobytes() == np.ascontiguousarray(want._value).tobytes()
