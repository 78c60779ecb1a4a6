"""Sets against NumPy: distinct values, unions, differences; known sizes under jit."""

import numpy as np
import pytest

import onax as jax
from agreement import assert_as_numpy, call
from onax import numpy as jnp

X = np.array([3, 1, 3, -2, 1, 7])
Y = np.array([7, 1, 9, 9])
F = np.array([2.0, np.nan, 1.0, np.nan, 2.0])
ROWS = np.array([[1, 2], [0, 5], [1, 2]])
ALL = {"return_index": True, "return_inverse": True, "return_counts": True}
CALLS = [
    call("unique", X, jit=False), call("unique", X, **ALL, jit=False), call("unique", ROWS, axis=0, **ALL, jit=False),
    call("unique", ROWS, **ALL, jit=False),
    call("unique", F, jit=False), call("unique", F, **ALL, jit=False), call("unique", F, equal_nan=False, jit=False),
    call("unique", X[:0], jit=False), call("unique", ROWS, axis=1, jit=False),
    call("unique", np.array([1j, 0, 1j]), jit=False), call("unique", X > 1, jit=False),
    call(lambda xp, x: xp.sort(xp.unique_values(x)), X, jit=False), call("unique_counts", X, jit=False),
    call("unique_inverse", ROWS, jit=False),
    call("unique_all", X, jit=False),
    call("union1d", X, Y, jit=False), call("intersect1d", X, Y, jit=False),
    call("intersect1d", X, Y, return_indices=True, jit=False),
    call("setdiff1d", X, Y, jit=False), call("setxor1d", X, Y, jit=False), call("setdiff1d", Y, X, jit=False),
    call("setdiff1d", X, X, jit=False),
    call("intersect1d", np.array([1, 5]), np.array([5, 2]), assume_unique=True, jit=False),
    call("setxor1d", F[[0, 2]], np.array([1.0]), assume_unique=True, jit=False),
    call("isin", X, Y), call("isin", ROWS, Y, invert=True), call("isin", F, np.array([1.0])), call("isin", X, Y[:0]),
    call("isin", 7, Y),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


def test_known_sizes():
    distinct = jax.jit(lambda x: jnp.unique(x, size=5, fill_value=-9, return_counts=True))
    values, counts = distinct(X)
    assert values.tolist() == [-2, 1, 3, 7, -9] and counts.tolist() == [1, 2, 2, 1, 0]
    assert jax.jit(lambda x: jnp.unique(x, size=2))(X).tolist() == [-2, 1]
    assert jax.jit(lambda x: jnp.unique(x, size=6))(X).tolist() == [-2, 1, 3, 7, -2, -2]
    assert jax.jit(lambda x, y: jnp.union1d(x, y, size=6, fill_value=0))(X, Y).tolist() == [-2, 1, 3, 7, 9, 0]
    assert jax.jit(lambda x, y: jnp.setdiff1d(x, y, size=3, fill_value=0))(X, Y).tolist() == [-2, 3, 0]
    assert jax.jit(lambda x, y: jnp.intersect1d(x, y, size=3, fill_value=0))(X, Y).tolist() == [1, 7, 0]
    assert jax.jit(lambda x, y: jnp.setxor1d(x, y, size=4, fill_value=0))(X, Y).tolist() == [-2, 3, 9, 0]


@pytest.mark.parametrize("method", ["auto", "compare_all", "binary_search", "sort"])
def test_methods_of_isin(method):
    assert jnp.isin(X, Y, method=method).tolist() == np.isin(X, Y).tolist()


REFUSED = [
    (lambda: jax.jit(jnp.unique)(X), jax.errors.ConcretizationTypeError, "size argument"),
    (lambda: jnp.unique(X[:0], size=2), ValueError, "fill_value"),
    (lambda: jnp.unique([1]), TypeError, "requires ndarray"),
    (lambda: jnp.isin(X, Y, method="guess"), ValueError, "guess"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()
