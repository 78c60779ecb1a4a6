"""repeat against NumPy: counts as a number and as an array, known total lengths."""

import numpy as np
import pytest

import onax as jax
from agreement import assert_as_numpy, call
from onax import numpy as jnp

X = np.arange(6.0).reshape(2, 3)
MASK = np.array([[True, False, True], [False, True, True]])
CALLS = [
    call("repeat", X, 2), call("repeat", X, 3, axis=1), call("repeat", X, 0, axis=0),
    call(lambda xp, x: xp.repeat(x, np.array([2, 1]), axis=0), X),
    call("repeat", 5, 3), call("repeat", X[:0], 2, axis=0),
    call(lambda xp, x: xp.repeat(x, np.array([0, 2, 1]), axis=-1), X),
    call(lambda xp, x: xp.repeat(x, MASK if xp is jnp else MASK.ravel()), X),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


def test_a_total_length_lets_counts_be_traced():
    repeated = jax.jit(lambda x, n: jnp.repeat(x, n, total_repeat_length=5))
    assert repeated(jnp.arange(3.0), jnp.array([2, 0, 3])).tolist() == [0, 0, 2, 2, 2]
    assert repeated(jnp.arange(3.0), jnp.array([1, 1, 1])).tolist() == [0, 1, 2, 2, 2]
    assert repeated(jnp.arange(3.0), jnp.array([4, 4, 1])).tolist() == [0, 0, 0, 0, 1]
    slope = jax.grad(lambda x: (jnp.repeat(x, jnp.array([2, 0, 1])) * jnp.arange(3.0)).sum())(jnp.ones(3))
    assert slope.tolist() == [1, 0, 2]


def test_many_slices_to_a_great_length():
    counts = np.random.default_rng(0).integers(0, 9, 20_000)
    x, total = np.arange(20_000, dtype=np.float32), int(counts.sum())
    repeated = jax.jit(lambda x, n: jnp.repeat(x, n, total_repeat_length=total))
    np.testing.assert_array_equal(repeated(x, counts), np.repeat(x, counts))


REFUSED = [
    (lambda: jax.jit(jnp.repeat)(X, 2), jax.errors.ConcretizationTypeError, "total_repeat_length"),
    (lambda: jnp.repeat(X, np.array([1, 2]), axis=1), ValueError, "operands could not be broadcast together"),
    (lambda: jnp.repeat(X, 2, axis=2), ValueError, "out of bounds"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()
