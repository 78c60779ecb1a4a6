"""Arrays of indices, against NumPy."""

import numpy as np
import pytest

import onax as jax
from agreement import assert_as_numpy, call
from onax import numpy as jnp

M = np.ones((4, 3))
CALLS = [
    call("diag_indices", 3), call("diag_indices", 2, 4), call("diag_indices_from", np.ones((3, 3, 3))),
    call("tril_indices", 3), call("tril_indices", 3, -1, 5), call("tril_indices", 2, 9), call("triu_indices", 4, 1),
    call("triu_indices", 2, -1, 3), call("tril_indices_from", M), call("triu_indices_from", M, 1),
    call("ix_", np.array([0, 2]), np.array([1])),
    call(lambda xp: xp.mask_indices(3, xp.triu), jit=False),
    call(lambda xp: xp.mask_indices(4, xp.tril, -1), jit=False),
    call("unravel_index", np.array([0, 7, 23]), (2, 3, 4)), call("unravel_index", 5, (3, 3)),
    call("ravel_multi_index", (np.array([1, 0]), np.array([2, 1])), (2, 3)),
    call("ravel_multi_index", (np.array([5, -7]), np.array([2, 9])), (2, 3), mode="wrap"),
    call("ravel_multi_index", (np.array([5, -7]), np.array([2, 9])), (2, 3), mode="clip"),
    call("ravel_multi_index", (np.array([1, 0]), np.array([2, 1])), (2, 3), order="F"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


def test_indices_traced():
    assert [int(i) for i in jax.jit(lambda i: jnp.unravel_index(i, (3, 4)))(7)] == [1, 3]
    ravelled = jax.jit(lambda i, j: jnp.ravel_multi_index((i, j), (3, 4), mode="wrap"))(4, 5)
    assert int(ravelled) == 5


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32])
@pytest.mark.parametrize("out", [None, np.int32])
def test_ignored_bounds(dtype, out):
    index = np.array([0, 1, 2], dtype)
    ravelled = jnp.ravel_multi_index((index, index), (2, 3), mode="ignore", dtype=out)
    assert ravelled.dtype == (out or dtype) and ravelled.tolist() == [0, 4, 8] and not ravelled.weak_type


REFUSED = [
    (lambda: jnp.diag_indices_from(M), ValueError, "must be equal"),
    (lambda: jnp.diag_indices_from(M[0]), ValueError, "2-d"),
    (lambda: jnp.tril_indices_from(M[0]), ValueError, "2-D"),
    (lambda: jnp.ix_(M), ValueError, "1-d|1 dimension|1-dimensional"),
    (lambda: jnp.ix_(np.array([True])), NotImplementedError, "Boolean"),
    (lambda: jnp.ravel_multi_index((2, 0), (2, 3)), ValueError, "invalid entry"),
    (lambda: jnp.ravel_multi_index((1, 0), (2, 3), mode="other"), ValueError, "'clip', or 'ignore'"),
    (
        lambda: jnp.ravel_multi_index((np.int8([1]), np.int8([0])), (20, 30), mode="clip"),
        ValueError,
        "not large enough",
    ),
    (lambda: jnp.ravel_multi_index((1.0, 0), (2, 3), mode="clip"), ValueError, "not an integer type"),
    (lambda: jnp.ravel_multi_index((1.0, 0), (2, 3), mode="clip", dtype=int), TypeError, "only int indices"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()
