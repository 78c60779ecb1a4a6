"""JAX's primitives of sparse formats: binding one applies the function of the format to its buffers.

Programs hold the operations of that function, whose rules serve derivatives, batching and exports.
"""

from onax import numpy as jnp
from onax._core.derived import DerivedPrimitive
from onax.experimental.sparse import bcoo, bcsr, coo, csr
from onax.experimental.sparse.bcoo import BCOO
from onax.experimental.sparse.bcsr import BCSR


def _bcoo(data, indices, info):
    return BCOO((data, indices), **info._asdict())


def _bcsr(data, indices, indptr, info):
    return BCSR((data, indices, indptr), **info._asdict())


def _derived(name, function, multiple_results=False):
    """The primitive; results that are sparse arrays become lists of their buffers."""

    def run(*operands, **params):
        out = function(*map(jnp.asarray, operands), **params)
        return list(out._bufs) if multiple_results else out

    return DerivedPrimitive(name, run, multiple_results)


bcoo_todense_p = _derived("bcoo_todense", lambda data, indices, *, spinfo: _bcoo(data, indices, spinfo).todense())
bcoo_fromdense_p = _derived("bcoo_fromdense", bcoo.bcoo_fromdense, True)
bcoo_extract_p = _derived("bcoo_extract", bcoo.extract)
bcoo_transpose_p = _derived(
    "bcoo_transpose",
    lambda data, indices, *, permutation, spinfo: bcoo.bcoo_transpose(
        _bcoo(data, indices, spinfo), permutation=permutation
    ),
    True,
)
bcoo_sort_indices_p = _derived(
    "bcoo_sort_indices", lambda data, indices, *, spinfo: bcoo.bcoo_sort_indices(_bcoo(data, indices, spinfo)), True
)
bcoo_sum_duplicates_p = _derived(
    "bcoo_sum_duplicates",
    lambda data, indices, *, spinfo, nse: bcoo.bcoo_sum_duplicates(_bcoo(data, indices, spinfo), nse),
    True,
)
bcoo_dot_general_p = _derived(
    "bcoo_dot_general",
    lambda data, indices, rhs, *, lhs_spinfo, **params: bcoo.bcoo_dot_general(
        _bcoo(data, indices, lhs_spinfo), rhs, **params
    ),
)
bcoo_dot_general_sampled_p = _derived("bcoo_dot_general_sampled", bcoo.bcoo_dot_general_sampled)
bcoo_spdot_general_p = _derived(
    "bcoo_spdot_general",
    lambda data, indices, other, other_indices, *, lhs_spinfo, rhs_spinfo, **params: bcoo.bcoo_dot_general(
        _bcoo(data, indices, lhs_spinfo), _bcoo(other, other_indices, rhs_spinfo), **params
    ),
    True,
)
bcsr_todense_p = _derived(
    "bcsr_todense", lambda data, indices, indptr, *, spinfo: _bcsr(data, indices, indptr, spinfo).todense()
)
bcsr_fromdense_p = _derived("bcsr_fromdense", bcsr.bcsr_fromdense, True)
bcsr_extract_p = _derived("bcsr_extract", bcsr.bcsr_extract)
bcsr_dot_general_p = _derived(
    "bcsr_dot_general",
    lambda data, indices, indptr, rhs, *, lhs_spinfo, **params: bcsr.bcsr_dot_general(
        _bcsr(data, indices, indptr, lhs_spinfo), rhs, **params
    ),
)


def _coo(data, row, col, info):
    return coo.COO((data, row, col), **info._asdict())


def _coo_product(data, row, col, x, *, spinfo, transpose):
    mat = _coo(data, row, col, spinfo)
    return (mat.T if transpose else mat) @ x


def _csr_product(data, indices, indptr, x, *, shape, transpose):
    mat = csr.CSR((data, indices, indptr), shape=shape)
    return (mat.T if transpose else mat) @ x


def _buffers_of_coo(mat, *, nse, index_dtype):
    out = coo.coo_fromdense(mat, nse=nse, index_dtype=index_dtype)
    return [out.data, out.row, out.col]


def _buffers_of_csr(mat, *, nse, index_dtype):
    out = csr.csr_fromdense(mat, nse=nse, index_dtype=index_dtype)
    return [out.data, out.indices, out.indptr]


coo_todense_p = DerivedPrimitive(
    "coo_todense", lambda data, row, col, *, spinfo: _coo(data, row, col, spinfo).todense()
)
coo_fromdense_p = DerivedPrimitive("coo_fromdense", _buffers_of_coo, True)
coo_matvec_p = DerivedPrimitive("coo_matvec", _coo_product)
coo_matmat_p = DerivedPrimitive("coo_matmat", _coo_product)
csr_todense_p = DerivedPrimitive("csr_todense", lambda *buffers, shape: csr.CSR(buffers, shape=shape).todense())
csr_fromdense_p = DerivedPrimitive("csr_fromdense", _buffers_of_csr, True)
csr_matvec_p = DerivedPrimitive("csr_matvec", _csr_product)
csr_matmat_p = DerivedPrimitive("csr_matmat", _csr_product)


def _publish():
    """Gives each module of a format the primitives of its format, which JAX has there too."""
    for module in (bcoo, bcsr, coo, csr):
        prefix = module.__name__.rpartition(".")[2] + "_"
        for name, value in globals().items():
            if name.startswith(prefix) and isinstance(value, DerivedPrimitive):
                setattr(module, name, value)
                module.__all__.append(name)


_publish()
