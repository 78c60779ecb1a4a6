"""JAX's private functions on the buffers of sparse arrays (what their primitives do is tested with these)."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax.experimental import sparse
from onax.interop import sparse_buffers as buffers

DENSE = np.array([[0, 2, 0], [3, 0, 4]], np.float32)
DOT = {"dimension_numbers": (((1,), (0,)), ((), ())), "preferred_element_type": None}
V = np.array([1, 2, 3], np.float32)


def test_coordinates():
    data, indices = buffers.bcoo_fromdense(DENSE, nse=3)
    info = sparse.util.SparseInfo((2, 3))
    np.testing.assert_array_equal(buffers.bcoo_todense(data, indices, spinfo=info), DENSE)
    np.testing.assert_array_equal(buffers.bcoo_extract(indices, 2 * DENSE), 2 * data)
    np.testing.assert_array_equal(buffers.bcoo_dot_general(data, indices, V, lhs_spinfo=info, **DOT), DENSE @ V)
    turned = buffers.bcoo_transpose(data, indices, permutation=(1, 0), spinfo=info)
    np.testing.assert_array_equal(buffers.bcoo_todense(*turned, spinfo=sparse.util.SparseInfo((3, 2))), DENSE.T)
    twice = [jnp.concatenate([x, x]) for x in (data, indices)]
    np.testing.assert_array_equal(buffers.bcoo_sum_duplicates(*twice, spinfo=info, nse=3)[0], 2 * data)


def test_one_element_for_repeated_coordinates():
    indices, dense = jnp.array([[0], [5], [0], [3], [2], [3]]), jnp.array([10, 0, 81, 270, 0, 3])
    np.testing.assert_array_equal(buffers.bcoo_extract(indices, dense), [10, 3, 10, 270, 81, 270])
    np.testing.assert_array_equal(buffers.bcoo_extract(indices, dense, assume_unique=False), [10, 3, 0, 270, 81, 0])


def test_matrices():
    info = sparse.coo.COOInfo((2, 3), rows_sorted=True)
    coo, csr = buffers.coo_fromdense(DENSE, nse=3), buffers.csr_fromdense(DENSE, nse=3)
    for result, want in (
        (buffers.coo_todense(*coo, spinfo=info), DENSE),
        (buffers.coo_matvec(*coo, V, spinfo=info), DENSE @ V),
        (buffers.coo_matmat(*coo, DENSE, spinfo=info, transpose=True), DENSE.T @ DENSE),
        (buffers.csr_todense(*csr, shape=(2, 3)), DENSE),
        (buffers.csr_matvec(*csr, V[:2], shape=(2, 3), transpose=True), DENSE.T @ V[:2]),
        (buffers.csr_matmat(*csr, DENSE.T, shape=(2, 3)), DENSE @ DENSE.T),
        (buffers.csr_extract(*csr[1:], DENSE), [2, 3, 4]),
        (buffers.coo_extract(*coo[1:], DENSE), [2, 3, 4]),
        (buffers.csr_to_coo(*csr[1:]), ([0, 1, 1], [1, 0, 2])),
    ):
        np.testing.assert_array_equal(result, want)


@pytest.mark.parametrize("n_batch", [0, 1])
def test_rows(n_batch):
    shape = (2, 3, 4)
    dense = np.where(np.arange(24).reshape(shape) % 3, 0, np.arange(24).reshape(shape) + 1.0).astype(np.float32)
    layout = {"n_batch": n_batch, "n_dense": 1 - n_batch}
    nse = int(buffers.count_stored_elements(dense, **layout))
    data, indices = buffers.bcoo_fromdense(dense, nse=nse, **layout)
    columns, starts = jax.jit(lambda i: buffers.bcoo_to_bcsr(i, shape=shape))(indices)
    assert columns.shape == shape[:n_batch] + (nse,) and starts.shape == shape[:n_batch] + (shape[n_batch] + 1,)
    np.testing.assert_array_equal(buffers.bcsr_to_bcoo(columns, starts, shape=shape), indices)
    for got, want in zip(buffers.bcsr_fromdense(dense, nse=nse, **layout), (data, columns, starts), strict=True):
        np.testing.assert_array_equal(got, want)
    info = sparse.util.SparseInfo(shape)
    np.testing.assert_array_equal(buffers.bcsr_todense(data, columns, starts, spinfo=info), dense)
    contracted = ((((n_batch + 1,), (0,)), ((), ()))) if n_batch else (((1,), (0,)), ((), ()))
    vector = np.arange(1.0, shape[n_batch + 1] + 1, dtype=np.float32)
    product = buffers.bcsr_dot_general(
        data, columns, starts, vector, dimension_numbers=contracted, preferred_element_type=None, lhs_spinfo=info
    )
    np.testing.assert_allclose(product, np.tensordot(dense, vector, (n_batch + 1, 0)))


def test_derivatives():
    data, row, col = buffers.coo_fromdense(DENSE, nse=3)
    product = lambda data, v: buffers.coo_matvec(data, row, col, v, spinfo=sparse.coo.COOInfo((2, 3))).sum()
    by_data, by_vector = jax.grad(product, (0, 1))(data, jnp.asarray(V))
    np.testing.assert_array_equal(by_data, V[np.asarray(col)])
    np.testing.assert_array_equal(by_vector, DENSE.sum(0))
    primals, back = jax.vjp(lambda m: buffers.csr_fromdense(m, nse=3), jnp.asarray(DENSE))
    np.testing.assert_array_equal(back(primals)[0], DENSE)


def test_counts_and_axes():
    np.testing.assert_array_equal(buffers.count_stored_elements_per_batch(DENSE, n_batch=1), [1, 2])
    assert buffers.count_stored_elements(np.zeros((0, 4)), n_batch=1) == 0
    assert buffers.remaining(range(4), [1], (3,)) == [0, 2]
    assert not buffers.gpu_sparse.cuda_is_supported and np.float32 in buffers.SUPPORTED_DATA_DTYPES
