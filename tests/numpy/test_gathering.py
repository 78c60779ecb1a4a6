"""Elements at indices, diagonals and triangles, against NumPy; modes of indices out of bounds."""

import numpy as np
import pytest

import onax as jax
from agreement import assert_as_numpy, call
from onax import numpy as jnp

X = np.arange(24.0).reshape(4, 6)
T = np.arange(24).reshape(2, 3, 4)
I = np.array([[0, 3], [2, -1]])
MASK = np.array([[True, False, True], [False, True, True]])
CALLS = [
    call("take", X, I), call("take", X, I, axis=0), call("take", X, I, axis=-1), call("take", X, 2, axis=1),
    call("take", T, I, 2),
    call("take", X, np.abs(I) * 9, mode="clip"), call("take", X, I * 9, mode="wrap"),
    call(lambda xp, x: xp.take(x, MASK if xp is jnp else MASK.astype(int)), X),
    call(lambda xp, x: xp.take(x, np.zeros((0, 2), int)), X),
    call("take_along_axis", X, np.argsort(-X, 1), axis=1),
    call("take_along_axis", X, np.array([[3, 0, 1, 2, -1, 0]]), axis=0),
    call("take_along_axis", X, I.ravel(), axis=None), call("take_along_axis", T, np.array([[[1]], [[-2]]]), axis=1),
    call("diagonal", X), call("diagonal", X, 2), call("diagonal", X, -1), call("diagonal", T, 1, 2, 0),
    call("diagonal", X, 9),
    call("diag", X), call("diag", X[0], 2), call("diag", X[0], -1), call("diag", X, -2), call("diagflat", X[:2, :2], 1),
    call("tril", X), call("tril", X, 1), call("triu", X, -1), call("triu", T), call("tril", T > 3, 9),
    call("triu", T[0], 2),
    call("trace", X), call("trace", T, 1, 2, 1), call("trace", T.astype(np.int8)), call("trace", X > 3, dtype=np.int32),
    call(lambda xp, a, b, c: xp.choose(a, [b, c, 7.0]), np.array([0, 1, 2, 0]), X[:, 0], X[:, 1], jit=False),
    call(lambda xp, a, b: xp.choose(a, [b, -b], mode="wrap"), np.array([-1, 2, 3]), X[0, :3]),
    call(lambda xp, a, b: xp.choose(a, [b, -b], mode="clip"), np.array([-1, 2, 3]), X[0, :3]),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


def test_out_of_bounds_is_nan_or_what_is_asked_for():
    x = jnp.arange(3.0)
    for run in (lambda f, *a: f(*a), lambda f, *a: jax.jit(f)(*a)):
        assert np.isnan(run(lambda x: jnp.take(x, jnp.array([1, 9])), x)).tolist() == [False, True]
        assert run(lambda x: jnp.take(x, jnp.array([1, 9]), fill_value=-1.0), x).tolist() == [1, -1]
        assert run(lambda i: jnp.take(i, jnp.array([1, -9])), jnp.arange(3)).tolist() == [1, np.iinfo(np.int32).min]
        assert np.isnan(run(lambda x: jnp.take_along_axis(x, jnp.array([7]), 0), x)).all()
        assert run(lambda x: jnp.take_along_axis(x, jnp.array([7]), 0, mode="clip"), x).tolist() == [2]


def test_slopes():
    x = jnp.arange(4.0)
    assert jax.grad(lambda x: jnp.take(x, jnp.array([1, 1, 3])).sum())(x).tolist() == [0, 2, 0, 1]
    assert jax.jit(jax.grad(jnp.trace))(jnp.ones((2, 3))).tolist() == [[1, 0, 0], [0, 1, 0]]


REFUSED = [
    (lambda: jnp.take(X, 1.5), (TypeError, ValueError), "integer"),
    (lambda: jnp.take(X, 0, axis=2), ValueError, "out of bounds"),
    (lambda: jnp.take(X, 0, mode="raise"), NotImplementedError, "raise"),
    (lambda: jnp.take_along_axis(X, I[0], axis=0), ValueError, "dimension"),
    (lambda: jnp.take_along_axis(X, X, axis=0), TypeError, "integer"),
    (lambda: jnp.take(X[:0], np.array([0]), axis=0), IndexError, "non-empty jnp.take"),
    (lambda: jnp.diagonal(X[0]), ValueError, "two"),
    (lambda: jnp.diag(T), ValueError, "1d or 2d|1- or 2-d"),
    (lambda: jnp.tril(jnp.float32(1)), ValueError, "at least 2D"),
    (lambda: jnp.choose(np.array([0, 5]), [1.0, 2.0]), ValueError, "invalid entry|out of bounds"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()
