"""Matrices as values, rows and columns."""

import numpy as np
import pytest
import scipy.sparse

import onax as jax
from onax.experimental import sparse

DENSE = np.array([[0, 1.0, 0, -2], [2, 0, 3, 0], [0, 0, 0, 0.5]], np.float32)


def test_operations():
    vector = np.arange(4, dtype=np.float32)
    for m in (sparse.COO.fromdense(DENSE, nse=7), sparse.COO.from_scipy_sparse(scipy.sparse.csr_matrix(DENSE))):
        np.testing.assert_array_equal(sparse.coo_todense(m), DENSE)
        np.testing.assert_array_equal((-m.T)._sort_indices().todense(), -DENSE.T)
        np.testing.assert_allclose(jax.jit(lambda m, v: m @ v)(m, vector), DENSE @ vector)
        np.testing.assert_allclose(sparse.coo_matmat(m, DENSE, transpose=True), DENSE.T @ DENSE)
    assert repr(m) == "COO(float32[3, 4], nse=5)"


def test_padding_is_zeros_in_the_first_row_and_column():
    m = sparse.COO.fromdense(DENSE, nse=7)
    np.testing.assert_array_equal(m.row, [0, 0, 1, 1, 2, 0, 0])
    np.testing.assert_array_equal(m.col, [1, 3, 0, 2, 3, 0, 0])
    assert not m.data[5:].any() and "COO[{'shape': (3, 4), 'rows_sorted': True, 'cols_sorted': False}]" in str(
        jax.tree.structure(m)
    )


def test_refusals():
    with jax.numpy_rank_promotion("raise"):
        m = sparse.COO.fromdense(DENSE)
    for other in (2.0, np.ones((2, 4, 2))):
        with pytest.raises(NotImplementedError, match="matmul with object of shape"):
            m @ other
    with pytest.raises(NotImplementedError, match="between two sparse"):
        m @ m
    with pytest.raises(NotImplementedError, match=r"__mul__\nThis format has no such operation"):
        m * 2
    with pytest.raises(NotImplementedError, match="axes argument"):
        m.transpose((0, 1))
    with pytest.raises(ValueError, match="must have ndim=2"):
        sparse.empty((2,), sparse_format="coo")
