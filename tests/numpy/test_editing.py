"""Arrays with elements replaced, inserted or removed, against NumPy, which edits in place."""

import numpy as np
import pytest

import onax as jax
from agreement import assert_as_numpy, call
from onax import numpy as jnp

X = np.arange(12.0).reshape(3, 4)
I = np.array([5, 0, -1])


def edited(function, *args, **options):
    """What NumPy's function leaves in a copy of its first argument."""
    x = args[0].copy()
    getattr(np, function)(x, *args[1:], **options)
    return x


EDITS = [
    call("fill_diagonal", X, -1.0), call("fill_diagonal", X.T.copy(), -1.0),
    call("fill_diagonal", np.zeros((3, 3, 3)), np.array([1.0, 2, 3])),
    call("put", X, I, np.array([9.0, 8, 7])), call("put", X, I, -1.0), call("put", X, I + 20, 3.0, mode="wrap"),
    call("put", X, I - 20, np.array([1.0, 2]), mode="clip"),
    call("put_along_axis", X, np.array([[0, 3], [1, 1], [2, 0]]), -1.0, axis=1),
    call("put_along_axis", X, np.array([[0, 1, 2, 0]]), np.arange(4.0), axis=0),
    call("place", X, X > 6, np.array([1.0, 2])), call("place", X, X < 0, np.array([1.0])),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), EDITS)
def test_edits(function, args, options):
    want = edited(function, *args, **options)
    ours = lambda *args: getattr(jnp, function)(*args, **options, inplace=False)
    np.testing.assert_array_equal(ours(*args), want)
    np.testing.assert_array_equal(jax.jit(ours)(*args), want)


CALLS = [
    call(lambda xp, x: xp.delete(x, 1, axis=0), X), call(lambda xp, x: xp.delete(x, np.array([0, -1]), axis=1), X),
    call(lambda xp, x: xp.delete(x, slice(1, 9, 2)), X),
    call(lambda xp, x: xp.delete(x, np.array([True, False, True]), 0), X),
    call(lambda xp, x: xp.delete(x, -1), X),
    call(lambda xp, x: xp.insert(x, 1, -1.0, axis=1), X),
    call(lambda xp, x: xp.insert(x, np.array([0, 3, 3]), np.array([7.0, 8, 9])), X),
    call(lambda xp, x: xp.insert(x, slice(0, 2), -2.0, axis=0), X),
    call(lambda xp, x: xp.insert(x, -1, np.arange(4.0), axis=0), X),
    call("trim_zeros", np.array([0.0, 0, 1, 0, 2, 0]), jit=False),
    call("trim_zeros", np.array([0.0, 0, 1, 0]), "f", jit=False),
    call(lambda xp, x, i: xp.insert(x, i, -1.0, axis=1), X, np.int32(-1)),
    call(lambda xp, x, i: xp.insert(x, i, np.arange(3.0), axis=1), X, np.int32(4)),
    call(lambda xp, x, i: xp.insert(x, i, np.arange(8.0).reshape(2, 4), axis=0), X, np.int32(1)),
    call(lambda xp, x, i: xp.insert(x, i, np.arange(8.0).reshape(2, 4), axis=0), X, np.array([2])),
    call(lambda xp, x, i: xp.insert(x, i, np.arange(3.0)), X, np.array([4, 0, 0])),
    call(lambda xp, x, i: xp.insert(x, i, np.arange(6.0).reshape(3, 2), axis=1), X, np.array([-1, 0])),
    call(lambda xp, x, i: xp.insert(x, i, 7.0), X, np.zeros(0, np.int32)),
    call(lambda xp, x, i: xp.delete(x, i, 1, **({"assume_unique_indices": True} if xp is jnp else {})), X, I[:2] % 4),
    call("trim_zeros", np.zeros(3), jit=False), call("trim_zeros", np.zeros(3), "b", jit=False),
    call("trim_zeros", np.pad(X[1:, 1:], 1), axis=0, jit=False),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


REFUSED = [
    (lambda: jnp.fill_diagonal(X, 1.0), (ValueError, NotImplementedError), "inplace=False"),
    (lambda: jnp.put(X, I, 1.0), (ValueError, NotImplementedError), "inplace=False"),
    (lambda: jnp.put(X, I, 1.0, mode="raise", inplace=False), NotImplementedError, "'raise' mode to jnp.put"),
    (lambda: jnp.put(X, I, 1.0, mode="drop", inplace=False), ValueError, "one of 'wrap' or 'clip'"),
    (lambda: jnp.fill_diagonal(X, 1.0, wrap=True, inplace=False), NotImplementedError, "wrap=True"),
    (lambda: jnp.fill_diagonal(X[0], 1.0, inplace=False), ValueError, "2-d"),
    (lambda: jnp.place(X, X > 0, np.zeros(0), inplace=False), ValueError, "empty"),
    (lambda: jnp.delete(X, np.array([1.5])), ValueError, "must be integer or bool"),
    (lambda: jnp.delete(X, np.array([True]), 0), ValueError, "matching specified"),
    (lambda: jnp.insert(X, np.zeros((2, 2), int), 1.0), ValueError, "one-dimensional"),
    (lambda: jnp.insert(X, np.array([1.0, 2.0]), 1.0), ValueError, "must be integer typed"),
    (lambda: jnp.insert(X, np.array([True]), 1.0), ValueError, "must be integer typed"),
    (lambda: jnp.insert(X, I[:2], jnp.ones(3)), ValueError, "Incompatible shapes"),
    (lambda: jax.jit(jnp.trim_zeros)(X[0]), jax.errors.ConcretizationTypeError, "trim_zeros"),
    (lambda: jax.jit(jnp.delete)(X, 1), jax.errors.ConcretizationTypeError, "delete"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()


PLACES = [  # index, its dtype, the mode, where it writes among 600 elements
    (9000, np.int32, None, 599), (-9000, np.int32, None, 0), (-1, np.int8, None, 599), (250, np.uint8, None, 250),
    (-1, np.int32, "clip", 0), (9000, np.uint32, "clip", 599), (100, np.int8, "clip", 100),
    (601, np.int32, "wrap", 1), (-601, np.int64, "wrap", 599), (-9, np.int8, "wrap", 591),
]  # fmt: skip


@pytest.mark.parametrize(("index", "dtype", "mode", "place"), PLACES)
def test_put_out_of_bounds(index, dtype, mode, place):
    x = np.zeros((20, 30), np.float32)
    put = lambda x, i: jnp.put(x, i, 1.0, mode=mode, inplace=False)
    for run in (put, jax.jit(put)):
        assert np.flatnonzero(run(x, np.array([index], dtype))).tolist() == [place]
