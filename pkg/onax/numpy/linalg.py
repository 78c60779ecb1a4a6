"""onax.numpy.linalg: norms, products, factorisations, eigenvalues, determinants and systems of equations."""

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax.numpy._decompositions import (
    cholesky,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    qr,
    svd,
    svdvals,
)
from onax.numpy._linalg import (
    cross,
    diagonal,
    matmul,
    matrix_norm,
    multi_dot,
    norm,
    outer,
    tensordot,
    trace,
    vecdot,
    vector_norm,
)
from onax.numpy._shaping import matrix_transpose
from onax.numpy._solvers import (
    cond,
    det,
    inv,
    lstsq,
    matrix_power,
    matrix_rank,
    pinv,
    slogdet,
    solve,
    tensorinv,
    tensorsolve,
)

_wrap_api_functions(globals(), __name__)

__all__ = [
    "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq", "matmul",
    "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm", "outer", "pinv", "qr",
    "slogdet", "solve", "svd", "svdvals", "tensordot", "tensorinv", "tensorsolve", "trace", "vecdot", "vector_norm",
]  # fmt: skip
