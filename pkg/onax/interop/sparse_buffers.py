"""JAX's private functions of sparse formats, which take and return buffers instead of sparse arrays.

Its tests, and libraries written before its formats were classes, call them.  Each binds the primitive of its name.
"""

import types

import numpy as np

from onax import numpy as jnp
from onax.experimental import sparse
from onax.experimental.sparse._layout import stored_elements

# What the libraries of CUDA and ROCm for sparse matrices multiply, in JAX.
SUPPORTED_DATA_DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


def bcoo_todense(data, indices, *, spinfo):
    return sparse.bcoo_todense_p.bind(data, indices, spinfo=spinfo)


def bcoo_fromdense(mat, *, nse, n_batch=0, n_dense=0, index_dtype=np.int32):
    params = {"nse": nse, "n_batch": n_batch, "n_dense": n_dense, "index_dtype": index_dtype}
    return tuple(sparse.bcoo_fromdense_p.bind(mat, **params))


def bcoo_extract(indices, arr, *, assume_unique=True):
    return sparse.bcoo_extract_p.bind(indices, arr, assume_unique=assume_unique)


def bcoo_transpose(data, indices, *, permutation, spinfo):
    return tuple(sparse.bcoo_transpose_p.bind(data, indices, permutation=permutation, spinfo=spinfo))


def bcoo_sum_duplicates(data, indices, *, spinfo, nse):
    return tuple(sparse.bcoo_sum_duplicates_p.bind(data, indices, spinfo=spinfo, nse=nse))


def bcoo_dot_general(lhs_data, lhs_indices, rhs, *, dimension_numbers, preferred_element_type, lhs_spinfo):
    return sparse.bcoo_dot_general_p.bind(
        lhs_data,
        lhs_indices,
        rhs,
        dimension_numbers=dimension_numbers,
        preferred_element_type=preferred_element_type,
        lhs_spinfo=lhs_spinfo,
    )


def bcsr_todense(data, indices, indptr, *, spinfo):
    return sparse.bcsr_todense_p.bind(data, indices, indptr, spinfo=spinfo)


def bcsr_fromdense(mat, *, nse, n_batch=0, n_dense=0, index_dtype=np.int32):
    params = {"nse": nse, "n_batch": n_batch, "n_dense": n_dense, "index_dtype": index_dtype}
    return tuple(sparse.bcsr_fromdense_p.bind(mat, **params))


def bcsr_dot_general(lhs_data, lhs_indices, lhs_indptr, rhs, *, dimension_numbers, preferred_element_type, lhs_spinfo):
    return sparse.bcsr_dot_general_p.bind(
        lhs_data,
        lhs_indices,
        lhs_indptr,
        rhs,
        dimension_numbers=dimension_numbers,
        preferred_element_type=preferred_element_type,
        lhs_spinfo=lhs_spinfo,
    )


def bcsr_to_bcoo(indices, indptr, *, shape):
    """The coordinates of compressed rows."""
    return sparse.BCSR((_no_data(indices, shape), indices, indptr), shape=shape).to_bcoo().indices


def bcoo_to_bcsr(indices, *, shape, index_dtype=np.int32):
    """The columns, and the starts of rows, of sorted coordinates."""
    data = _no_data(indices[..., 0], shape)
    rows = sparse.BCSR.from_bcoo(sparse.BCOO((data, indices), shape=shape, indices_sorted=True))
    return rows.indices.astype(index_dtype), rows.indptr.astype(index_dtype)


def _no_data(columns, shape):
    return jnp.zeros((*columns.shape, *shape[columns.ndim + 1 :]))


def csr_to_coo(indices, indptr):
    """The rows and columns of compressed rows."""
    rows = bcsr_to_bcoo(indices, indptr, shape=(indptr.shape[0] - 1, 1))
    return rows[..., 0], indices


def coo_todense(data, row, col, *, spinfo):
    return sparse.coo_todense_p.bind(data, row, col, spinfo=spinfo)


def coo_fromdense(mat, *, nse, index_dtype=np.int32):
    return sparse.coo_fromdense_p.bind(mat, nse=nse, index_dtype=index_dtype)


def coo_matvec(data, row, col, v, *, spinfo, transpose=False):
    return sparse.coo_matvec_p.bind(data, row, col, v, spinfo=spinfo, transpose=transpose)


def coo_matmat(data, row, col, B, *, spinfo, transpose=False):
    return sparse.coo_matmat_p.bind(data, row, col, B, spinfo=spinfo, transpose=transpose)


def coo_extract(row, col, mat):
    """The elements of a dense matrix."""
    return mat[row, col]


def csr_todense(data, indices, indptr, *, shape):
    return sparse.csr_todense_p.bind(data, indices, indptr, shape=shape)


def csr_fromdense(mat, *, nse, index_dtype=np.int32):
    return sparse.csr_fromdense_p.bind(mat, nse=nse, index_dtype=index_dtype)


def csr_matvec(data, indices, indptr, v, *, shape, transpose=False):
    return sparse.csr_matvec_p.bind(data, indices, indptr, v, shape=shape, transpose=transpose)


def csr_matmat(data, indices, indptr, B, *, shape, transpose=False):
    return sparse.csr_matmat_p.bind(data, indices, indptr, B, shape=shape, transpose=transpose)


def csr_extract(indices, indptr, mat):
    """The elements of a dense matrix at compressed indices."""
    return coo_extract(*csr_to_coo(indices, indptr), mat)


def count_stored_elements_per_batch(mat, n_batch=0, n_dense=0):
    """How many elements each example of a dense array would store."""
    return stored_elements(jnp.asarray(mat), n_batch, n_dense)


def count_stored_elements(mat, n_batch=0, n_dense=0):
    """How many elements a sparse array would store in each example."""
    return count_stored_elements_per_batch(mat, n_batch, n_dense).max(initial=0)


def remaining(axes, *taken):
    """The axes that are in none of the other lists, in order."""
    others = {axis for axes in taken for axis in axes}
    return [axis for axis in axes if axis not in others]


# Whether products on GPUs are computed by libraries for sparse matrices.
gpu_sparse = types.SimpleNamespace(cuda_is_supported=False, rocm_is_supported=False)
