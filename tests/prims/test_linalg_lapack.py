"""Handing LAPACK's routines to instructions."""

import numpy as np

from onax import lax
from onax._native.tape import attach_lapack
from onax._prims import linalg_lapack as lapack
from tape.harness import run_tape


def test_attaching_twice_is_attaching_once():
    lapack.attach()
    lapack.attach()
    v, w = run_tape(lambda x: lax.linalg.eigh(x, symmetrize_input=False), np.diag([2.0, 1.0]).astype(np.float32))
    np.testing.assert_array_equal(np.asarray(w._value), [1, 2])
    assert v.shape == (2, 2)


def test_routines_that_are_missing_are_left_as_they_are():
    attach_lapack({})
    (w,) = run_tape(lambda x: lax.linalg.svd(x, compute_uv=False), np.diag([3.0, 4.0]).astype(np.float32))
    np.testing.assert_allclose(np.asarray(w._value), [4, 3])
