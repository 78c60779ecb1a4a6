"""Compressed rows with batch and dense axes."""

import numpy as np
import pytest
import scipy.sparse

import onax as jax
from onax.experimental import sparse

DENSE = np.array([[0, 1.0, 0, -2], [0, 0, 0, 0], [2, 0, 3, 0.5]], np.float32)
BATCH = np.stack([DENSE, DENSE[::-1] * 2])


def same(actual, expected):
    actual = actual.todense() if isinstance(actual, sparse.JAXSparse) else actual
    np.testing.assert_allclose(actual, expected, rtol=1e-6)


@pytest.mark.parametrize("layout", [{"n_batch": 1}, {"n_dense": 1}])
def test_layouts(layout):
    m = sparse.BCSR.fromdense(BATCH, **layout)
    assert (m.n_batch, m.n_dense) == (layout.get("n_batch", 0), layout.get("n_dense", 0))
    same(m, BATCH)
    same(-m * 2, -2 * BATCH)
    same(m + m, 2 * BATCH)
    same(m.sum((1, 2)), BATCH.sum((1, 2)))


def test_operations():
    m = sparse.BCSR.from_scipy_sparse(scipy.sparse.csr_matrix(DENSE))
    vector = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(m.indptr, [0, 2, 2, 5])
    padded = sparse.BCSR.fromdense(DENSE, nse=8)
    for form in (m, padded, sparse.BCSR.from_bcoo(m.to_bcoo())):
        same(form, DENSE)
        same(form @ vector, DENSE @ vector)
        same(vector[:3] @ form, vector[:3] @ DENSE)
        same(form.T, DENSE.T)
        same(form - form, 0 * DENSE)
        same(form * form, DENSE**2)
        same(form / 2, DENSE / 2)
    assert isinstance(m @ m.T, sparse.BCSR)
    same(m @ m.T, DENSE @ DENSE.T)
    same(jax.jit(lambda m, v: m @ v)(m, vector), DENSE @ vector)
    same(sparse.bcsr_concatenate([m, m], dimension=1), np.concatenate([DENSE, DENSE], 1))
    wide = sparse.bcsr_broadcast_in_dim(m, shape=(2, 3, 4), broadcast_dimensions=(1, 2))
    same(wide, np.stack([DENSE, DENSE]))
    same(sparse.bcsr_sum_duplicates(m), DENSE)


def test_refusals():
    with pytest.raises(ValueError, match="must have 2 sparse dimensions"):
        sparse.BCSR.fromdense(DENSE[0])
    with pytest.raises(ValueError, match="indptr shape must match the matrix shape plus 1"):
        sparse.BCSR((np.ones(2), np.zeros(2, int), np.zeros(2, int)), shape=(3, 4))
    with pytest.raises(NotImplementedError, match="n_sparse=2"):
        sparse.BCSR.from_bcoo(sparse.BCOO.fromdense(BATCH))


def test_indexing_keeps_two_sparse_axes():
    m, batched = sparse.BCSR.fromdense(DENSE), sparse.BCSR.fromdense(BATCH, n_batch=1)
    for mat, dense in ((m, DENSE), (batched, BATCH)):
        assert mat[None].n_batch == mat.n_batch + 1
        same(mat[None], dense[None])
        same(mat[1:], dense[1:])
    same(batched[:, None], BATCH[:, None])
    same(batched[1], BATCH[1])
    assert isinstance(m[0], sparse.BCOO)  # one sparse axis has no rows
    same(m[0], DENSE[0])


def test_elements_with_dense_axes_are_extracted():
    m = sparse.BCSR.fromdense(BATCH, n_dense=1)
    np.testing.assert_array_equal(sparse.bcsr_extract(m.indices, m.indptr, BATCH * 2), m.data * 2)


def test_indices_of_other_dtypes_and_batches_are_refused():
    buffers = np.ones((2, 3)), np.zeros((3, 3), int), np.zeros((3, 3), int)
    with pytest.raises(ValueError, match="data batch dimensions not compatible"):
        sparse.BCSR(buffers, shape=(3, 2, 3))
    with pytest.raises(ValueError, match="indices of a BCSR are integers"):
        sparse.BCSR((np.ones(2), np.zeros(2), np.zeros(4, int)), shape=(3, 4))
