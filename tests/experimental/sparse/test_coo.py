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


def test_refusals():
    m = sparse.COO.fromdense(DENSE)
    with pytest.raises(NotImplementedError, match="between two sparse"):
        m @ m
    with pytest.raises(NotImplementedError, match="__mul__: this format has no such operation"):
        m * 2
    with pytest.raises(NotImplementedError, match="axes argument"):
        m.transpose((0, 1))
    with pytest.raises(ValueError, match="must have ndim=2"):
        sparse.empty((2,), sparse_format="coo")
