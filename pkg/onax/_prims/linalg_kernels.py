"""Kernels of the linear algebra primitives: LAPACK through NumPy and SciPy.

NumPy's functions take stacks of matrices and need no further import.  SciPy is imported at the first call; its routines
(getrf, trsm, gees, ...) are called matrix by matrix.  Stacks of many small matrices are instead computed by loops over
rows in which each step works on all matrices.  A matrix for which LAPACK fails gives NaN.
"""

import math

import numpy as np

from onax._core.rules import InvalidOperands
from onax._ground import lazy
from onax._prims.convert import cast

_LETTERS = {np.dtype(code): letter for code, letter in zip(("f4", "f8", "c8", "c16"), "sdcz")}
_MANY = 8  # longer stacks of matrices up to _SMALL are computed by one loop for all matrices
_SMALL = 32


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


def _is_many_small(count, size):
    return count > _MANY and size <= _SMALL


def _nans(x, shape, dtype=None):
    return np.full(shape, np.nan, x.dtype if dtype is None else dtype)


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


def cholesky(x):
    """The lower factor with zeros above its diagonal; reads the lower triangle of x.  A NaN makes the whole factor
    NaN."""
    factor = _map_matrices(np.linalg.cholesky, x, "cholesky")
    return _set_failed_to_nan(factor, np.isnan(factor))


# ---- triangular_solve ----


def triangular_solve(a, b, *, left_side, lower, transpose_a, conjugate_a, unit_diagonal):
    """The solution x of op(a) x = b, or of x op(a) = b."""
    if a.shape[:-2] != b.shape[:-2] or a.shape[-1] != a.shape[-2] or a.shape[-1] != b.shape[-2 if left_side else -1]:
        raise InvalidOperands
    if b.size == 0:
        return np.empty(b.shape, b.dtype)
    if a.dtype.itemsize == 2:
        params = (left_side, lower, transpose_a, conjugate_a, unit_diagonal)
        return cast(_triangular_solve(a.astype(np.float32), b.astype(np.float32), *params), b.dtype)
    return _triangular_solve(a, b, left_side, lower, transpose_a, conjugate_a, unit_diagonal)


def _triangular_solve(a, b, left_side, lower, transpose_a, conjugate_a, unit_diagonal):
    if conjugate_a and not transpose_a:
        a = a.conj()
    stack_a, stack_b = _as_stack(a), _as_stack(b)
    if _is_many_small(len(stack_a), a.shape[-1]):
        if conjugate_a and transpose_a:
            stack_a = stack_a.conj()
        if left_side == transpose_a:
            stack_a, lower = stack_a.swapaxes(1, 2), not lower
        if not left_side:
            return _substitute(stack_a, stack_b.swapaxes(1, 2), lower, unit_diagonal).swapaxes(1, 2).reshape(b.shape)
        return _substitute(stack_a, stack_b, lower, unit_diagonal).reshape(b.shape)
    trsm = getattr(lazy.scipy_linalg_blas, _letter(a, "triangular_solve") + "trsm")
    out = np.empty(stack_b.shape, b.dtype)
    # LAPACK reads a row-major matrix as its transpose, so the transposed equation with the other side and triangle is
    # solved.
    how = {
        "side": int(left_side),
        "lower": int(not lower),
        "trans_a": (2 if conjugate_a else 1) if transpose_a else 0,
        "diag": int(unit_diagonal),
    }
    for i in range(len(out)):
        out[i] = trsm(1.0, stack_a[i].T, stack_b[i].T, **how).T
    return out.reshape(b.shape)


def _substitute(a, b, lower, unit_diagonal):
    """Solves a x = b for stacks by substitution, row by row."""
    x = np.array(b)
    n = a.shape[-1]
    for i in range(n) if lower else range(n - 1, -1, -1):
        known = slice(0, i) if lower else slice(i + 1, n)
        x[:, i] -= np.matmul(a[:, i : i + 1, known], x[:, known])[:, 0]
        if not unit_diagonal:
            x[:, i] /= a[:, i, i, None]
    return x


# ---- lu ----


def lu(x):
    """(both factors in one array, pivots, permutation)"""
    *lead, m, n = x.shape
    k = min(m, n)
    getrf = _lapack(x, "getrf", "lu")
    stack = _as_stack(x)
    if _is_many_small(len(stack), max(m, n)):
        out, pivots = _lu_of_many(np.array(stack), k)
    else:
        out, pivots = np.empty(stack.shape, x.dtype), np.empty((len(stack), k), np.int32)
        for i, one in enumerate(stack) if _is_nonempty(m, n) else ():
            out[i], pivots[i], _ = getrf(one)
    pivots = pivots.reshape(*lead, k)
    return out.reshape(x.shape), pivots, lu_pivots_to_permutation(pivots, permutation_size=m)


def _is_nonempty(*sizes):
    """Whether no size is 0, so that there is something to compute."""
    return all(sizes)


def _lu_of_many(a, k):
    """Eliminates with partial pivoting in place; each step works on all matrices."""
    count = len(a)
    rows = np.arange(count)
    pivots = np.empty((count, k), np.int32)
    for j in range(k):
        size = np.abs(a[:, j:, j].real) + np.abs(a[:, j:, j].imag) if a.dtype.kind == "c" else np.abs(a[:, j:, j])
        p = j + np.where(np.isnan(size), -1, size).argmax(1)
        pivots[:, j] = p
        a[rows, p], a[:, j] = a[:, j].copy(), a[rows, p]
        pivot = a[:, j, j, None]
        a[:, j + 1 :, j] /= np.where(pivot == 0, 1, pivot)
        a[:, j + 1 :, j + 1 :] -= a[:, j + 1 :, j, None] * a[:, j, None, j + 1 :]
    return a, pivots


def lu_pivots_to_permutation(pivots, *, permutation_size):
    """The order of rows after the exchanges that pivots describe."""
    *lead, k = pivots.shape
    flat = pivots.reshape(math.prod(lead), k)
    order = np.tile(np.arange(permutation_size, dtype=np.int32), (len(flat), 1))
    rows = np.arange(len(flat))
    for i in range(k):
        j = np.clip(flat[:, i], 0, permutation_size - 1)
        order[rows, i], order[rows, j] = order[rows, j], order[rows, i]
    return order.reshape(*lead, permutation_size)


# ---- qr ----


def qr(x, *, pivoting, full_matrices, use_magma=None):
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


def geqrf(x):
    """[r above the diagonal and reflections below, taus]"""
    _letter(x, "geqrf")
    h, taus = np.linalg.qr(x, mode="raw")
    return [np.ascontiguousarray(h.swapaxes(-1, -2)), taus]


def householder_product(a, taus):
    """The first columns of the product of reflections that a's columns and taus hold."""
    m, n = a.shape[-2:]
    if n > m or taus.shape[-1] > n or taus.shape[:-1] != a.shape[:-2]:
        raise InvalidOperands
    orgqr = _lapack(a, "orgqr", "householder_product")
    out = np.empty(a.shape, a.dtype)
    stack, flat, rows = _as_stack(out), _as_vectors(taus), _as_stack(a)
    for i in range(len(stack)) if _is_nonempty(m, n) else ():
        stack[i] = orgqr(rows[i], flat[i])[0]
    return out


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


def eig(x, *, compute_left_eigenvectors, compute_right_eigenvectors, enable_eigvec_derivs=False, implementation=None):
    """[eigenvalues, left eigenvectors, right eigenvectors], complex; eigenvectors only where asked for."""
    geev = _lapack(x, "geev", "eig")
    kind = np.dtype(np.complex64) if x.dtype.itemsize * (2 - (x.dtype.kind == "c")) == 8 else np.dtype(np.complex128)
    *lead, n, m = x.shape
    if n != m:
        raise InvalidOperands
    stack = _as_stack(x)
    w = _nans(x, (len(stack), n), kind)
    left, right = (_nans(x, (len(stack), n, n), kind) for _ in range(2))
    for i, one in enumerate(stack) if n else ():
        if not np.isfinite(one).all():
            w[i] = left[i] = right[i] = complex(np.nan, np.nan)
            continue
        one, scale = _scale_into_range(one)
        *values, vl, vr, _ = geev(one, compute_left_eigenvectors, compute_right_eigenvectors)
        w[i] = (values[0] if len(values) == 1 else values[0] + 1j * values[1]) * scale
        if compute_left_eigenvectors:
            left[i] = vl if len(values) == 1 else _combine_conjugate_pairs(vl, values[1])
        if compute_right_eigenvectors:
            right[i] = vr if len(values) == 1 else _combine_conjugate_pairs(vr, values[1])
    outs = [w.reshape(*lead, n)]
    for is_computed, v in ((compute_left_eigenvectors, left), (compute_right_eigenvectors, right)):
        if is_computed:
            outs.append(v.reshape(x.shape))
    return outs


def _scale_into_range(x):
    """(the matrix divided by a power of two, the power) for matrices so large or small that LAPACK would scale them.

    LAPACK's geev then returns scaled eigenvalues when it finds all of them (JAX shows this too).
    """
    info, size = np.finfo(x.dtype), float(np.max(np.abs(x)))
    smallest = np.sqrt(float(info.tiny)) / float(info.eps)
    if size == 0 or smallest <= size <= 1 / smallest:
        return x, x.real.dtype.type(1)
    one, exponent = x.real.dtype.type(1), int(np.frexp(size)[1]) - 1
    half = exponent // 2  # the inverse of the whole power may overflow
    return x * np.ldexp(one, -half) * np.ldexp(one, half - exponent), np.ldexp(one, exponent)


def _combine_conjugate_pairs(v, imaginary):
    """Makes complex eigenvectors from the real and imaginary parts that LAPACK returns for a conjugate pair."""
    out = v.astype(np.result_type(v, np.complex64))
    for i in np.flatnonzero(imaginary > 0):
        out[:, i] = v[:, i] + 1j * v[:, i + 1]
        out[:, i + 1] = v[:, i] - 1j * v[:, i + 1]
    return out


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


def schur(x, *, compute_schur_vectors, sort_eig_vals=False, select_callable=None):
    """[Schur form, Schur vectors on request]"""
    gees = _lapack(x, "gees", "schur")
    if x.shape[-1] != x.shape[-2]:
        raise InvalidOperands
    stack = _as_stack(x)
    form, vectors = (np.full(stack.shape, np.nan, x.dtype) for _ in range(2))
    for i, one in enumerate(stack) if x.shape[-1] else ():
        if not np.isfinite(one).all():
            continue
        results = gees(lambda *_: False, one, int(compute_schur_vectors), 0)
        if not results[-1]:
            form[i], vectors[i] = results[0], results[-3]
    out = [form.reshape(x.shape)]
    return [*out, vectors.reshape(x.shape)] if compute_schur_vectors else out


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


def tridiagonal_solve(dl, d, du, b, *, perturb_singular=False):
    """Solves a tridiagonal system; dl[0] and du[-1] are not read."""
    if not (dl.shape == d.shape == du.shape == b.shape[:-1]):
        raise InvalidOperands
    gtsv = _lapack(d, "gtsv", "tridiagonal_solve")
    out = np.empty(b.shape, b.dtype)
    n = d.shape[-1]
    if b.size == 0:
        return out
    if n == 1:
        return b / d[..., None]
    stack, given = _as_stack(out), _as_stack(b)
    below, middle, above = map(_as_vectors, (dl, d, du))
    for i in range(len(stack)):
        *_, x, info = gtsv(below[i, 1:], middle[i], above[i, :-1], given[i])
        if not info:
            stack[i] = x
        elif perturb_singular:
            stack[i] = _solve_perturbed(below[i], np.array(middle[i]), np.array(above[i]), np.array(given[i]))
        else:
            stack[i] = np.nan
    return out


def _solve_perturbed(dl, d, du, b):
    """Eliminates with exchanges of neighbouring rows; replaces a pivot 0 by a rounding error of the matrix."""
    n, info = len(d), np.finfo(d.dtype)
    tiny = max(info.eps * max(np.abs(x).max() for x in (dl[1:], d, du[:-1])), info.tiny)
    further = np.zeros_like(d)  # the second superdiagonal, which exchanges fill
    for i in range(n - 1):
        if abs(d[i]) >= abs(dl[i + 1]):
            d[i] = d[i] if d[i] else tiny
            factor = dl[i + 1] / d[i]
            d[i + 1] -= factor * du[i]
            b[i + 1] -= factor * b[i]
            continue
        factor = d[i] / dl[i + 1]
        d[i], du[i], d[i + 1] = dl[i + 1], d[i + 1], du[i] - factor * d[i + 1]
        further[i], du[i + 1] = du[i + 1], -factor * du[i + 1]
        b[i], b[i + 1] = b[i + 1].copy(), b[i] - factor * b[i + 1]
    d[-1] = d[-1] if d[-1] else tiny
    for i in range(n - 1, -1, -1):
        if i + 1 < n:
            b[i] -= du[i] * b[i + 1]
        if i + 2 < n:
            b[i] -= further[i] * b[i + 2]
        b[i] /= d[i]
    return b


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
