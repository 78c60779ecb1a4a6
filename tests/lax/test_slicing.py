"""Slices and updates along one axis: against NumPy, with indices counted from the end and out of bounds."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax

X = np.arange(12.0, dtype=np.float32).reshape(3, 4)
STARTS = {0: 0, 2: 2, -1: 3, 9: 3, -9: 0}  # index along an axis of 4: where it is clamped to


def both(function, *args):
    """The result, which is the same with traced indices."""
    eager, jitted = function(*args), jax.jit(function)(*args)
    np.testing.assert_array_equal(eager, jitted)
    return np.asarray(eager)


@pytest.mark.parametrize("index", STARTS)
def test_one_index(index):
    at = STARTS[index]
    read = lambda x, i: lax.dynamic_index_in_dim(x, i, 1)
    np.testing.assert_array_equal(both(read, X, index), X[:, [at]])
    np.testing.assert_array_equal(both(lambda x, i: lax.dynamic_index_in_dim(x, i, -1, False), X, index), X[:, at])
    want = X.copy()
    want[:, at] = -1
    for update in (np.full(3, -1, np.float32), np.full((3, 1), -1, np.float32)):
        write = lambda x, u, i: lax.dynamic_update_index_in_dim(x, u, i, 1)
        np.testing.assert_array_equal(both(write, X, update, index), want)


@pytest.mark.parametrize("start", [0, 1, -2, 3, -9])
def test_several_indices(start):
    at = min(max(start + 4 * (start < 0), 0), 2)
    np.testing.assert_array_equal(both(lambda x, i: lax.dynamic_slice_in_dim(x, i, 2, 1), X, start), X[:, at : at + 2])
    want = X.copy()
    want[:, at : at + 2] = 0
    write = lambda x, u, i: lax.dynamic_update_slice_in_dim(x, u, i, 1)
    np.testing.assert_array_equal(both(write, X, np.zeros((3, 2), np.float32), start), want)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint32])
def test_numpy_scalars_of_any_integer_dtype_as_indices(dtype):
    i = dtype(1)
    for wrap in (lambda f: f, jax.jit):
        assert wrap(lambda x: lax.dynamic_slice_in_dim(x, i, 2))(X).tolist() == X[1:3].tolist()
        assert wrap(lambda x: lax.dynamic_index_in_dim(x, i))(X).tolist() == X[1:2].tolist()
        updated = wrap(lambda x: lax.dynamic_update_slice_in_dim(x, x[:1], i, 0))(X)
        assert updated.tolist() == X[[0, 0, 2]].tolist()
        assert wrap(lambda x: lax.dynamic_update_index_in_dim(x, x[0], i, 0))(X).tolist() == updated.tolist()


def test_indices_that_are_not_counted_from_the_end():
    read = lambda x, i: lax.dynamic_slice_in_dim(x, i, 2, 0, allow_negative_indices=False)
    np.testing.assert_array_equal(jax.jit(read)(X, -1), X[:2])


def test_values_take_the_dtype_of_the_operand():
    got = lax.dynamic_update_index_in_dim(np.arange(3, dtype=np.int8), 7, 1, 0)
    assert got.tolist() == [0, 7, 2] and got.dtype == np.int8


def test_names_of_calls_and_refusals():
    assert "name=dynamic_index_in_dim" in str(jax.make_jaxpr(lambda x, i: lax.dynamic_index_in_dim(x, i))(X, 1))
    with pytest.raises(TypeError, match="rank of operand, or one less"):
        lax.dynamic_update_index_in_dim(X, np.float32(1), 0, 0)
    with pytest.raises(ValueError, match="axis"):
        lax.dynamic_slice_in_dim(X, 0, 1, axis=2)


def test_ints_that_do_not_fit():
    for call in (
        lambda n: lax.dynamic_index_in_dim(jnp.zeros(4), n),
        lambda n: lax.dynamic_update_index_in_dim(jnp.zeros(4), 1.0, n, 0),
    ):
        for n in (2**31, -(2**31) - 1):
            with pytest.raises(OverflowError):
                call(n)
