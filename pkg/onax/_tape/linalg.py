"""Linear algebra on tapes: factorisations and solvers of stacks of matrices.

Kernels of our own serve matrices up to MOST_ROWS rows and columns; larger ones, eigenvalues and singular values are
LAPACK's.
"""

from math import prod

import numpy as np

from onax._native.tape import TYPES
from onax._prims.linalg import (
    cholesky_p,
    geqrf_p,
    householder_product_p,
    lu_p,
    lu_pivots_to_permutation_p,
    qr_p,
    triangular_solve_p,
)
from onax._prims.linalg_spectral import SvdAlgorithm, eig_p, eigh_p, schur_p, svd_p, tridiagonal_solve_p
from onax._tape import lapack
from onax._tape.rules import Unsupported, tape

MOST_ROWS = 64  # above, LAPACK is quicker than loops along rows (tape_linalg.c has the same number)
LOWER, TRANSPOSE, CONJUGATE, UNIT_DIAGONAL, LEFT_SIDE, PERTURB, VECTORS, LEFT_VECTORS = (1 << i for i in range(8))
_DTYPES = frozenset(map(np.dtype, (np.float32, np.float64, np.complex64, np.complex128)))


def _attributes(x, m, n, k=0, flags=0, lead=2):
    """The numbers of an instruction for matrices in the last `lead` axes of x."""
    if x.dtype not in _DTYPES:
        raise Unsupported(f"there is no kernel for {x.dtype}")
    if max(m, n) > MOST_ROWS and lead == 2:
        lapack.attach()
    return TYPES[x.dtype], prod(x.shape[: len(x.shape) - lead]), m, n, k, flags


def _emit(b, name, outs, reads, attributes):
    results = [b.buffer(a) for a in outs]
    b.emit(name, results, reads, attributes)
    return results


@tape.rule(cholesky_p)
def _cholesky(b, out, x):
    return _emit(b, "cholesky", [out], [x], _attributes(x, *x.shape[-2:]))[0]


@tape.rule(lu_p)
def _lu(b, outs, x):
    return _emit(b, "lu", outs, [x], _attributes(x, *x.shape[-2:]))


@tape.rule(lu_pivots_to_permutation_p)
def _permutation(b, out, pivots, *, permutation_size):
    *lead, count = pivots.shape
    return _emit(b, "permutation", [out], [pivots], (0, prod(lead), permutation_size, count, 0, 0))[0]


@tape.rule(triangular_solve_p)
def _triangular_solve(b, out, a, rhs, *, left_side, lower, transpose_a, conjugate_a, unit_diagonal):
    flags = LOWER * lower | TRANSPOSE * transpose_a | CONJUGATE * conjugate_a
    flags |= UNIT_DIAGONAL * unit_diagonal | LEFT_SIDE * left_side
    numbers = _attributes(a, 0, a.shape[-1], rhs.shape[-1 if left_side else -2], flags)
    return _emit(b, "triangular_solve", [out], [a, rhs], numbers)[0]


@tape.rule(qr_p)
def _qr(b, outs, x, *, pivoting, full_matrices, use_magma=None):
    if pivoting:
        raise Unsupported("qr exchanges columns")
    m, n = x.shape[-2:]
    return _emit(b, "qr", outs, [x], _attributes(x, m, n, m if full_matrices else min(m, n)))


@tape.rule(geqrf_p)
def _geqrf(b, outs, x):
    return _emit(b, "geqrf", outs, [x], _attributes(x, *x.shape[-2:]))


@tape.rule(householder_product_p)
def _householder_product(b, out, a, taus):
    return _emit(b, "householder_product", [out], [a, taus], _attributes(a, *a.shape[-2:], taus.shape[-1]))[0]


@tape.rule(tridiagonal_solve_p)
def _tridiagonal_solve(b, out, dl, d, du, rhs, *, perturb_singular):
    numbers = _attributes(d, 0, d.shape[-1], rhs.shape[-1], PERTURB * perturb_singular, lead=1)
    return _emit(b, "tridiagonal_solve", [out], [dl, d, du, rhs], numbers)[0]


# ---- what LAPACK alone computes


def _emit_spectral(b, name, outs, x, k=0, flags=0):
    m, n = x.shape[-2:]
    if not (m and n):
        raise Unsupported("the matrices are empty")
    lapack.attach()
    return _emit(b, name, outs, [x], (len(outs), *_attributes(x, m, n, k, flags)))


@tape.rule(eigh_p)
def _eigh(b, outs, x, *, lower, **_):
    return _emit_spectral(b, "eigh", outs, x, flags=LOWER * lower)


@tape.rule(svd_p)
def _svd(b, outs, x, *, full_matrices, compute_uv, algorithm=None, **_):
    if algorithm == SvdAlgorithm.QR:
        raise Unsupported("singular values by QR")
    k = (max if full_matrices and compute_uv else min)(x.shape[-2:])
    return _emit_spectral(b, "svd", outs, x, k, VECTORS * compute_uv)


@tape.rule(eig_p)
def _eig(b, outs, x, *, compute_left_eigenvectors, compute_right_eigenvectors, **_):
    flags = LEFT_VECTORS * compute_left_eigenvectors | VECTORS * compute_right_eigenvectors
    return _emit_spectral(b, "eig", outs, x, flags=flags)


@tape.rule(schur_p)
def _schur(b, outs, x, *, compute_schur_vectors, **_):
    return _emit_spectral(b, "schur", outs, x, flags=VECTORS * compute_schur_vectors)
