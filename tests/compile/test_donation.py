"""Donated arguments of calls: which ones results reuse, and what is warned of."""

import warnings

import numpy as np
import pytest

import onax.numpy as jnp
from onax import jit, make_jaxpr
from onax._compile.donation import delete_moved, moved_donations, usable_donations, warn_of_unused
from onax._native.avals import ShapedArray
from onax._transforms.transfer import device_put
from onax.extend.core import jaxpr_as_fun

F, I, H, S = (
    ShapedArray(shape, np.dtype(dtype)) for shape, dtype in (((3,), "f4"), ((3,), "i4"), ((3,), "f2"), ((), "f4"))
)


@pytest.mark.parametrize(
    "donated, ins, outs, used",
    [
        ((True, False), (F, F), (F,), [0]),
        ((True, True), (F, F), (F,), [0]),
        ((True, True), (F, I), (I, F), [0, 1]),
        ((True,), (F,), (I,), [0]),
        ((True,), (F,), (H,), []),
        ((True, True), (F, H), (H, F), [0, 1]),
        ((False,), (F,), (F,), []),
    ],
)
def test_each_result_takes_one_donated_argument(donated, ins, outs, used):
    assert usable_donations(donated, ins, outs) == used


def test_the_others_are_warned_of():
    with pytest.warns(UserWarning, match=r"not usable: float32\[3\], int32\[3\]\."):
        warn_of_unused((True, True, True, True), (H, F, F, I), (F, S, I))
    warn_of_unused((True, False), (F, F), (H,))


def test_arrays_that_were_moved_go_with_their_copies():
    x, kept = jnp.ones(3), jnp.ones(3)
    copy = device_put(x) + 0
    moved = moved_donations((True, True, False), (x, kept, kept), (copy, kept, copy))
    assert [pair[0] is x for pair in moved] == [True]
    delete_moved(moved)
    assert not x.is_deleted()
    copy.delete()
    delete_moved(moved)
    assert x.is_deleted() and not kept.is_deleted()


def test_arguments_that_a_program_does_not_read_are_kept():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for function in (lambda x: 1, lambda x: jnp.ones(3)):
            x = jnp.ones(3)
            jit(function, donate_argnums=0)(x)
            assert not x.is_deleted()
    with pytest.warns(UserWarning, match=r"not usable: float32\[3\]"):
        jit(lambda x: 1, donate_argnums=0, keep_unused=True)(x)


@pytest.mark.parametrize("function", [lambda x: x.astype(int), lambda x: x.reshape(2, 2), lambda x: 2 * x])
def test_a_result_of_as_many_bytes_reuses_an_argument(function):
    x = jnp.ones(4)
    jit(function, donate_argnums=0)(x)
    assert x.is_deleted()


def test_programs_that_are_evaluated_delete_what_they_are_given():
    program = make_jaxpr(jit(lambda x, y: (x, x * 2, y), donate_argnums=(0, 1)))(jnp.ones(3), jnp.ones(2))
    x, y = jnp.arange(3.0), jnp.arange(2.0)
    same, doubled, other = jaxpr_as_fun(program)(x, y)
    assert x.is_deleted() and y.is_deleted()
    assert (same.tolist(), doubled.tolist(), other.tolist()) == ([0, 1, 2], [0, 2, 4], [0, 1])
