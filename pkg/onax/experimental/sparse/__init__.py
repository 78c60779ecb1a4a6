"""Sparse arrays: coordinates (BCOO) and compressed rows (BCSR), as pytrees of dense arrays."""

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax.experimental.sparse import linalg
from onax.experimental.sparse._arrays import (
    BCOO,
    BCSR,
    JAXSparse,
    bcoo_fromdense,
    bcoo_reduce_sum,
    bcoo_reshape,
    bcoo_sort_indices,
    bcoo_sum_duplicates,
    bcoo_todense,
    bcoo_transpose,
    sparsify,
)

_wrap_api_functions(globals(), __name__)
