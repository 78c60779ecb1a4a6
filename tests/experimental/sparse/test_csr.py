"""Matrices in compressed rows and columns."""

import numpy as np
import pytest

import onax as jax
from onax.experimental import sparse

DENSE = np.array([[0, 1.0, 0, -2], [0, 0, 0, 0], [2, 0, 3, 0.5]], np.float32)


@pytest.mark.parametrize("kind", [sparse.CSR, sparse.CSC])
def test_operations(kind):
    vector = np.arange(4, dtype=np.float32)
    m = kind.fromdense(DENSE, nse=6)
    np.testing.assert_array_equal(m.todense(), DENSE)
    np.testing.assert_array_equal((-m.T).todense(), -DENSE.T)
    np.testing.assert_allclose(jax.jit(lambda m, v: m @ v)(m, vector), DENSE @ vector)
    np.testing.assert_allclose(sparse.csr_matmat(m, DENSE, transpose=True), DENSE.T @ DENSE)
    np.testing.assert_array_equal(sparse.csr_todense(m), DENSE)
    assert type(m.T) is not kind and type(m.T.T) is kind


def test_room_for_more_or_fewer_elements():
    for kind, values, indices in (
        (sparse.CSR, [1, -2, 2], [1, 3, 0]),
        (sparse.CSC, [2, 1, 3], [2, 0, 2]),
    ):
        m = kind.fromdense(DENSE, nse=3)
        np.testing.assert_array_equal(m.data, values)
        np.testing.assert_array_equal(m.indices, indices)
        np.testing.assert_array_equal(kind.fromdense(DENSE, nse=7).indices[5:], [0, 0])


def test_refusals():
    m = sparse.CSR.fromdense(DENSE)
    with pytest.raises(NotImplementedError, match="between two sparse"):
        m @ m.T
    with pytest.raises(NotImplementedError, match=r"matmul with object of shape \(\)"):
        m @ 2.0
    with pytest.raises(NotImplementedError, match="axes argument"):
        m.transpose((1, 0))
    with pytest.raises(ValueError, match="must have ndim=2"):
        sparse.empty((2,), sparse_format="csc")
