"""The instructions that factorise and solve stacks of matrices (`tape_linalg.c`), as `_instructions.py` wants them.

Kernels of our own factorise and solve, large matrices in blocks, with the threads of the program at most.  Eigenvalues,
singular values, condensed forms and pivoted QR are LAPACK's, as SciPy's compiled modules hand it out.
"""

from math import prod

import numpy as np

from onax._core.rules import InvalidOperands
from onax._ground import dtypes
from onax._native.tape import TYPES
from onax._prims import linalg_lapack as lapack
from onax._prims._instructions import Instruction

LOWER, TRANSPOSE, CONJUGATE, UNIT_DIAGONAL, LEFT_SIDE, PERTURB, VECTORS, LEFT_VECTORS, QR_ITERATION, SKIP_Q = (
    1 << i for i in range(10)
)
_DTYPES = frozenset(map(np.dtype, (np.float32, np.float64, np.complex64, np.complex128)))
_INT32 = np.dtype(np.int32)


def _square(x):
    """(leading axes, rows) of square matrices."""
    *lead, n, m = x.shape
    if n != m:
        raise InvalidOperands
    return lead, n


def _instruction(name, x, results, m, n, k=0, flags=0):
    """The instruction for the matrices in x; None for dtypes without a kernel."""
    if x.dtype not in _DTYPES:
        return None
    return Instruction(name, (TYPES[x.dtype], prod(x.shape[:-2]), m, n, k, flags), tuple(results))


def cholesky(x):
    _, n = _square(x)
    return _instruction("cholesky", x, [(x.shape, x.dtype)], n, n)


def lu(x):
    *lead, m, n = x.shape
    return _instruction("lu", x, [(x.shape, x.dtype), ((*lead, min(m, n)), _INT32), ((*lead, m), _INT32)], m, n)


def lu_pivots_to_permutation(pivots, *, permutation_size):
    *lead, count = pivots.shape
    if pivots.dtype != _INT32 or permutation_size < count:
        raise InvalidOperands
    numbers = (0, prod(lead), permutation_size, count, 0, 0)
    return Instruction("permutation", numbers, (((*lead, permutation_size), _INT32),))


def triangular_solve(a, b, *, left_side, lower, transpose_a, conjugate_a, unit_diagonal):
    lead, n = _square(a)
    if a.dtype != b.dtype or tuple(b.shape[:-2]) != tuple(lead) or b.shape[-2 if left_side else -1] != n:
        raise InvalidOperands
    flags = LOWER * lower | TRANSPOSE * transpose_a | CONJUGATE * conjugate_a
    flags |= UNIT_DIAGONAL * unit_diagonal | LEFT_SIDE * left_side
    k = b.shape[-1 if left_side else -2]
    return _instruction("triangular_solve", a, [(b.shape, b.dtype)], 0, n, k, flags)


def qr(x, *, pivoting, full_matrices, use_magma=None, with_q=True):
    *lead, m, n = x.shape
    k = m if full_matrices else min(m, n)
    results = [((*lead, m, k), x.dtype), ((*lead, k, n), x.dtype)]
    if not pivoting:
        return _instruction("qr", x, results, m, n, k, 0 if with_q else SKIP_Q)
    return _spectral("pivoted_qr", x, [*results, ((*lead, n), _INT32)], k) if m and n else None


def geqrf(x):
    *lead, m, n = x.shape
    results = [(x.shape, x.dtype), ((*lead, min(m, n)), x.dtype)]
    return _instruction("geqrf", x, results, m, n)


def householder_product(a, taus):
    m, n = a.shape[-2:]
    if a.dtype != taus.dtype or n > m or taus.shape[-1] > n or taus.shape[:-1] != a.shape[:-2]:
        raise InvalidOperands
    return _instruction("householder_product", a, [(a.shape, a.dtype)], m, n, taus.shape[-1])


def ormqr(a, taus, c, *, left, transpose):
    rows, columns = a.shape[-2:]
    *lead, m, n = c.shape
    k = taus.shape[-1]
    if not a.dtype == taus.dtype == c.dtype or not list(a.shape[:-2]) == list(taus.shape[:-1]) == lead:
        raise InvalidOperands
    if rows != (m if left else n) or k > min(rows, columns):
        raise InvalidOperands
    if c.dtype not in _DTYPES:
        return None
    numbers = (columns, TYPES[c.dtype], prod(lead), m, n, k, LEFT_SIDE * left | TRANSPOSE * transpose)
    return Instruction("multiply_reflections", numbers, ((c.shape, c.dtype),))


def tridiagonal_solve(dl, d, du, b, *, perturb_singular):
    if not dl.shape == d.shape == du.shape == b.shape[:-1] or not dl.dtype == d.dtype == du.dtype == b.dtype:
        raise InvalidOperands
    result = [(b.shape, b.dtype)]
    if d.dtype not in _DTYPES:
        return None
    numbers = (TYPES[d.dtype], prod(d.shape[:-1]), 0, d.shape[-1], b.shape[-1], PERTURB * perturb_singular)
    return Instruction("tridiagonal_solve", numbers, tuple(result))


# ---- what LAPACK alone computes


def _spectral(name, x, results, k=0, flags=0):
    """The instruction; None for dtypes without a kernel, and where results of empty matrices are not empty."""
    m, n = x.shape[-2:]
    if x.dtype not in _DTYPES or (not (m and n) and name == "svd"):
        return None
    lapack.attach()
    count = prod(x.shape[:-2]) if n else 0
    return Instruction(name, (len(results), TYPES[x.dtype], count, m, n, k, flags), tuple(results))


def eigh(x, *, lower, **_):
    lead, n = _square(x)
    return _spectral("eigh", x, [(x.shape, x.dtype), ((*lead, n), dtypes.real_dtype(x.dtype))], flags=LOWER * lower)


def svd(x, *, full_matrices, compute_uv, algorithm=None, **_):
    *lead, m, n = x.shape
    few = min(m, n)
    left, right = (m, n) if full_matrices else (few, few)
    values = ((*lead, few), dtypes.real_dtype(x.dtype))
    vectors = [((*lead, m, left), x.dtype), ((*lead, right, n), x.dtype)] if compute_uv else []
    k = max(m, n) if full_matrices and compute_uv else few
    by_qr = algorithm is not None and algorithm.name == "QR"
    return _spectral("svd", x, [values, *vectors], k, VECTORS * compute_uv | QR_ITERATION * by_qr)


def eig(x, *, compute_left_eigenvectors, compute_right_eigenvectors, **_):
    lead, n = _square(x)
    kind = np.result_type(x.dtype, np.complex64)
    vectors = bool(compute_left_eigenvectors) + bool(compute_right_eigenvectors)
    flags = LEFT_VECTORS * compute_left_eigenvectors | VECTORS * compute_right_eigenvectors
    return _spectral("eig", x, [((*lead, n), kind)] + [(x.shape, kind)] * vectors, flags=flags)


def schur(x, *, compute_schur_vectors, **_):
    _square(x)
    return _spectral(
        "schur", x, [(x.shape, x.dtype)] * (1 + compute_schur_vectors), flags=VECTORS * compute_schur_vectors
    )


def hessenberg(x):
    lead, n = _square(x)
    return _spectral("hessenberg", x, [(x.shape, x.dtype), ((*lead, n - 1), x.dtype)])


def tridiagonal(x, *, lower):
    lead, n = _square(x)
    if n == 0:
        raise InvalidOperands
    real = dtypes.real_dtype(x.dtype)
    results = [(x.shape, x.dtype), ((*lead, n), real), ((*lead, n - 1), real), ((*lead, n - 1), x.dtype)]
    return _spectral("tridiagonal", x, results, flags=LOWER * lower)
