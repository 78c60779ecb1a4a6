"""empty, eye, todense."""

import functools

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
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


def test_the_primitive_takes_the_buffers_of_a_structure():
    x = jnp.arange(1.0, 4)
    for value in (x, sparse.BCOO.fromdense(x)):
        buffers, tree = jax.tree.flatten(value)
        dense = functools.partial(sparse.todense_p.bind, tree=tree)
        np.testing.assert_array_equal(dense(*buffers), x)
        for jacobian in (jax.jacfwd, jax.jacrev):
            np.testing.assert_array_equal(jacobian(dense)(*buffers), np.eye(3))
    assert "todense[tree=PyTreeDef(*)] a" in str(jax.make_jaxpr(sparse.todense)(x))


def test_shapes_of_empty_arrays():
    with pytest.raises(ValueError, match="must have 2 sparse dimensions"):
        sparse.empty((2,), sparse_format="bcsr")


def test_unknown_formats():
    with pytest.raises(ValueError, match="sparse_format='x' not recognized"):
        sparse.eye(3, sparse_format="x")
