"""Sparse arrays against the dense arrays that they stand for."""

import numpy as np
import pytest
import scipy.sparse

import onax as jax
import onax.numpy as jnp
from onax.experimental import sparse

DENSE = np.array([[0, 1.0, 0, -2], [2, 0, 3, 0], [0, 0, 0, 0.5]], np.float32)


@pytest.fixture
def mat():
    return sparse.BCOO.fromdense(DENSE)


def same(actual, expected):
    actual = actual.todense() if isinstance(actual, sparse.JAXSparse) else actual
    np.testing.assert_allclose(actual, expected, rtol=1e-6)


def test_elements_of_a_dense_array(mat):
    assert (mat.shape, mat.nse, mat.ndim, mat.size, mat.dtype) == ((3, 4), 5, 2, 12, np.float32)
    np.testing.assert_array_equal(mat.indices, np.argwhere(DENSE))
    np.testing.assert_array_equal(mat.data, DENSE[DENSE != 0])
    same(mat, DENSE)
    assert repr(mat) == "BCOO(float32[3, 4], nse=5)"


def test_padding_is_no_part_of_the_array():
    padded = sparse.BCOO.fromdense(DENSE, nse=8)
    np.testing.assert_array_equal(padded.indices[5:], [[3, 4]] * 3)
    same(padded, DENSE)
    same(
        padded @ np.full(4, np.inf, np.float32)[:, None],
        (DENSE != 0) @ np.zeros((4, 1)) + [[np.nan], [np.inf], [np.inf]],
    )
    same(padded.reshape(4, 3), DENSE.reshape(4, 3))
    same(padded.sum(0), DENSE.sum(0))


def test_arithmetic(mat):
    dense = np.arange(4, dtype=np.float32)
    same(-mat, -DENSE)
    same(mat * 2, DENSE * 2)
    same(2 * mat, DENSE * 2)
    same(mat * dense, DENSE * dense)
    same(mat / 2, DENSE / 2)
    same(mat + mat, 2 * DENSE)
    same(mat - mat, 0 * DENSE)
    same(mat.astype(jnp.int32), DENSE.astype(int))
    with pytest.raises(NotImplementedError, match="two sparse arrays"):
        mat @ mat.T


def test_products_and_their_gradients(mat):
    vector, matrix = np.arange(4, dtype=np.float32), np.ones((4, 2), np.float32)
    same(mat @ vector, DENSE @ vector)
    same(mat @ matrix, DENSE @ matrix)
    same(np.ones(3, np.float32) @ mat, DENSE.sum(0))
    same(jax.jit(lambda m, v: m @ v)(mat, vector), DENSE @ vector)
    gradient = jax.grad(lambda d: jnp.sum((sparse.BCOO((d, mat.indices), shape=mat.shape) @ vector) ** 2))(mat.data)
    expected = jax.grad(lambda m: jnp.sum((m @ vector) ** 2))(jnp.asarray(DENSE))[tuple(mat.indices.T)]
    same(gradient, expected)
    with pytest.raises(TypeError, match="matmul of a sparse array"):
        mat @ np.ones(3)


def test_forms(mat):
    same(mat.T, DENSE.T)
    same(mat.reshape(2, -1), DENSE.reshape(2, 6))
    assert mat.sum() == DENSE.sum()
    same(mat.sum(1), DENSE.sum(1))
    shuffled = sparse.BCOO((mat.data[::-1], mat.indices[::-1]), shape=mat.shape)
    np.testing.assert_array_equal(shuffled.sort_indices().indices, mat.indices)


def test_duplicates_are_added_up():
    indices = jnp.array([[1, 1], [0, 0], [1, 1], [0, 1]])
    mat = sparse.BCOO((jnp.array([1.0, 2, 3, 0]), indices), shape=(2, 2))
    summed = mat.sum_duplicates()
    np.testing.assert_array_equal(summed.indices, [[0, 0], [1, 1]])
    np.testing.assert_array_equal(summed.data, [2, 4])
    assert sparse.bcoo_sum_duplicates(mat).nse == 3
    roomy = jax.jit(lambda m: m.sum_duplicates(nse=4))(mat)
    same(roomy, mat.todense())


def test_compressed_rows():
    matrix = sparse.BCSR.from_scipy_sparse(scipy.sparse.csr_matrix(DENSE))
    np.testing.assert_array_equal(matrix.indptr, [0, 2, 4, 5])
    for form in (matrix, sparse.BCSR.fromdense(DENSE), sparse.BCSR.from_bcoo(matrix.to_bcoo())):
        same(form, DENSE)
        same(form @ np.arange(4, dtype=np.float32), DENSE @ np.arange(4))
        same(form.T, DENSE.T)
    same(sparse.BCOO.from_scipy_sparse(scipy.sparse.csr_matrix(DENSE)), DENSE)


def test_refusals(mat):
    with pytest.raises(NotImplementedError, match="all of whose axes are sparse"):
        sparse.BCOO.fromdense(DENSE, n_batch=1)
    assert sparse.sparsify(jnp.sin)(0.0) == 0
    with pytest.raises(NotImplementedError, match="have no rules for BCOO"):
        sparse.sparsify(jnp.sin)(mat)
