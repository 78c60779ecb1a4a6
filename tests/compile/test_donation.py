"""Donated arguments of calls: which ones results reuse, and what is warned of."""

import numpy as np
import pytest

import onax.numpy as jnp
from onax._compile.donation import delete_moved, moved_donations, usable_donations, warn_of_unused
from onax._native.avals import ShapedArray
from onax._transforms.transfer import device_put

F, I = ShapedArray((3,), np.dtype(np.float32)), ShapedArray((3,), np.dtype(np.int32))


@pytest.mark.parametrize(
    "donated, ins, outs, used",
    [
        ((True, False), (F, F), (F,), [0]),
        ((True, True), (F, F), (F,), [0]),
        ((True, True), (F, I), (I, F), [0, 1]),
        ((True,), (F,), (I,), []),
        ((False,), (F,), (F,), []),
    ],
)
def test_each_result_takes_one_donated_argument(donated, ins, outs, used):
    assert usable_donations(donated, ins, outs) == used


def test_the_others_are_warned_of():
    with pytest.warns(UserWarning, match=r"not usable: float32\[3\], int32\[3\]"):
        warn_of_unused((True, True, True), [1], (F, F, I))
    warn_of_unused((True, False), [0], (F, F))


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
