"""Indexing of BCOO by arrays, against the dense arrays that they stand for."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax.experimental import sparse

DENSE = np.array([[0, 1.0, 0, -2], [2, 0, 3, 0], [0, 0, 0, 0.5]], np.float32)
BATCH = np.stack([DENSE, DENSE[::-1] * 2])

KEYS = {
    "rows": np.index_exp[np.array([2, 0, 2])],
    "columns": np.index_exp[..., np.array([3, 1])],
    "matrix of rows": np.index_exp[np.array([[1], [0]])],
    "rows and an integer": np.index_exp[np.array([[1], [0]]), 0],
    "rows and a slice": np.index_exp[np.array([1, 0]), 1:],
    "mask": np.index_exp[np.array([True, False, True])],
    "mask of columns": np.index_exp[..., np.array([True, False, True, False])],
    "new axis": np.index_exp[None, 0, np.array([[2]])],
    "nothing": np.index_exp[np.zeros(0, int)],
    "too large": np.index_exp[np.array([1, 9])],
    "negative": np.index_exp[jnp.array([-1, -3])],
}


@pytest.mark.parametrize("n_batch", [0, 1, 2])
@pytest.mark.parametrize("name", KEYS)
def test_arrays_as_indices(name, n_batch):
    key, m = KEYS[name], sparse.BCOO.fromdense(DENSE, n_batch=n_batch)
    want = jnp.asarray(DENSE)[key]
    for got in (m[key], jax.jit(lambda m: m[key])(m)):
        assert isinstance(got, sparse.BCOO) and got.shape == want.shape and got.dtype == want.dtype
        np.testing.assert_array_equal(got.todense(), want)
    if name == "too large":  # the slice is moved, and its derivative with it
        return
    weights = jnp.arange(1.0, 1 + want.size).reshape(want.shape)
    by_data = jax.grad(lambda data: (m._with(data)[key].todense() * weights).sum())(m.data)
    dense = lambda data: (sparse.BCOO((data, m.indices), shape=m.shape).todense()[key] * weights).sum()
    np.testing.assert_allclose(by_data, jax.grad(dense)(m.data))


@pytest.mark.parametrize("layout", [{}, {"n_batch": 1}, {"n_dense": 1}, {"n_batch": 1, "n_dense": 1}])
def test_every_layout(layout):
    m = sparse.BCOO.fromdense(BATCH, **layout)
    for key in (
        np.index_exp[np.array([1, 0, 1])],
        np.index_exp[:, np.array([2, 0])],
        np.index_exp[0, np.array([2, 0])],
    ):
        np.testing.assert_array_equal(m[key].todense(), BATCH[key])


def test_indices_that_are_traced():
    m = sparse.BCOO.fromdense(DENSE)
    np.testing.assert_array_equal(jax.jit(lambda i: m[i])(jnp.array([2, 0])).todense(), DENSE[[2, 0]])
    np.testing.assert_array_equal(jax.jit(lambda i: m[:, i])(2).todense(), DENSE[:, 2])
    np.testing.assert_array_equal(jax.vmap(lambda i: m[i])(jnp.array([2, 0])).todense(), DENSE[[2, 0]])
    np.testing.assert_array_equal(sparse.sparsify(lambda m, i: m[i])(m, jnp.array([2, 0])).todense(), DENSE[[2, 0]])


@pytest.mark.parametrize(
    ("key", "error", "words"),
    [
        ([0, 1], TypeError, "non-tuple sequence"),
        (1.5, TypeError, "must have integer or boolean type"),
        ("a", TypeError, "string indexing"),
        (np.array([True, False]), IndexError, "boolean index did not match"),
        ((0, 0, 0), IndexError, "Too many indices"),
    ],
)
def test_refusals(key, error, words):
    with pytest.raises(error, match=words):
        sparse.BCOO.fromdense(DENSE)[key]


def test_slices_at_computed_starts():
    m, starts = sparse.BCOO.fromdense(DENSE), jnp.array([[0, 1], [1, 3]])
    numbers = lax.GatherDimensionNumbers((1, 2), (), (0, 1))
    got = sparse.bcoo_gather(m, starts, numbers, (2, 3), mode="promise_in_bounds")
    np.testing.assert_array_equal(got.todense(), [DENSE[:2, 1:], DENSE[1:, 1:]])
    with pytest.raises(NotImplementedError, match="bcoo_gather: mode='clip' not yet supported"):
        sparse.bcoo_gather(m, starts, numbers, (2, 3), mode="clip")
    with pytest.raises(TypeError, match="out of range"):
        sparse.bcoo_gather(m, starts, numbers, (2, 5))
