"""stack, unstack and tile: what NumPy gives, the inverse, derivatives without copies of zeros, errors."""

import numpy as np
import pytest

import onax as jax
from native_passes import names
from onax._prims.stacking import stack, tile, unstack

X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_stacking_and_its_inverse(axis):
    whole = stack([X, X + 1, X + 2], axis)
    np.testing.assert_array_equal(whole, np.stack([X, X + 1, X + 2], axis))
    parts = unstack(whole, axis)
    assert type(parts) is tuple and len(parts) == 3
    for i, part in enumerate(parts):
        np.testing.assert_array_equal(part, X + i)
    assert unstack(np.zeros((0, 2)), 0) == ()


@pytest.mark.parametrize("reps", [(1, 1), (2, 1), (3, 2), (0, 2)])
def test_tiling(reps):
    np.testing.assert_array_equal(tile(X, reps), np.tile(X, reps))
    (back,) = jax.linear_transpose(lambda x: tile(x, reps), X)(np.ones((2 * reps[0], 3 * reps[1]), np.float32))
    np.testing.assert_array_equal(back, np.full((2, 3), reps[0] * reps[1]))


@pytest.mark.parametrize("call, error, text", [
    (lambda: stack([]), ValueError, "at least one"),
    (lambda: stack([X, X.T]), ValueError, "shape"),
    (lambda: stack([X], 5), ValueError, "axis"),
    (lambda: tile(X, (2,)), TypeError, r"got len\(reps\)=1 and x.ndim=2"),
    (lambda: tile(X, (-1, 1)), ValueError, "non-negative repetitions"),
])  # fmt: skip
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_transposes_are_one_another():
    pulled = jax.make_jaxpr(lambda ct: jax.linear_transpose(lambda *xs: stack(xs), X, X)(ct))(np.stack([X, X]))
    assert names(pulled) == ["unstack"]
    only = jax.grad(lambda x: (unstack(x)[1] * 2).sum())(X)
    np.testing.assert_array_equal(only, [[0, 0, 0], [2, 2, 2]])


@pytest.mark.parametrize("axis, dim", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_batching(axis, dim):
    got = jax.vmap(lambda x: stack([x, x * 2], axis), dim)(X)
    np.testing.assert_array_equal(got, np.stack([np.stack([x, x * 2], axis) for x in np.moveaxis(X, dim, 0)]))
    got = jax.vmap(lambda x: tile(x, (3,)), dim)(X)
    np.testing.assert_array_equal(got, np.stack([np.tile(x, 3) for x in np.moveaxis(X, dim, 0)]))
