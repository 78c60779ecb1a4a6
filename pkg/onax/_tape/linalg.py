"""Linear algebra on tapes: factorisations and solvers of stacks of matrices.

Kernels of our own serve matrices up to MOST_ROWS rows and columns.
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
from onax._prims.linalg_spectral import tridiagonal_solve_p
from onax._tape.rules import Unsupported, tape

MOST_ROWS = 64  # from here on LAPACK is quicker than loops along rows
LOWER, TRANSPOSE, CONJUGATE, UNIT_DIAGONAL, LEFT_SIDE, PERTURB = (1 << i for i in range(6))
_DTYPES = frozenset(map(np.dtype, (np.float32, np.float64, np.complex64, np.complex128)))


def _attributes(x, m, n, k=0, flags=0, lead=2, most=MOST_ROWS):
    """The numbers of an instruction for matrices in the last `lead` axes of x, or Unsupported."""
    if x.dtype not in _DTYPES:
        raise Unsupported(f"there is no kernel for {x.dtype}")
    if max(m, n) > most:
        raise Unsupported(f"{m} x {n} matrices are left to LAPACK")
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
    numbers = _attributes(d, 0, d.shape[-1], rhs.shape[-1], PERTURB * perturb_singular, lead=1, most=1 << 20)
    return _emit(b, "tridiagonal_solve", [out], [dl, d, du, rhs], numbers)[0]
