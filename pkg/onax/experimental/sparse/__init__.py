"""Sparse arrays as pytrees of dense arrays.

    BCOO        values with coordinates, with batch and dense axes: the format with the most operations
    BCSR        compressed rows, with batch and dense axes
    COO, CSR, CSC   matrices

`sparsify` makes functions of dense arrays take sparse ones; `grad` and its like differentiate by stored elements.
"""

from onax.experimental.sparse import _operators, ad, api, bcoo, bcsr, coo, csr, linalg, random, transform, util
from onax.experimental.sparse._base import JAXSparse
from onax.experimental.sparse._primitives import (
    bcoo_dot_general_p,
    bcoo_dot_general_sampled_p,
    bcoo_extract_p,
    bcoo_fromdense_p,
    bcoo_sort_indices_p,
    bcoo_spdot_general_p,
    bcoo_sum_duplicates_p,
    bcoo_todense_p,
    bcoo_transpose_p,
    bcsr_dot_general_p,
    bcsr_extract_p,
    bcsr_fromdense_p,
    bcsr_todense_p,
    coo_fromdense_p,
    coo_matmat_p,
    coo_matvec_p,
    coo_todense_p,
    csr_fromdense_p,
    csr_matmat_p,
    csr_matvec_p,
    csr_todense_p,
)
from onax.experimental.sparse.ad import grad, jacfwd, jacobian, jacrev, value_and_grad
from onax.experimental.sparse.api import empty, eye, todense, todense_p
from onax.experimental.sparse.bcoo import (
    BCOO,
    bcoo_broadcast_in_dim,
    bcoo_concatenate,
    bcoo_conv_general_dilated,
    bcoo_dot_general,
    bcoo_dot_general_sampled,
    bcoo_dynamic_slice,
    bcoo_extract,
    bcoo_fromdense,
    bcoo_gather,
    bcoo_multiply_dense,
    bcoo_multiply_sparse,
    bcoo_reduce_sum,
    bcoo_reshape,
    bcoo_rev,
    bcoo_slice,
    bcoo_sort_indices,
    bcoo_squeeze,
    bcoo_sum_duplicates,
    bcoo_todense,
    bcoo_transpose,
    bcoo_update_layout,
)
from onax.experimental.sparse.bcsr import (
    BCSR,
    bcsr_broadcast_in_dim,
    bcsr_concatenate,
    bcsr_dot_general,
    bcsr_extract,
    bcsr_fromdense,
    bcsr_sum_duplicates,
    bcsr_todense,
)
from onax.experimental.sparse.coo import COO, coo_fromdense, coo_matmat, coo_matvec, coo_todense
from onax.experimental.sparse.csr import CSC, CSR, csr_fromdense, csr_matmat, csr_matvec, csr_todense
from onax.experimental.sparse.random import random_bcoo
from onax.experimental.sparse.transform import SparseTracer, sparsify
from onax.experimental.sparse.util import CuSparseEfficiencyWarning, SparseEfficiencyError, SparseEfficiencyWarning

__all__ = [
    "BCOO", "BCSR", "COO", "CSC", "CSR", "CuSparseEfficiencyWarning", "JAXSparse", "SparseEfficiencyError",
    "SparseEfficiencyWarning", "SparseTracer", "ad", "api", "bcoo", "bcoo_broadcast_in_dim", "bcoo_concatenate",
    "bcoo_conv_general_dilated", "bcoo_dot_general", "bcoo_dot_general_p", "bcoo_dot_general_sampled",
    "bcoo_dot_general_sampled_p", "bcoo_dynamic_slice", "bcoo_extract", "bcoo_extract_p", "bcoo_fromdense",
    "bcoo_fromdense_p", "bcoo_gather", "bcoo_multiply_dense", "bcoo_multiply_sparse", "bcoo_reduce_sum", "bcoo_reshape",
    "bcoo_rev", "bcoo_slice", "bcoo_sort_indices", "bcoo_sort_indices_p", "bcoo_spdot_general_p", "bcoo_squeeze",
    "bcoo_sum_duplicates", "bcoo_sum_duplicates_p", "bcoo_todense", "bcoo_todense_p", "bcoo_transpose",
    "bcoo_transpose_p", "bcoo_update_layout", "bcsr", "bcsr_broadcast_in_dim", "bcsr_concatenate", "bcsr_dot_general",
    "bcsr_dot_general_p", "bcsr_extract", "bcsr_extract_p", "bcsr_fromdense", "bcsr_fromdense_p", "bcsr_sum_duplicates",
    "bcsr_todense", "bcsr_todense_p", "coo", "coo_fromdense", "coo_fromdense_p", "coo_matmat", "coo_matmat_p",
    "coo_matvec", "coo_matvec_p", "coo_todense", "coo_todense_p", "csr", "csr_fromdense", "csr_fromdense_p",
    "csr_matmat", "csr_matmat_p", "csr_matvec", "csr_matvec_p", "csr_todense", "csr_todense_p", "empty", "eye", "grad",
    "jacfwd", "jacobian", "jacrev", "linalg", "random", "random_bcoo", "sparsify", "todense", "todense_p", "transform",
    "util", "value_and_grad",
]  # fmt: skip
