"""Shapes and order of elements, against NumPy; symbolic sizes; types of results."""

import numpy as np
import pytest

import onax as jax
from agreement import assert_as_numpy, call
from onax import numpy as jnp

X = np.arange(6.0).reshape(2, 3)
T = np.arange(24).reshape(2, 3, 4)
V = np.arange(4)
CALLS = [
    call("reshape", X, (3, 2)), call("reshape", X, -1), call("reshape", T, (4, -1), "F"), call("ravel", T),
    call("ravel", T, "F"), call("reshape", X[:0], (0, 7)),
    call("transpose", T), call("transpose", T, (1, 0, 2)), call("permute_dims", T, (2, 0, 1)),
    call("matrix_transpose", T), call("swapaxes", T, 0, -1),
    call("moveaxis", T, 0, -1), call("moveaxis", T, (0, 1), (2, 0)), call("rollaxis", T, 2), call("rollaxis", T, 0, 3),
    call("squeeze", X[None, :, None]), call("squeeze", X[None, :, None], 0), call("expand_dims", X, 1),
    call("expand_dims", X, (0, -1)),
    call("broadcast_arrays", X, X[0], 5.0), call("atleast_1d", 3), call("atleast_2d", V), call("atleast_3d", V),
    call("atleast_3d", X), call("atleast_2d", V, 1.0),
    call("tile", X, 2), call("tile", X, (2, 1, 3)), call("tile", V, 0), call("resize", X, (4, 4)),
    call("resize", X, (2, 0)), call("resize", X[:0], (3,)),
    call("flip", T), call("flip", T, (0, 2)), call("flipud", X), call("fliplr", X),
    *[call("rot90", T, k, (2, 0)) for k in (0, 1, 2, 3, -1)],
    call("roll", X, 1), call("roll", X, -2, 1), call("roll", T, (1, 5), (0, 2)), call("roll", T, 3, (0, 1)),
    call("roll", X[:0], 1),
    call("broadcast_to", V, (3, 4)), call(lambda xp, x: xp.roll(x, xp.asarray(2)), V),
    call(lambda xp, x: xp.tile(x, np.array([2, 1])), X),
    call(lambda xp: xp.asarray(xp.size([[1, 2], [3, 4]]))),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


def test_shapes_are_known_without_an_array():
    assert (jnp.shape([[1, 2]]), jnp.ndim(3), jnp.size(T), jnp.size(T, 1), jnp.size(T, (0, 2))) == ((1, 2), 0, 24, 3, 8)
    assert jnp.broadcast_shapes((2, 1), (3,), ()) == (2, 3)
    assert jax.jit(lambda x: x.reshape(jnp.size(x, 0), -1))(T).shape == (2, 12)


TRACED_SHIFTS = [
    (-7, 2, np.int32), ([1, 2], (0, 1), np.int32), ([4, 2, 5], None, np.int32), ([1, 2, 1], 1, np.int32),
    (3, (0, 2), np.int32), (1.7, 0, np.float32), (100, None, np.uint8), (True, 0, np.bool_),
]  # fmt: skip


@pytest.mark.parametrize(("shift", "axis", "dtype"), TRACED_SHIFTS)
def test_shifts_that_are_traced(shift, axis, dtype):
    x = np.arange(600).reshape(5, 4, 30)
    rolled = jax.jit(jnp.roll, static_argnames="axis")(x, np.array(shift, dtype), axis=axis)
    np.testing.assert_array_equal(rolled, np.roll(x, np.array(shift).astype(int), axis))


TYPES = [
    (lambda: jnp.reshape(2.0, (1, 1)), "float32", True),
    (lambda: jnp.tile(jnp.bfloat16(1), 3), "bfloat16", False),
]


@pytest.mark.parametrize(("make", "dtype", "weak"), TYPES)
def test_types(make, dtype, weak):
    assert (str(make().dtype), make().weak_type) == (dtype, weak)


def test_slopes():
    x = jnp.arange(3.0)
    assert jax.grad(lambda x: (jnp.tile(x, 2) * jnp.arange(6.0)).sum())(x).tolist() == [3, 5, 7]
    assert jax.jit(jax.grad(lambda x: jnp.roll(x, 1) @ x))(x).tolist() == [3, 2, 1]


REFUSED = [
    (lambda: jnp.reshape(X, (4, 2)), TypeError, "reshape"),
    (lambda: jnp.ones(2).reshape(3), TypeError, r"of shape \(2,\) \(size 2\) into shape 3 \(size 3\)"),
    (lambda: jnp.reshape(X, [3, 3]), TypeError, r"into shape \[3, 3\] \(size 9\)"),
    (lambda: jnp.ones(2).reshape(1.5), TypeError, r"of integer type, got \[1.5\]"),
    (lambda: jnp.reshape(X, (-1, -1)), TypeError, "one unknown"),
    (lambda: jnp.reshape(X, (6,), order="K"), (ValueError, NotImplementedError), "order|K"),
    (lambda: jnp.squeeze(X, 0), ValueError, "size"),
    (lambda: jnp.moveaxis(T, (0, 0), (1, 2)), (TypeError, ValueError), "axes|permutation"),
    (lambda: jnp.expand_dims(X, (0, 0)), ValueError, "repeated"),
    (lambda: jnp.rot90(T, axes=(0, 0)), ValueError, "different"),
    (lambda: jnp.rollaxis(T, 0, 5), ValueError, "start"),
    (lambda: jnp.transpose(T, (0, 1)), (TypeError, ValueError), "permutation|axes"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()
