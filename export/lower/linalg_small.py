"""Lowerings of factorizations of small matrices without loops: rows and elements are values of their own.

A step of a Loop costs 10 microseconds and more in ONNX Runtime, and the masks that read one row cost several nodes.
Matrices of at most four rows are factorized element by element instead: Cholesky, LU, triangular and tridiagonal
systems; so are the singular values of two columns, and eigenvalues of symmetric matrices of two rows.  Larger ones go
to the loops of `linalg.py`.

The other direction: `pkg/onax/onnx/linalg.py`.
"""

import numpy as np

from onax._ground import dims as dim_rules
from onax._ground import dtypes
from onax._prims import elementwise as ew
from onax._prims import elementwise_bits as on_bits
from onax._prims import linalg, linalg_spectral
from onax._prims._matrices import matmul, matrix_transpose, tril
from onax._prims.creation import full_like
from onax._prims.reductions import reduce_max
from onax._prims.shaping import expand_dims, reshape
from onax._prims.slicing import slice_in_dim, split
from onax.export.lower.linalg import (
    I32,
    MOST_UNROLLED,
    _broadcast_like,
    _cholesky,
    _conj,
    _const,
    _decompose_into_loops,
    _eigh,
    _eigh_of_two_rows,
    _element,
    _join,
    _lu,
    _magnitude,
    _nan_or_zero,
    _nan_where,
    _sum_along,
    _svd,
    _triangular_solve,
    _tridiagonal_solve,
    _where,
    _zero_nonfinite,
    _zeros,
)


def _is_small(x, least=1):
    """Whether matrices have a known number of rows and columns, from `least` to MOST_UNROLLED."""
    return dim_rules.is_constant_shape(x.shape[-2:]) and all(least <= n <= MOST_UNROLLED for n in x.shape[-2:])


def _split(x, axis):
    """The rows (axis -2) or columns (axis -1) of matrices; the axis has length 1."""
    n = x.shape[axis]
    return [x] if n == 1 else list(split(x, (1,) * n, axis))


def _times(x, scalar):
    return ew.mul(x, _broadcast_like(scalar, x))


# ---- lu


def _largest(sizes):
    """For each of several sizes but the first, whether it is the first one that is largest; NaN is the least."""
    best = sizes[0]
    best = _where(ew.ne(best, best), full_like(best, -1), best)
    larger = []
    for size in sizes[1:]:
        larger.append(ew.gt(size, best))
        best = _where(larger[-1], size, best) if len(larger) < len(sizes) - 1 else best
    chosen, later = [], None
    for flag in reversed(larger):
        chosen.insert(0, flag if later is None else on_bits.bitwise_and(flag, on_bits.bitwise_not(later)))
        later = flag if later is None else on_bits.bitwise_or(flag, later)
    return chosen


def _exchange_first(flags, parts):
    """Exchanges the first part with that part (its number is one more) whose flag is true, if there is one."""
    first, *others = parts
    new = first
    for i, (flag, part) in enumerate(zip(flags, others)):
        flag = _broadcast_like(flag, part)
        new = _where(flag, part, new)
        others[i] = _where(flag, first, part)
    return [new, *others]


def _small_lu(x):
    *batch, m, n = x.shape
    rows = _split(x, -2)
    order = [full_like(x, i, dtype=I32, shape=(*batch, 1, 1)) for i in range(m)]
    done, pivots = [], []
    for j in range(min(m, n)):
        number = full_like(x, j, dtype=I32, shape=(*batch, 1, 1))
        if len(rows) > 1:
            flags = _largest([_magnitude(slice_in_dim(row, j, j + 1, axis=-1)) for row in rows])
            rows, order[j:] = _exchange_first(flags, rows), _exchange_first(flags, order[j:])
            for i, flag in enumerate(flags):
                number = _where(flag, full_like(number, j + 1 + i), number)
        pivots.append(number)
        done.append(rows[0])
        rows = _eliminate(rows, j)
    done += rows
    flat = lambda parts: reshape(_join(parts, -2), (*batch, len(parts)))
    return [_join(done, -2), flat(pivots), flat(order)]


def _eliminate(rows, j):
    """The rows after the first one, without their element j, in whose place stands the factor of the first row."""
    first, *others = rows
    n = first.shape[-1]
    if not others:
        return []
    pivot, rest = slice_in_dim(first, j, j + 1, axis=-1), slice_in_dim(first, j + 1, n, axis=-1)
    pivot = _where(ew.eq(pivot, _zeros(pivot)), full_like(pivot, 1), pivot)
    out = []
    for row in others:
        before, head, tail = split(row, (j, 1, n - j - 1), -1)
        factor = ew.div(head, pivot)
        parts = [before, factor, ew.sub(tail, _times(rest, factor))]
        out.append(_join([part for part in parts if part.shape[-1]], -1))
    return out


def _lu_of_any_size(x):
    return _small_lu(x) if _is_small(x) else _lu(x)


_decompose_into_loops(linalg.lu_p, _lu_of_any_size)


# ---- cholesky


def _small_cholesky(x):
    """Column by column; a pivot that is not positive makes all later ones NaN, so the last one says so."""
    n = x.shape[-1]
    zero = _zeros(_element(x, 0, 0))
    factor = [[zero] * n for _ in range(n)]
    for j in range(n):
        for i in range(j, n):
            rest = _element(x, i, j)
            for k in range(j):
                rest = ew.sub(rest, ew.mul(factor[i][k], factor[j][k]))
            if i == j:
                positive = _where(ew.gt(rest, zero), rest, full_like(rest, np.nan))
                factor[i][j] = ew.sqrt(positive if j == n - 1 else rest)
            else:
                factor[i][j] = ew.div(rest, factor[j][j])
    last = factor[-1][-1]
    whole = _join([_join(row, -1) for row in factor], -2)
    if n == 1:
        return whole
    failed = _broadcast_like(ew.ne(last, last), whole)
    return tril(_where(failed, full_like(whole, np.nan), whole))


def _cholesky_of_any_size(x):
    return _small_cholesky(x) if _is_small(x) and not dtypes.is_complex(x.dtype) else _cholesky(x)


_decompose_into_loops(linalg.cholesky_p, _cholesky_of_any_size)


# ---- tridiagonal systems


def _small_tridiagonal_solve(lower, middle, upper, b):
    """Elimination with exchanges of neighbouring rows, as in LAPACK's xGTSV; NaN where a pivot is 0."""
    n = middle.shape[-1]
    lower, middle, upper = (_split(expand_dims(x, (-1,)), -2) for x in (lower, middle, upper))
    rows, zero = _split(b, -2), _zeros(middle[0])
    first, second = middle[0], upper[0]
    done = []
    for i in range(1, n):
        after = upper[i] if i < n - 1 else zero
        swap = ew.gt(ew.abs(lower[i]), ew.abs(first))
        above, below = (_where(swap, x, y) for x, y in ((lower[i], first), (first, lower[i])))
        factor = ew.div(below, above)
        beside, under = (_where(swap, x, y) for x, y in ((middle[i], second), (second, middle[i])))
        far, near = (zero, zero) if i == n - 1 else (_where(swap, after, zero), _where(swap, zero, after))
        wide = _broadcast_like(swap, rows[i])
        top, rest = _where(wide, rows[i], rows[i - 1]), _where(wide, rows[i - 1], rows[i])
        done.append((above, beside, far, top))
        first = ew.sub(under, ew.mul(factor, beside))
        second = near if i == n - 1 else ew.sub(near, ew.mul(factor, far))
        rows[i] = ew.sub(rest, _times(top, factor))
    first = _where(ew.eq(first, zero), full_like(first, np.nan), first)
    out = [ew.div(rows[-1], _broadcast_like(first, rows[-1]))]
    for i, (pivot, beside, far, row) in reversed(list(enumerate(done))):
        row = ew.sub(row, _times(out[0], beside))
        row = row if i == n - 2 else ew.sub(row, _times(out[1], far))
        out.insert(0, ew.div(row, _broadcast_like(pivot, row)))
    return _join(out, -2)


def _tridiagonal_solve_of_any_size(dl, d, du, b, *, perturb_singular):
    if dim_rules.is_constant(d.shape[-1]) and 2 <= d.shape[-1] <= MOST_UNROLLED:
        if not (perturb_singular or dtypes.is_complex(d.dtype) or dim_rules.definitely_empty(b.shape)):
            return _small_tridiagonal_solve(dl, d, du, b)
    return _tridiagonal_solve(dl, d, du, b, perturb_singular=perturb_singular)


_decompose_into_loops(linalg_spectral.tridiagonal_solve_p, _tridiagonal_solve_of_any_size)


# ---- triangular_solve


def _small_triangular_solve(a, b, lower, unit_diagonal):
    rows = _split(b, -2)
    n = len(rows)
    for i in range(n) if lower else reversed(range(n)):
        for k in range(i) if lower else range(i + 1, n):
            rows[i] = ew.sub(rows[i], _times(rows[k], _element(a, i, k)))
        if not unit_diagonal:
            rows[i] = ew.div(rows[i], _broadcast_like(_element(a, i, i), rows[i]))
    return _join(rows, -2)


def _triangular_solve_of_any_size(a, b, *, left_side, lower, transpose_a, conjugate_a, unit_diagonal):
    if not _is_small(a) or b.dtype.itemsize == 2 or dim_rules.definitely_empty(b.shape):
        how = {"transpose_a": transpose_a, "conjugate_a": conjugate_a, "unit_diagonal": unit_diagonal}
        return _triangular_solve(a, b, left_side=left_side, lower=lower, **how)
    if not left_side:
        b, transpose_a = matrix_transpose(b), not transpose_a
    a = _conj(a) if conjugate_a else a
    if transpose_a:
        a, lower = matrix_transpose(a), not lower
    x = _small_triangular_solve(a, b, lower, unit_diagonal)
    return x if left_side else matrix_transpose(x)


_decompose_into_loops(linalg.triangular_solve_p, _triangular_solve_of_any_size)


# ---- eigenvalues and singular values


def _eigh_of_any_size(x, *, lower, sort_eigenvalues, subset_by_index, algorithm):
    if not _is_small(x) or x.shape[-1] > 2 or dtypes.is_complex(x.dtype):
        how = {"sort_eigenvalues": sort_eigenvalues, "subset_by_index": subset_by_index, "algorithm": algorithm}
        return _eigh(x, lower=lower, **how)
    if x.shape[-1] == 1:
        none = _nan_or_zero(x)
        return ew.add(none, full_like(x, 1)), reshape(ew.add(x, none), x.shape[:-1])
    a, b = (_element(x, i, i) for i in range(2))
    c = _element(x, 1, 0) if lower else _element(x, 0, 1)
    values, vectors = _eigh_of_two_rows(a, b, c)
    none = ew.add(ew.add(_nan_or_zero(a), _nan_or_zero(b)), _nan_or_zero(c))
    vectors = ew.add(vectors, _broadcast_like(none, vectors))
    return vectors, reshape(ew.add(values, _broadcast_like(none, values)), x.shape[:-1])


_decompose_into_loops(linalg_spectral.eigh_p, _eigh_of_any_size)


def _svd_of_one(x):
    none = _nan_or_zero(x)
    one = full_like(x, 1)
    sign = _where(ew.lt(x, _zeros(x)), full_like(x, -1), one)
    size = ew.add(ew.abs(x), none)
    return reshape(size, x.shape[:-1]), ew.add(sign, none), ew.add(one, none)


def _singular_values_of_two_columns(x):
    """The larger is the root of the larger eigenvalue of x^T x, the other the area of the columns divided by it.

    The area is that of one column and of the part of the other that is orthogonal to it, so it does not cancel.
    """
    batch = x.shape[:-2]
    rank = len(x.shape)
    x, bad = _zero_nonfinite(x)
    largest = expand_dims(reduce_max(ew.abs(x), (rank - 2, rank - 1)), (-2, -1))
    scale = _where(ew.eq(largest, _zeros(largest)), full_like(largest, 1), largest)
    x = ew.div(x, _broadcast_like(scale, x))
    gram = matmul(matrix_transpose(x), x, None)
    a, b, c = _element(gram, 0, 0), _element(gram, 1, 1), _element(gram, 0, 1)
    half = _const(a, 0.5)
    gap = ew.mul(ew.sub(a, b), half)
    larger = ew.add(ew.mul(ew.add(a, b), half), ew.sqrt(ew.add(ew.mul(gap, gap), ew.mul(c, c))))
    first = ew.sqrt(larger)
    left, right = _split(x, -1)
    safe = _where(ew.eq(b, _zeros(b)), full_like(b, 1), b)
    across = ew.sub(left, _times(right, ew.div(c, safe)))
    height = ew.sqrt(_sum_along(ew.mul(across, across), -2))
    empty = ew.eq(first, _zeros(first))
    second = ew.div(ew.mul(height, ew.sqrt(b)), _where(empty, full_like(first, 1), first))
    values = ew.mul(_join([first, ew.min(first, second)], -2), _broadcast_like(scale, _join([first, second], -2)))
    return _nan_where(bad, reshape(values, (*batch, 2)))


def _svd_of_any_size(x, *, full_matrices, compute_uv, subset_by_index, algorithm):
    if _is_small(x) and not dtypes.is_complex(x.dtype):
        if x.shape[-2:] == (1, 1):
            values, *vectors = _svd_of_one(x)
            return (values, *vectors) if compute_uv else (values,)
    if not compute_uv and not dtypes.is_complex(x.dtype) and dim_rules.is_constant_shape(x.shape[-2:]):
        if min(x.shape[-2:]) == 2:
            tall = x if x.shape[-1] == 2 else matrix_transpose(x)
            return (_singular_values_of_two_columns(tall),)
    how = {"subset_by_index": subset_by_index, "algorithm": algorithm}
    return _svd(x, full_matrices=full_matrices, compute_uv=compute_uv, **how)


_decompose_into_loops(linalg_spectral.svd_p, _svd_of_any_size)
