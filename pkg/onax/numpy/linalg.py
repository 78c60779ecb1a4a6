"""onax.numpy.linalg: norms, products, factorisations, eigenvalues, determinants and systems of equations."""

from onax._core.public import publish as _publish
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

_STATIC = {
    "cholesky": "symmetrize_input upper",
    "cond": "p",
    "eigh": "UPLO symmetrize_input",
    "eigvalsh": "UPLO symmetrize_input",
    "matrix_norm": "keepdims ord",
    "matrix_power": "n",
    "matrix_rank": "hermitian",
    "norm": "axis keepdims ord",
    "pinv": "hermitian",
    "qr": "mode",
    "slogdet": "method",
    "svd": "compute_uv full_matrices hermitian subset_by_index",
    "vector_norm": "keepdims",
}
_publish(globals(), __name__, _STATIC)
