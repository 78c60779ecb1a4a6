"""Kernels of the linear algebra primitives: instructions of tapes (`linalg_instructions.py`), and a few formulas.

A matrix for which LAPACK fails gives NaN.
"""

import numpy as np

from onax._core.rules import InvalidOperands
from onax._prims import linalg_instructions as instructions
from onax._prims._instructions import instruction_kernel
from onax._prims.convert import cast


def _check_dtype(x, name):
    if x.dtype.kind not in "fc" or x.dtype.itemsize < 4:
        raise NotImplementedError(
            f"Unsupported dtype {x.dtype}: {name} has no kernel for it; convert to float32 first."
        )


# ---- instructions of tapes ----


def _without_instruction(name):
    """The kernel for operands that no instruction takes: it names their dtype."""

    def refuse(x, *_, **__):
        _check_dtype(x, name)
        raise InvalidOperands

    return refuse


def _one(name, describe):
    return instruction_kernel(describe, _without_instruction(name))


def _several(name, describe):
    return instruction_kernel(describe, _without_instruction(name), multiple_results=True)


def _empty_pivoted_qr(x, *, pivoting, full_matrices, use_magma=None):
    """(q, r, permutation) of matrices without rows or columns."""
    _check_dtype(x, "qr")
    *lead, m, n = x.shape
    k = m if full_matrices else 0
    order = np.broadcast_to(np.arange(n, dtype=np.int32), (*lead, n))
    return (
        np.broadcast_to(np.eye(m, k, dtype=x.dtype), (*lead, m, k)).copy(),
        np.zeros((*lead, k, n), x.dtype),
        order.copy(),
    )


def _empty_svd(x, *, full_matrices, compute_uv, **_):
    """(singular values, u, v^H) of matrices without rows or columns."""
    _check_dtype(x, "svd")
    if not compute_uv:
        return (np.linalg.svd(x, compute_uv=False),)
    u, s, vh = np.linalg.svd(x, full_matrices)
    return s, u, vh


cholesky = _one("cholesky", instructions.cholesky)
lu = _several("lu", instructions.lu)
lu_pivots_to_permutation = _one("lu_pivots_to_permutation", instructions.lu_pivots_to_permutation)
qr = instruction_kernel(instructions.qr, _empty_pivoted_qr, multiple_results=True)
geqrf = _several("geqrf", instructions.geqrf)
householder_product = _one("householder_product", instructions.householder_product)
ormqr = _one("ormqr", instructions.ormqr)
tridiagonal_solve = _one("tridiagonal_solve", instructions.tridiagonal_solve)
eigh = _several("eigh", instructions.eigh)
svd = instruction_kernel(instructions.svd, _empty_svd, multiple_results=True)
eig = _several("eig", instructions.eig)
schur = _several("schur", instructions.schur)
hessenberg = _several("hessenberg", instructions.hessenberg)
tridiagonal = _several("tridiagonal", instructions.tridiagonal)
_triangular_solve = _one("triangular_solve", instructions.triangular_solve)


def triangular_solve(a, b, **params):
    """The solution x of op(a) x = b, or of x op(a) = b."""
    if a.dtype.itemsize == 2:
        return cast(_triangular_solve(a.astype(np.float32), b.astype(np.float32), **params), b.dtype)
    return _triangular_solve(a, b, **params)


# ---- updates ----


def cholesky_update(r, w):
    """The upper factor of r^T r + w w^T, by one Givens rotation for each row."""
    n = w.shape[-1]
    if r.shape != (*w.shape, n):
        raise InvalidOperands
    _check_dtype(r, "cholesky_update")
    r, w = np.array(r), np.array(w)
    for k in range(n):
        top, side = r[..., k, k].copy(), w[..., k].copy()
        idle = side == 0  # no rotation: a row stays, whatever the sign of its diagonal
        length = np.where(idle, 1, np.hypot(top, side))
        c, s = np.where(idle, 1, top / length)[..., None], (side / length)[..., None]
        row = r[..., k, :].copy()
        r[..., k, :] = c * row + s * w
        w = c * w - s * row
    return np.triu(r)


def symmetric_product(a, c, *, alpha, beta):
    """alpha a a^T + beta c"""
    real = a.dtype.type
    return real(alpha) * np.matmul(a, a.swapaxes(-1, -2)) + real(beta) * c
