"""onax.lax.linalg: factorisations and solvers, without promotion, under JAX's names."""

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._prims.linalg import (
    cholesky,
    cholesky_p,
    cholesky_update,
    cholesky_update_p,
    householder_product,
    householder_product_p,
    lu,
    lu_p,
    lu_pivots_to_permutation,
    lu_pivots_to_permutation_p,
    ormqr,
    ormqr_p,
    qr,
    qr_p,
    symmetric_product,
    symmetric_product_p,
    triangular_solve,
    triangular_solve_p,
)
from onax._prims.linalg_spectral import (
    EighImplementation,
    EigImplementation,
    SvdAlgorithm,
    eig,
    eig_p,
    eigh,
    eigh_p,
    hessenberg,
    hessenberg_p,
    schur,
    schur_p,
    svd,
    svd_p,
    tridiagonal,
    tridiagonal_p,
    tridiagonal_solve,
    tridiagonal_solve_p,
)
from onax.lax._qdwh import qdwh

_wrap_api_functions(globals(), __name__)

__all__ = [
    "EigImplementation", "EighImplementation", "SvdAlgorithm", "cholesky", "cholesky_p", "cholesky_update",
    "cholesky_update_p", "eig", "eig_p", "eigh", "eigh_p", "hessenberg", "hessenberg_p", "householder_product",
    "householder_product_p", "lu", "lu_p", "lu_pivots_to_permutation", "lu_pivots_to_permutation_p", "ormqr",
    "ormqr_p", "qdwh", "qr", "qr_p", "schur", "schur_p", "svd", "svd_p", "symmetric_product", "symmetric_product_p",
    "triangular_solve", "triangular_solve_p", "tridiagonal", "tridiagonal_p", "tridiagonal_solve",
    "tridiagonal_solve_p",
]  # fmt: skip
