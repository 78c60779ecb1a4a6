"""Grids and joined arrays written in brackets, against NumPy."""

import numpy as np
import pytest

from agreement import assert_as_numpy, call
from onax import numpy as jnp

X = np.arange(3.0)
CALLS = [
    call(lambda xp: xp.mgrid[0:3]), call(lambda xp: xp.mgrid[0:2, 1:4]), call(lambda xp: xp.mgrid[0:1:3j, 5:3:-1]),
    call(lambda xp: xp.ogrid[0:3, 1:9:4]), call(lambda xp: xp.ogrid[0:1:3j]), call(lambda xp: xp.ogrid[0:2, 0:3, 0:1]),
    call(lambda xp, x: xp.r_[x, 5, x], X), call(lambda xp: xp.r_[1:4, 0, 7]), call(lambda xp: xp.r_[-1:1:5j]),
    call(lambda xp, x: xp.r_["0,2", x, x], X), call(lambda xp, x: xp.r_["1,2,0", x, x], X),
    call(lambda xp, x: xp.r_["-1,3,0", x], X),
    call(lambda xp, x: xp.c_[x, x + 1], X), call(lambda xp, x: xp.c_[np.ones((3, 2)), x], X),
    call(lambda xp: xp.c_[1:4]),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


def test_index_expressions_are_those_of_numpy():
    assert jnp.s_[1:, None, ..., 2] == np.s_[1:, None, ..., 2] and jnp.index_exp[3] == (3,)


def test_grids_of_nothing():
    assert jnp.mgrid[()].shape == (0,) and jnp.ogrid[()] == []


REFUSED = [
    (lambda: jnp.r_["a,b", X], ValueError, "directive"),
    (lambda: jnp.r_[X, "0,2"], ValueError, "at the beginning"),
    (lambda: jnp.c_[X, X[:2]], (TypeError, ValueError), "[Cc]oncatenate|dimension"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()
