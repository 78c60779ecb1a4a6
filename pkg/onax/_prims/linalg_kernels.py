"""Kernels of the linear algebra primitives: instructions of tapes, and LAPACK through NumPy and SciPy.

Instructions (`linalg_instructions.py`) are used where kernels of our own are quick, or where LAPACK is called through
SciPy anyway.  NumPy's functions need no import of SciPy, which takes some tenths of a second: they factorise large
matrices.  What else is left to LAPACK is called through SciPy matrix by matrix.  A matrix for which LAPACK fails gives
NaN.
"""

import math

import numpy as np

from onax._core.rules import InvalidOperands
from onax._ground import lazy
from onax._prims import linalg_instructions as instructions
from onax._prims._instructions import instruction_kernel
from onax._prims.convert import cast

_LETTERS = {np.dtype(code): letter for code, letter in zip(("f4", "f8", "c8", "c16"), "sdcz")}


def _letter(x, name):
    letter = _LETTERS.get(x.dtype)
    if letter is None:
        raise NotImplementedError(f"{name}: there is no kernel for dtype {x.dtype}; convert to float32 first.")
    return letter


def _lapack(x, routine, name):
    """The LAPACK routine for x's dtype; for complex numbers "or" in its name becomes "un", and "sy" becomes "he"."""
    letter = _letter(x, name)
    if letter in "cz":
        routine = {"orgqr": "ungqr", "ormqr": "unmqr", "sytrd": "hetrd"}.get(routine, routine)
    return getattr(lazy.scipy_linalg_lapack, letter + routine)


def _as_stack(x):
    """Reshapes x to a stack of matrices with one leading axis."""
    *lead, m, n = x.shape
    return x.reshape(math.prod(lead), m, n)


def _as_vectors(x):
    """Reshapes x to a stack of vectors with one leading axis."""
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


def _map_matrices(function, x, name):
    """Applies a NumPy function to a stack; if it raises, applies it matrix by matrix, with NaN where it fails.

    Results are those of `function`: an array or a tuple of arrays.
    """
    _letter(x, name)
    try:
        return function(x)
    except np.linalg.LinAlgError:
        if x.ndim < 2:
            raise
    stack = _as_stack(x)
    shapes = function(np.zeros(x.shape[-2:], x.dtype) + np.eye(*x.shape[-2:], dtype=x.dtype))
    many = isinstance(shapes, tuple)
    outs = [np.empty((len(stack), *s.shape), s.dtype) for s in (shapes if many else (shapes,))]
    for i, one in enumerate(stack):
        try:
            result = function(one)
        except np.linalg.LinAlgError:
            result = [complex(np.nan, np.nan) if out.dtype.kind == "c" else np.nan for out in outs]
        for out, value in zip(outs, result if isinstance(result, (tuple, list)) else (result,)):
            out[i] = value
    outs = [out.reshape(x.shape[:-2] + out.shape[1:]) for out in outs]
    return tuple(outs) if many else outs[0]


def _set_failed_to_nan(out, bad):
    """Sets every matrix (or vector) to NaN whose matrix in `bad`, a bool array of the same stack, has a true
    element."""
    if not bad.any():
        return out
    bad = bad.any((-1, -2))
    nan = complex(np.nan, np.nan) if out.dtype.kind == "c" else np.nan
    return np.where(bad.reshape(bad.shape + (1,) * (out.ndim - bad.ndim)), out.dtype.type(nan), out)


def _skip_nonfinite(function, x, read):
    """Applies a function to the matrices that are finite in `read`; others give NaN, as LAPACK may not return for
    them."""
    bad = ~np.isfinite(read)
    if not bad.any():
        return function(x)
    return tuple(
        _set_failed_to_nan(out, bad) for out in function(np.where(bad.any((-1, -2), keepdims=True), x.dtype.type(0), x))
    )


def _large_cholesky(x):
    """The lower factor with zeros above its diagonal; reads the lower triangle of x.  A NaN makes the whole factor
    NaN."""
    factor = _map_matrices(np.linalg.cholesky, x, "cholesky")
    return _set_failed_to_nan(factor, np.isnan(factor))


# ---- instructions of tapes ----


def _without_instruction(name):
    """The kernel for operands that no instruction takes: it names their dtype."""

    def refuse(x, *_, **__):
        _letter(x, name)
        raise InvalidOperands

    return refuse


def _one(name, describe):
    return instruction_kernel(describe, _without_instruction(name))


def _several(name, describe):
    return instruction_kernel(describe, _without_instruction(name), multiple_results=True)


lu = _several("lu", instructions.lu)
lu_pivots_to_permutation = _one("lu_pivots_to_permutation", instructions.lu_pivots_to_permutation)
geqrf = _several("geqrf", instructions.geqrf)
householder_product = _one("householder_product", instructions.householder_product)
tridiagonal_solve = _one("tridiagonal_solve", instructions.tridiagonal_solve)
eig = _several("eig", instructions.eig)
schur = _several("schur", instructions.schur)
_triangular_solve = _one("triangular_solve", instructions.triangular_solve)
cholesky = instruction_kernel(instructions.small_cholesky, _large_cholesky)


def triangular_solve(a, b, **params):
    """The solution x of op(a) x = b, or of x op(a) = b."""
    if a.dtype.itemsize == 2:
        return cast(_triangular_solve(a.astype(np.float32), b.astype(np.float32), **params), b.dtype)
    return _triangular_solve(a, b, **params)


# ---- qr ----


def _large_or_pivoted_qr(x, *, pivoting, full_matrices, use_magma=None):
    """(q, r), with pivoting (q, r, permutation of the columns)"""
    _letter(x, "qr")
    if not pivoting:
        return tuple(np.linalg.qr(x, mode="complete" if full_matrices else "reduced"))
    *lead, m, n = x.shape
    k = min(m, n)
    geqp3 = _lapack(x, "geqp3", "qr")
    stack = _as_stack(x)
    columns = m if full_matrices else k
    q, r = np.empty((len(stack), m, columns), x.dtype), np.empty((len(stack), columns, n), x.dtype)
    order = np.tile(np.arange(n, dtype=np.int32), (len(stack), 1))
    for i, one in enumerate(stack):
        if k == 0:
            q[i] = np.eye(m, columns)
            continue
        factors, permutation, taus, _, _ = geqp3(one)
        r[i], order[i] = np.triu(factors[:columns]), permutation - 1
        basis = np.zeros((m, columns), x.dtype)
        basis[:, : min(n, columns)] = factors[:, : min(n, columns)]
        q[i] = _lapack(x, "orgqr", "qr")(basis, taus)[0]
    return q.reshape(*lead, m, columns), r.reshape(*lead, columns, n), order.reshape(*lead, n)


qr = instruction_kernel(instructions.small_qr, _large_or_pivoted_qr, multiple_results=True)


def ormqr(a, taus, c, *, left, transpose):
    """c multiplied by the product of reflections that a's columns and taus hold."""
    routine = _lapack(a, "ormqr", "ormqr")
    adjoint = "C" if a.dtype.kind == "c" else "T"
    out = np.empty(c.shape, c.dtype)
    stack, rows, given = _as_stack(out), _as_stack(a), _as_stack(c)
    flat = _as_vectors(taus)
    side, trans = "L" if left else "R", adjoint if transpose else "N"
    for i in range(len(stack)) if c.size else ():
        stack[i] = routine(side, trans, rows[i][:, : flat.shape[1]], flat[i], given[i], 64 * max(c.shape[-2:]))[0]
    return out


# ---- eigenvalues, singular values ----


def eigh(x, *, lower, sort_eigenvalues=True, subset_by_index=None, algorithm=None):
    """(eigenvectors, eigenvalues in ascending order) of the Hermitian matrix in one triangle of x."""

    def decompose(x):
        return _map_matrices(lambda a: tuple(np.linalg.eigh(a, "L" if lower else "U")), x, "eigh")

    w, v = _skip_nonfinite(decompose, x, np.tril(x) if lower else np.triu(x))
    return v, w


def svd(x, *, full_matrices, compute_uv, subset_by_index=None, algorithm=None):
    """(singular values in descending order, left vectors, right vectors), or the values alone."""
    if algorithm is not None and algorithm.name == "QR":
        return _skip_nonfinite(lambda x: _svd_by_qr(x, full_matrices, compute_uv), x, x)
    if not compute_uv:
        return _skip_nonfinite(lambda x: (_map_matrices(lambda a: np.linalg.svd(a, compute_uv=False), x, "svd"),), x, x)
    u, s, vh = _skip_nonfinite(
        lambda x: _map_matrices(lambda a: tuple(np.linalg.svd(a, full_matrices)), x, "svd"), x, x
    )
    return s, u, vh


def _svd_by_qr(x, full_matrices, compute_uv):
    gesvd = _lapack(x, "gesvd", "svd")

    def one(a):
        u, s, vh, info = gesvd(a, compute_uv=int(compute_uv), full_matrices=int(full_matrices))
        if info:
            raise np.linalg.LinAlgError("SVD did not converge")
        return (s, u, vh) if compute_uv else (s,)

    def of_stack(a):
        if a.size == 0:
            out = np.linalg.svd(a, full_matrices, compute_uv)
            return (out[1], out[0], out[2]) if compute_uv else (out,)
        if a.ndim == 2:
            return one(a)
        outs = [one(m) for m in _as_stack(a)]
        return tuple(np.reshape(o, a.shape[:-2] + o[0].shape) for o in zip(*outs))

    return _map_matrices(of_stack, x, "svd")


# ---- reductions to simpler form ----


def hessenberg(x):
    """[Hessenberg form above, reflections below; taus]"""
    gehrd = _lapack(x, "gehrd", "hessenberg")
    *lead, n, m = x.shape
    if n != m:
        raise InvalidOperands
    stack = _as_stack(x)
    out, taus = np.empty(stack.shape, x.dtype), np.empty((len(stack), n - 1), x.dtype)
    for i, one in enumerate(stack):
        out[i], reflectors, _ = gehrd(one)
        taus[i] = reflectors[: n - 1]
    return [out.reshape(x.shape), taus.reshape(*lead, n - 1)]


def tridiagonal(x, *, lower):
    """[tridiagonal form with reflections, diagonal, off-diagonal, taus]"""
    sytrd = _lapack(x, "sytrd", "tridiagonal")
    *lead, n, m = x.shape
    if n != m or n == 0:
        raise InvalidOperands
    stack, real = _as_stack(x), x.real.dtype
    out, d = np.empty(stack.shape, x.dtype), np.empty((len(stack), n), real)
    e, taus = np.empty((len(stack), n - 1), real), np.empty((len(stack), n - 1), x.dtype)
    for i, one in enumerate(stack):
        out[i], d[i], off_diagonal, reflectors, _ = sytrd(one, int(lower))
        e[i], taus[i] = off_diagonal[: n - 1], reflectors[: n - 1]
    return [out.reshape(x.shape), d.reshape(*lead, n), e.reshape(*lead, n - 1), taus.reshape(*lead, n - 1)]


# ---- updates ----


def cholesky_update(r, w):
    """The upper factor of r^T r + w w^T, by one Givens rotation for each row."""
    n = w.shape[-1]
    if r.shape != (*w.shape, n):
        raise InvalidOperands
    _letter(r, "cholesky_update")
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
