"""Handing LAPACK's routines to instructions."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.linalg.cython_lapack

import onax as jax
from onax import lax
from onax._native.tape import attach_lapack, forget_lapack_calls
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


@pytest.fixture
def threads():
    """(get, set) of OpenBLAS's number of threads, which is 2 meanwhile."""
    lapack.attach()
    functions = lapack.thread_functions(scipy.linalg.cython_lapack.__file__)
    if functions is None:
        pytest.skip("SciPy has another library than OpenBLAS with threads of its own")
    get, set_threads = functions
    before = get()
    set_threads(2)
    yield functions
    set_threads(before)


def decompose_until(seen):
    """Whether `seen` gave True while eigenvectors were being computed."""
    x = np.random.default_rng(0).normal(size=(20, 150, 150))
    with jax.enable_x64(True), ThreadPoolExecutor(1) as pool:
        for _ in range(50):
            future = pool.submit(lambda: np.asarray(lax.linalg.eigh(x)[0]))
            while not future.done():
                if seen():
                    future.result()
                    return True
            future.result()
    return False


def test_the_library_has_one_thread_while_an_instruction_runs(threads):
    get, _ = threads
    assert decompose_until(lambda: get() == 1)
    assert get() == 2


def test_a_number_of_threads_that_is_set_meanwhile_stays(threads):
    get, set_threads = threads

    def seen():
        if get() == 1:
            set_threads(3)
            return True
        return False

    assert decompose_until(seen)
    assert get() == 3


def test_the_calls_of_a_forked_process_count_from_none(threads):
    get, _ = threads
    forget_lapack_calls()
    assert decompose_until(lambda: get() == 1)
    assert get() == 2
