"""Collectives as functions: trees, axes of the operand, values that are the same everywhere, what is refused."""

import numpy as np
import pytest

import onax as jax
from onax import lax
from onax import numpy as jnp

X = np.arange(12.0, dtype=np.float32).reshape(4, 3)


def over(function, *args, size=4):
    """The results of every example along an axis named i."""
    return jax.vmap(function, axis_name="i", axis_size=size)(*args)


REDUCTIONS = {"psum": np.sum, "pmean": np.mean, "pmax": np.max, "pmin": np.min}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_of_trees_over_named_and_own_axes(name):
    function, meaning = getattr(lax, name), REDUCTIONS[name]
    named = over(lambda x: function({"a": x, "b": [2 * x]}, "i"), X)
    np.testing.assert_allclose(named["a"], np.broadcast_to(meaning(X, 0), X.shape))
    np.testing.assert_allclose(named["b"][0], 2 * named["a"])
    both = jax.jit(lambda x: over(lambda x: function(x, ("i", 0)), x))(X)
    np.testing.assert_allclose(both, np.full(4, meaning(X)))
    assert function([], "i") == []


def test_values_that_are_no_tracers_are_the_same_everywhere():
    found = over(lambda x: (lax.psum(1, "i"), lax.psum(np.float32(2), "i"), lax.pmax(3, "i")), X)
    assert [int(f[0]) for f in found] == [4, 8, 3]
    counts = []
    over(lambda x: counts.append(lax.psum(1, "i")) or x, X)
    assert counts == [4] and type(counts[0]) is int
    assert over(lambda x: lax.psum(x > 5, "i"), X).dtype == np.int32


def test_groups_of_indices():
    groups = [[0, 2], [1, 3]]
    got = over(lambda x: lax.pmean(x, "i", axis_index_groups=groups), X)
    np.testing.assert_allclose(got, [(X[0] + X[2]) / 2, (X[1] + X[3]) / 2] * 2)


FOUR = np.arange(4, dtype=np.float32)
MOVES = {
    "all_gather": (lambda x: lax.all_gather(x, "i", axis=1), lambda x: np.stack([x.T] * 4)),
    "all_gather tiled": (lambda x: lax.all_gather(x, "i", tiled=True), lambda x: np.stack([x.ravel()] * 4)),
    "ppermute": (lambda x: lax.ppermute(x, "i", [(0, 1), (3, 0)]), lambda x: np.stack([x[3], x[0], *np.zeros((2, 3))])),
    "pshuffle": (lambda x: lax.pshuffle(x, "i", [2, 0, 3, 1]), lambda x: x[[2, 0, 3, 1]]),
    "pbroadcast": (lambda x: lax.pbroadcast(x, "i", 2), lambda x: np.stack([x[2]] * 4)),
    "psum_scatter": (lambda x: lax.psum_scatter(jnp.outer(FOUR, x), "i"), lambda x: np.outer(FOUR, x.sum(0))),
    "pswapaxes": (lambda x: lax.pswapaxes(FOUR[:, None] + x, "i", 0), lambda x: FOUR[:, None, None] + x),
    "all_to_all tiled": (
        lambda x: lax.all_to_all(jnp.tile(x, 4), "i", 0, 0, tiled=True), lambda x: np.stack([x.ravel()] * 4)
    ),
    "axis_index": (lambda x: lax.axis_index("i"), lambda x: np.arange(4)),
    "axis_size": (lambda x: jnp.int32(lax.axis_size("i")), lambda x: np.full(4, 4)),
}  # fmt: skip


@pytest.mark.parametrize("name", MOVES)
def test_moves(name):
    function, meaning = MOVES[name]
    np.testing.assert_array_equal(over(function, X), meaning(X))


def test_index_along_several_axes():
    index = jax.vmap(jax.vmap(lambda x: lax.axis_index(("i", "j")), axis_name="j"), axis_name="i")(X)
    assert index.tolist() == np.arange(12).reshape(4, 3).tolist() and index.dtype == np.int32


REFUSED = [
    (lambda x: lax.psum(x, "j"), NameError, "j"),
    (lambda x: lax.psum(x, ("i", "i")), ValueError, "duplicate"),
    (lambda x: lax.psum(x, "i", axis_index_groups=[[0, 1]]), ValueError, "cover all indices"),
    (lambda x: lax.pmean(x, "i", axis_index_groups=[[0], [1, 2, 3]]), ValueError, "same size"),
    (lambda x: lax.pmax(x, ["i", []]), TypeError, "hash"),
    (lambda x: lax.all_gather(x, "i", to="reduced"), NotImplementedError, "needs shard_map"),
    (lambda x: lax.all_gather(x, "i", to="unreduced"), ValueError, "Got unexpected `to` value"),
    (lambda x: lax.all_gather(x, "i", axis=3), ValueError, "out of bounds"),
    (lambda x: lax.psum_scatter(x, "i"), ValueError, "is not the axis size 4"),
    (lambda x: lax.all_to_all(x, "i", 0, 0), ValueError, "they are 4 and 3"),
    (lambda x: lax.all_to_all(x, "i", 0, 0, tiled=True), ValueError, "divisible"),
    (lambda x: lax.ppermute(x, "i", [(0, 1), (0, 2)]), ValueError, "unique"),
    (lambda x: lax.ppermute(x, "i", [(0, 4)]), ValueError, "must lie in"),
    (lambda x: lax.pshuffle(x, "i", [0, 0, 1, 2]), ValueError, "permutation"),
    (lambda x: lax.pbroadcast(x, "i", 4), ValueError, "not an index"),
    (lambda x: lax.pcast(x, "i", to="varying"), ValueError, "under jax.shard_map"),
]


@pytest.mark.parametrize(("function", "error", "words"), REFUSED)
def test_refusals(function, error, words):
    with pytest.raises(error, match=words):
        over(function, X)


def test_halves_of_transfers_are_refused():
    for call in (lambda: lax.psend(1.0, "i", [(0, 1)]), lambda: lax.precv(lax.create_token(), 1.0, "i", [(0, 1)])):
        with pytest.raises(NotImplementedError, match=r"use lax\.ppermute"):
            call()
