"""empty, eye, todense."""

import numpy as np
import pytest

import onax as jax
from onax.experimental import sparse


@pytest.mark.parametrize("kind", ["bcoo", "bcsr", "coo", "csr", "csc"])
def test_empty_and_eye(kind):
    np.testing.assert_array_equal(sparse.empty((3, 4), sparse_format=kind).todense(), np.zeros((3, 4)))
    for k in (-2, 0, 1, 7):
        np.testing.assert_array_equal(sparse.eye(3, 4, k, sparse_format=kind).todense(), np.eye(3, 4, k))


def test_dense_arrays_stay_dense():
    x = np.ones(3, np.float32)
    assert sparse.todense(x) is x
    np.testing.assert_array_equal(jax.jit(sparse.todense)(x), x)
    np.testing.assert_array_equal(jax.grad(lambda x: (sparse.todense(x) ** 2).sum())(x), 2 * x)
    np.testing.assert_array_equal(jax.vmap(sparse.todense)(x), x)
    np.testing.assert_array_equal(sparse.todense(sparse.eye(2)), np.eye(2))


def test_unknown_formats():
    with pytest.raises(ValueError, match="sparse_format='x' not recognized"):
        sparse.eye(3, sparse_format="x")
