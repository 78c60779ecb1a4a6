"""Lowerings of decompositions of general matrices for the portable target: Hessenberg, tridiagonal, Schur, eigenvalues.

All are loops over columns of a whole stack of matrices.  Hessenberg and tridiagonal form use LAPACK's reflections, so
results agree with the kernels up to rounding.  The Schur form comes from Francis' implicit QR steps, from the bottom up
(Golub and Van Loan, "Matrix Computations", 7.5): with two shifts for real matrices, one for complex ones.  Every matrix
of the stack has its own window and shifts, and does not change once it has converged.  Back substitution computes the
eigenvectors of the triangular form.  Matrices are not balanced, and the order of eigenvalues may differ from that of
LAPACK; a matrix that needs more than 30 steps per row gives NaN.
"""

import numpy as np

from onax._control.while_loop import while_loop
from onax._ground import dims, dtypes
from onax._prims import elementwise as ew
from onax._prims import elementwise_bits as on_bits
from onax._prims import linalg_spectral
from onax._prims._matrices import adjoint, batched_eye, diagonal, matmul, matrix_transpose, tril, triu
from onax._prims.convert import convert
from onax._prims.creation import full_like
from onax._prims.padding import pad
from onax._prims.reductions import argmax, reduce_max, reduce_or
from onax._prims.shaping import expand_dims, reduce_sum, reshape, rev
from onax._prims.slicing import concatenate, dim_as_value_p, dynamic_slice, slice_in_dim, zero_scalar
from onax.export.lower.linalg import (
    I32,
    _broadcast_like,
    _conj,
    _const,
    _decompose_into_loops,
    _element,
    _householder_reflection,
    _index_along,
    _join,
    _loop,
    _magnitude,
    _nan_or_zero,
    _nan_where,
    _outer_product,
    _put,
    _real,
    _reflect,
    _sum_along,
    _take,
    _where,
    _zero_nonfinite,
    _zeros,
)

# ---- Hessenberg and tridiagonal form


def _scaled_reflection(column, j):
    """`_householder_reflection` of a column that is scaled first, so that squares do not underflow."""
    column = _where(ew.ge(_index_along(column.shape, -2), j), column, _zeros(column))
    size = _magnitude(column)
    axis = len(size.shape) - 2
    largest = expand_dims(reduce_max(size, (axis,)), (axis,))
    largest = convert(_where(ew.gt(largest, _zeros(largest)), largest, full_like(largest, 1)), column.dtype)
    v, tau, beta = _householder_reflection(ew.div(column, _broadcast_like(largest, column)), j)
    return v, tau, ew.mul(beta, largest)


def _transform_similarly(a, v, tau):
    """(1 - tau v v^H)^H a (1 - tau v v^H)"""
    a = _reflect(a, v, _conj(tau))
    return ew.sub(a, _outer_product(ew.mul(matmul(a, v, None), _broadcast_like(tau, v)), adjoint(v), a))


def _hessenberg(x):
    *batch, n, _ = x.shape
    row, column = _index_along(x.shape, -2), _index_along(x.shape, -1)

    def step(j, state):
        a, taus = state
        under = ew.add(j, np.int32(1))
        v, tau, _ = _scaled_reflection(_take(a, j, -1), under)
        reflected = _transform_similarly(a, v, tau)
        below_subdiagonal = on_bits.bitwise_and(ew.eq(column, j), ew.gt(row, under))
        a = _where(ew.lt(column, j), a, _where(below_subdiagonal, _broadcast_like(v, a), reflected))
        return a, _put(taus, reshape(tau, (*batch, 1)), j, -1)

    return list(_loop(n - 1, step, (x, full_like(x, 0, shape=(*batch, n - 1)))))


_decompose_into_loops(linalg_spectral.hessenberg_p, _hessenberg)


def _flip(x):
    return rev(x, (len(x.shape) - 2, len(x.shape) - 1))


def _tridiagonal(x, *, lower):
    if x.shape[-1] == 2 and not dtypes.is_complex(x.dtype):
        beside = _element(x, 1, 0) if lower else _element(x, 0, 1)
        beside = reshape(beside, (*x.shape[:-2], 1))
        return [x, diagonal(x), beside, _zeros(beside)]
    if not lower:
        form, *bands = _tridiagonal(_flip(x), lower=True)
        return [_flip(form), *(rev(band, (len(band.shape) - 1,)) for band in bands)]
    *batch, n, _ = x.shape
    row, column = _index_along(x.shape, -2), _index_along(x.shape, -1)
    on_diagonal = ew.eq(row, column)
    real = convert(_real(x), x.dtype)
    a = _where(on_diagonal, real, ew.add(tril(x, -1), adjoint(tril(x, -1))))
    empty = full_like(x, 0, shape=(*batch, n - 1))

    def step(j, state):
        a, form, beside, taus = state
        under = ew.add(j, np.int32(1))
        v, tau, beta = _scaled_reflection(_take(a, j, -1), under)
        column_j = _where(ew.gt(row, under), _broadcast_like(v, a), _broadcast_like(beta, a))
        form = _where(on_bits.bitwise_and(ew.eq(column, j), ew.gt(row, j)), column_j, form)
        beside = _put(beside, reshape(beta, (*batch, 1)), j, -1)
        return _transform_similarly(a, v, tau), form, beside, _put(taus, reshape(tau, (*batch, 1)), j, -1)

    a, form, beside, taus = _loop(n - 1, step, (a, x, empty, empty))
    form = _where(on_diagonal, convert(_real(a), x.dtype), form)
    return [form, _real(diagonal(a)), _real(beside), taus]


_decompose_into_loops(linalg_spectral.tridiagonal_p, _tridiagonal)

# ---- the Schur form: code for real and complex matrices

_MOST_STEPS = 30  # QR steps for each row, at most
_STEPS_TO_EXCEPTIONAL_SHIFT = 10  # QR steps without a deflation, after which the shifts are exceptional


def _window(x, k, size, axis):
    """The `size` rows (axis -2) or columns (axis -1) that start at k."""
    starts, sizes = [np.int32(0)] * len(x.shape), list(x.shape)
    starts[axis], sizes[axis] = k, size
    return dynamic_slice(x, starts, sizes)


def _element_at(x, i, j):
    """The element (i, j) of each matrix, 0 out of bounds; i and j have two trailing axes of length 1."""
    row, column = _index_along(x.shape, -2), _index_along(x.shape, -1)
    here = on_bits.bitwise_and(ew.eq(row, _broadcast_like(i, row)), ew.eq(column, _broadcast_like(j, column)))
    return _sum_along(_sum_along(_where(here, x, _zeros(x)), -1), -2)


def _shift_index(i, by):
    return ew.add(i, np.int32(by))


def _largest_index(mask, otherwise):
    """The largest index of a true element along the last axis but one, `otherwise` if there is none."""
    index = _index_along(mask.shape, -2)
    axis = len(mask.shape) - 2
    return expand_dims(reduce_max(_where(mask, index, full_like(index, otherwise)), (axis,)), (axis,))


def _shift_mask(mask, by):
    """Shifts bools along the last axis but one by 1 or -1, and fills with False."""
    n, axis = mask.shape[-2], len(mask.shape) - 2
    end = full_like(slice_in_dim(mask, 0, 1, axis=-2), False)
    if by > 0:
        return concatenate([end, slice_in_dim(mask, 0, n - 1, axis=-2)], axis)
    return concatenate([slice_in_dim(mask, 1, n, axis=-2), end], axis)


def _deflate(h):
    """(h with negligible subdiagonal elements set to 0, the mask of the others: the links between its rows)"""
    size = _magnitude(h)
    middle = expand_dims(diagonal(size), (-1,))
    n = h.shape[-1]
    beside = expand_dims(diagonal(slice_in_dim(slice_in_dim(size, 1, n, axis=-2), 0, n - 1, axis=-1)), (-1,))
    unit = ew.add(slice_in_dim(middle, 0, n - 1, axis=-2), slice_in_dim(middle, 1, n, axis=-2))
    rank = len(h.shape)
    norm = expand_dims(reduce_max(size, (rank - 2, rank - 1)), (-2, -1))
    unit = _where(ew.gt(unit, _zeros(unit)), unit, _broadcast_like(norm, unit))
    info = dtypes.finfo(size.dtype)
    limit = ew.max(ew.mul(unit, _const(unit, info.eps)), full_like(unit, info.tiny))
    linked = ew.gt(beside, limit)
    row, column = _index_along(h.shape, -2), _index_along(h.shape, -1)
    below = ew.eq(row, _shift_index(column, 1))
    up = concatenate([full_like(slice_in_dim(linked, 0, 1, axis=-2), False), linked], rank - 2)
    return _where(on_bits.bitwise_and(below, on_bits.bitwise_not(_broadcast_like(up, below))), _zeros(h), h), linked


def _active_links(linked, pairs_are_done):
    """The links of blocks that have not converged; real blocks of two rows have."""
    if not pairs_are_done:
        return linked
    return on_bits.bitwise_and(linked, on_bits.bitwise_or(_shift_mask(linked, 1), _shift_mask(linked, -1)))


def _number(d):
    """A dimension as an int32 scalar."""
    return np.int32(d) if dims.is_constant(d) else convert(dim_as_value_p.bind(dim=d), I32)


def _iterate_qr_steps(h, z, sweep, pairs_are_done):
    """(h, z, mask of links that did not converge) after QR steps; sweep(h, z, low, high, stuck) -> (h, z)."""
    most = _number(_MOST_STEPS * dims.max_dim(h.shape[-1], 10))
    start = full_like(slice_in_dim(slice_in_dim(_magnitude(h), 0, 1, axis=-1), 0, 1, axis=-2), 0, dtype=I32)

    def unfinished(state):
        k, h, *_ = state
        work = _active_links(_deflate(h)[1], pairs_are_done)
        return on_bits.bitwise_and(ew.lt(k, most), reduce_or(work, tuple(range(len(work.shape)))))

    def step(state):
        k, h, z, before, waited = state
        h, linked = _deflate(h)
        high = _shift_index(_largest_index(_active_links(linked, pairs_are_done), -1), 1)
        index = _index_along(linked.shape, -2)
        broken = on_bits.bitwise_and(on_bits.bitwise_not(linked), ew.lt(index, _broadcast_like(high, index)))
        low = _shift_index(_largest_index(broken, -1), 1)
        waited = _where(ew.eq(high, before), _shift_index(waited, 1), _zeros(waited))
        stuck = ew.eq(ew.rem(waited, np.int32(_STEPS_TO_EXCEPTIONAL_SHIFT + 1)), np.int32(_STEPS_TO_EXCEPTIONAL_SHIFT))
        h, z = sweep(h, z, low, high, stuck)
        return _shift_index(k, 1), triu(h, -1), z, high, waited

    _, h, z, *_ = while_loop(unfinished, step, (np.int32(0), h, z, start, start))
    h, linked = _deflate(h)
    return h, z, _active_links(linked, pairs_are_done)


def _to_hessenberg(x):
    """(h, q): the Hessenberg form and a unitary q with q h q^H = x."""
    n = x.shape[-1]

    def step(j, state):
        a, q = state
        v, tau, _ = _scaled_reflection(_take(a, j, -1), _shift_index(j, 1))
        q = ew.sub(q, _outer_product(ew.mul(matmul(q, v, None), _broadcast_like(tau, v)), adjoint(v), q))
        return _transform_similarly(a, v, tau), q

    h, q = _loop(n - 1, step, (x, batched_eye(x.shape, x.dtype)))
    return triu(h, -1), q


def _apply_rotation(h, z, turn, k):
    """Applies a small unitary `turn` to rows and columns from k on: (turn^H h turn, z turn)."""
    size = turn.shape[-1]
    h = _put(h, matmul(adjoint(turn), _window(h, k, size, -2), None), k, -2)
    h = _put(h, matmul(_window(h, k, size, -1), turn, None), k, -1)
    return h, _put(z, matmul(_window(z, k, size, -1), turn, None), k, -1)


# ---- of real matrices


def _double_shift_column(h, low, high, stuck):
    """The three nonzero elements of the first column of (h - s1)(h - s2), with the eigenvalues of the last block."""
    before = _shift_index(high, -1)
    a, b, c, d = (_element_at(h, i, j) for i in (before, high) for j in (before, high))
    trace, det = ew.add(a, d), ew.sub(ew.mul(a, d), ew.mul(b, c))
    size = ew.add(ew.abs(c), ew.abs(_element_at(h, before, _shift_index(high, -2))))
    trace = _where(stuck, ew.mul(size, _const(size, 1.5)), trace)
    det = _where(stuck, ew.mul(size, size), det)
    after = _shift_index(low, 1)
    a, b, c, d = (_element_at(h, i, j) for i in (low, after) for j in (low, after))
    x = ew.add(ew.sub(ew.mul(a, a), ew.mul(trace, a)), ew.add(ew.mul(b, c), det))
    y = ew.mul(c, ew.sub(ew.add(a, d), trace))
    return x, y, ew.mul(c, _element_at(h, _shift_index(low, 2), after))


def _stack_rows(*rows):
    """Stacks values with two trailing axes of length 1 into a column vector."""
    n = len(rows)
    shape = (*rows[0].shape[:-2], n, 1)
    index = _index_along(shape, -2)
    out = full_like(rows[0], 0, shape=shape)
    for i, row in enumerate(rows):
        out = _where(ew.eq(index, np.int32(i)), _broadcast_like(row, out), out)
    return out


def _reflector(x):
    """The reflections that map columns x to multiples of the first unit vector."""
    v, tau, _ = _scaled_reflection(x, np.int32(0))
    unit = batched_eye((*x.shape[:-1], x.shape[-2]), x.dtype)
    return ew.sub(unit, _outer_product(ew.mul(v, _broadcast_like(tau, v)), adjoint(v), unit))


def _double_sweep(h, z, low, high, stuck):
    """One QR step with both shifts, which transforms three rows and columns at a time."""
    n = h.shape[-1]
    first = _stack_rows(*_double_shift_column(h, low, high, stuck))
    none = [(0, 0, 0)] * (len(h.shape) - 2)
    zero = zero_scalar(h.dtype)
    h, z = pad(h, zero, [*none, (0, 1, 0), (0, 1, 0)]), pad(z, zero, [*none, (0, 0, 0), (0, 1, 0)])
    index = _index_along(first.shape, -2)

    def step(k, state):
        h, z = state
        column = _window(_take(h, _shift_index(k, -1), -1), k, 3, -2)
        column = _where(_broadcast_like(ew.eq(low, k), column), first, column)
        within = ew.le(ew.add(index, k), _broadcast_like(high, index))
        inside = on_bits.bitwise_and(ew.ge(k, low), ew.lt(k, high))
        column = _where(on_bits.bitwise_and(within, _broadcast_like(inside, within)), column, _zeros(column))
        return _apply_rotation(h, z, _reflector(column), k)

    h, z = _loop(n - 1, step, (h, z))
    return slice_in_dim(slice_in_dim(h, 0, n, axis=-2), 0, n, axis=-1), slice_in_dim(z, 0, n, axis=-1)


def _sign(x):
    return _where(ew.ge(x, _zeros(x)), full_like(x, 1), full_like(x, -1))


def _standard_rotation(a, b, c, d):
    """(cosine, sine, whether the eigenvalues of (a b; c d) are real), as in LAPACK's xLANV2.

    The rotation makes the block triangular if its eigenvalues are real; else it makes the diagonal constant.
    """
    one, zero = full_like(a, 1), _zeros(a)
    gap = ew.sub(a, d)
    half = ew.mul(gap, _const(gap, 0.5))
    largest, smallest = ew.max(ew.abs(b), ew.abs(c)), ew.min(ew.abs(b), ew.abs(c))
    smallest = ew.mul(smallest, ew.mul(_sign(b), _sign(c)))
    scale = ew.max(ew.abs(half), largest)
    scale = _where(ew.gt(scale, zero), scale, one)
    z = ew.add(ew.mul(ew.div(half, scale), half), ew.mul(ew.div(largest, scale), smallest))
    are_real = ew.ge(z, zero)
    root = ew.mul(ew.sqrt(scale), ew.sqrt(ew.max(z, zero)))
    z = ew.add(half, ew.mul(_sign(half), root))
    length = ew.sqrt(ew.add(ew.mul(c, c), ew.mul(z, z)))
    safe = _where(ew.gt(length, zero), length, one)
    of_real = _where(ew.gt(length, zero), ew.div(z, safe), one), ew.div(c, safe)
    total = ew.add(b, c)
    length = ew.sqrt(ew.add(ew.mul(total, total), ew.mul(gap, gap)))
    length = _where(ew.gt(length, zero), length, one)
    cosine = ew.sqrt(ew.mul(ew.add(one, ew.div(ew.abs(total), length)), _const(a, 0.5)))
    sine = ew.neg(ew.mul(ew.div(half, ew.mul(length, cosine)), _sign(total)))
    idle = ew.eq(gap, zero)  # the diagonal is constant already
    cosine, sine = _where(idle, one, cosine), _where(idle, zero, sine)
    return _where(are_real, of_real[0], cosine), _where(are_real, of_real[1], sine), are_real


def _standardize_blocks(h, z):
    """Makes real blocks of two rows triangular, or their diagonal constant if the eigenvalues are complex."""
    n = h.shape[-1]
    row, column = _index_along(h.shape, -2), _index_along(h.shape, -1)

    def step(k, state):
        h, z = state
        block = _window(_window(h, k, 2, -2), k, 2, -1)
        a, b, c, d = (_take(_take(block, np.int32(i), -2), np.int32(j), -1) for i in (0, 1) for j in (0, 1))
        none = ew.eq(c, _zeros(c))
        cosine, sine, are_real = _standard_rotation(a, b, c, d)
        cosine, sine = _where(none, full_like(c, 1), cosine), _where(none, _zeros(c), sine)
        across = _stack_rows(cosine, sine), _stack_rows(ew.neg(sine), cosine)
        turn = _two_columns(*across)
        h, z = _apply_rotation(h, z, turn, k)
        under = on_bits.bitwise_and(ew.eq(row, _shift_index(k, 1)), ew.eq(column, k))
        b, c = _take(_take(h, k, -2), _shift_index(k, 1), -1), _take(_take(h, _shift_index(k, 1), -2), k, -1)
        are_real = on_bits.bitwise_or(are_real, ew.ge(ew.mul(_sign(b), _sign(c)), _zeros(b)))
        h = _where(on_bits.bitwise_and(under, _broadcast_like(are_real, under)), _zeros(h), h)
        mean = ew.mul(ew.add(_diagonal_element(h, k), _diagonal_element(h, _shift_index(k, 1))), _const(h, 0.5))
        both = on_bits.bitwise_and(
            ew.eq(row, column), on_bits.bitwise_or(ew.eq(row, k), ew.eq(row, _shift_index(k, 1)))
        )
        pair = on_bits.bitwise_not(on_bits.bitwise_or(are_real, none))
        return _where(on_bits.bitwise_and(both, _broadcast_like(pair, both)), _broadcast_like(mean, h), h), z

    return _loop(n - 1, step, (h, z))


def _diagonal_element(h, k):
    """The diagonal element k of each matrix."""
    return _take(_take(h, k, -2), k, -1)


def _two_columns(left, right):
    """Matrices with these two columns."""
    shape = (*left.shape[:-1], 2)
    column = _index_along(shape, -1)
    out = full_like(left, 0, shape=shape)
    return _where(ew.eq(column, np.int32(0)), _broadcast_like(left, out), _broadcast_like(right, out))


# ---- of complex matrices


def _wilkinson_shift(h, high, stuck):
    """Wilkinson's shift: the eigenvalue of the last block of two rows that is nearer to the last diagonal element."""
    before = _shift_index(high, -1)
    a, b, c, d = (_element_at(h, i, j) for i in (before, high) for j in (before, high))
    near = ew.sub(d, _farther_root(ew.mul(ew.sub(a, d), _const(a, 0.5)), ew.mul(b, c)))
    return _where(stuck, ew.add(d, convert(ew.mul(_magnitude(c), _const(_magnitude(c), 0.75)), h.dtype)), near)


def _farther_root(half, product):
    """What to add to the first and to subtract from the last diagonal element of a block to get its eigenvalues.

    half     half the difference of these elements, complex
    product  the product of the other two elements
    """
    root = ew.sqrt(ew.add(ew.mul(half, half), product))
    plus, minus = ew.add(half, root), ew.sub(half, root)
    larger = _where(ew.ge(_magnitude(plus), _magnitude(minus)), plus, minus)
    none = ew.eq(_magnitude(larger), _zeros(_magnitude(larger)))
    step = ew.div(product, _where(none, full_like(larger, 1), larger))
    return _where(none, _zeros(step), step)


def _single_sweep(h, z, low, high, stuck):
    n = h.shape[-1]
    shift = _wilkinson_shift(h, high, stuck)
    first = _stack_rows(ew.sub(_element_at(h, low, low), shift), _element_at(h, _shift_index(low, 1), low))

    def step(k, state):
        h, z = state
        column = _window(_take(h, _shift_index(k, -1), -1), k, 2, -2)
        column = _where(_broadcast_like(ew.eq(low, k), column), first, column)
        inside = on_bits.bitwise_and(ew.ge(k, low), ew.lt(k, high))
        column = _where(_broadcast_like(inside, column), column, _zeros(column))
        return _apply_rotation(h, z, _reflector(column), k)

    return _loop(n - 1, step, (h, z))


# ---- the primitives


def _scale(x):
    """(x divided by powers of two, the powers): the largest elements become about 1."""
    size = _magnitude(x)
    rank = len(x.shape)
    largest = expand_dims(reduce_max(size, (rank - 2, rank - 1)), (rank - 2, rank - 1))
    largest = _where(ew.gt(largest, _zeros(largest)), largest, full_like(largest, 1))
    scale = ew.exp2(ew.floor(ew.mul(ew.log(largest), _const(largest, 1 / np.log(2)))))
    return ew.div(x, _broadcast_like(convert(scale, x.dtype), x)), scale


def _has_few_rows(x):
    """Whether matrices may have fewer than three rows, which cannot be told from their symbolic size."""
    n = x.shape[-1]
    return not dims.is_constant(n) and not dims.definitely_at_least(n, 3)


def _with_three_rows(x):
    """x with rows and columns of zeros, to three at least; eigenvalues that they add are the last ones."""
    missing = (0, dims.max_dim(3 - x.shape[-1], 0), 0)
    return pad(x, np.zeros((), x.dtype), [(0, 0, 0)] * (len(x.shape) - 2) + [missing] * 2)


def _first_rows(x, n):
    """The first n rows and columns of matrices."""
    return slice_in_dim(slice_in_dim(x, 0, n, axis=-1), 0, n, axis=-2)


def _schur_form(x):
    """(T, Z, mask of failures or None)"""
    if x.shape[-1] < 2:
        return x, batched_eye(x.shape, x.dtype), None
    is_real = not dtypes.is_complex(x.dtype)
    if x.shape[-1] == 2 and is_real:
        return *_standardize_blocks(_deflate(x)[0], batched_eye(x.shape, x.dtype)), None
    h, z = _to_hessenberg(x)
    h, z, left = _iterate_qr_steps(h, z, _double_sweep if is_real else _single_sweep, is_real)
    if is_real:
        h, z = _standardize_blocks(h, z)
    return (h if is_real else triu(h)), z, left


def _schur(x, *, compute_schur_vectors, sort_eig_vals, select_callable):
    if _has_few_rows(x):
        params = {"sort_eig_vals": sort_eig_vals, "select_callable": select_callable}
        out = _schur(_with_three_rows(x), compute_schur_vectors=compute_schur_vectors, **params)
        return [_first_rows(y, x.shape[-1]) for y in out]
    if x.shape[-1] == 0:
        return [x, x] if compute_schur_vectors else [x]
    if x.shape[-1] == 1 and not dtypes.is_complex(x.dtype):
        none = _nan_or_zero(x)
        return [ew.add(x, none), ew.add(full_like(x, 1), none)][: 1 + compute_schur_vectors]
    x, bad = _zero_nonfinite(x)
    x, scale = _scale(x)
    t, z, left = _schur_form(x)
    t = ew.mul(t, _broadcast_like(convert(scale, t.dtype), t))
    out = [t, z] if compute_schur_vectors else [t]
    for failed in (bad, left):
        if failed is not None:
            out = [_nan_where(failed, y) for y in out]
    return out


_decompose_into_loops(linalg_spectral.schur_p, _schur)


def _to_complex_triangular(t, z, dtype):
    """Converts (T, Z) of real matrices to complex triangular form, positive imaginary parts first."""
    n = t.shape[-1]
    t, z = convert(t, dtype), convert(z, dtype)
    row, column = _index_along(t.shape, -2), _index_along(t.shape, -1)

    def step(k, state):
        t, z = state
        block = _window(_window(t, k, 2, -2), k, 2, -1)
        b = _real(_take(_take(block, np.int32(0), -2), np.int32(1), -1))
        c = _real(_take(_take(block, np.int32(1), -2), np.int32(0), -1))
        none = ew.eq(c, _zeros(c))
        imaginary = ew.mul(ew.sqrt(ew.abs(b)), ew.sqrt(ew.abs(c)))
        length = ew.sqrt(ew.add(ew.mul(imaginary, imaginary), ew.mul(c, c)))
        length = _where(none, full_like(c, 1), length)
        zero, one = _zeros(c), full_like(c, 1)
        high = ew.complex(_where(none, one, zero), _where(none, zero, ew.div(imaginary, length)))
        low = ew.complex(_where(none, zero, ew.div(c, length)), zero)
        turn = _two_columns(_stack_rows(high, low), _stack_rows(ew.neg(low), ew.conj(high)))
        at = (
            on_bits.bitwise_and(ew.eq(row, column), ew.eq(row, k)),
            on_bits.bitwise_and(ew.eq(row, column), ew.eq(row, k + 1)),
        )
        value = ew.complex(_real(_diagonal_element(t, k)), imaginary)
        t, z = _apply_rotation(t, z, turn, k)
        pair = _broadcast_like(on_bits.bitwise_not(none), at[0])
        t = _where(on_bits.bitwise_and(at[0], pair), _broadcast_like(value, t), t)
        return _where(on_bits.bitwise_and(at[1], pair), _broadcast_like(ew.conj(value), t), t), z

    t, z = _loop(n - 1, step, (t, z))
    return triu(t), z


def _back_substitute(t):
    """The eigenvectors of upper triangular matrices, as columns of unit upper triangular matrices."""
    *_, n, _ = t.shape
    values = expand_dims(diagonal(t), (-2,))
    size = _magnitude(t)
    rank = len(t.shape)
    norm = expand_dims(reduce_max(size, (rank - 2, rank - 1)), (-2, -1))
    info = dtypes.finfo(size.dtype)
    least = ew.max(ew.mul(norm, _const(norm, info.eps)), full_like(norm, info.tiny))
    beside, last = triu(t, 1), _number(n - 1)

    def step(k, y):
        i = ew.sub(last, k)
        solution = ew.neg(matmul(_take(beside, i, -2), y, None))
        gap = ew.sub(_broadcast_like(_diagonal_element(t, i), values), values)
        close = ew.lt(_magnitude(gap), _broadcast_like(least, _magnitude(gap)))
        gap = _where(close, _broadcast_like(convert(least, t.dtype), gap), gap)
        column = _index_along(solution.shape, -1)
        solution = _where(ew.gt(column, i), ew.div(solution, gap), full_like(solution, 0))
        return _put(y, _where(ew.eq(column, i), full_like(solution, 1), solution), i, -2)

    return _loop(n, step, _zeros(t))


def _normalize(v, of_real):
    """Scales columns to length 1 with a real positive largest element; columns are real where `of_real` is true."""
    rank = len(v.shape)
    size = ew.abs(v)
    largest = expand_dims(reduce_max(size, (rank - 2,)), (rank - 2,))
    v = ew.div(v, _broadcast_like(convert(largest, v.dtype), v))
    squares = reduce_sum(_real(ew.mul(v, ew.conj(v))), (rank - 2,))
    at = expand_dims(argmax(size, rank - 2, I32), (rank - 2,))
    here = ew.eq(_index_along(v.shape, -2), _broadcast_like(at, v))
    top = _sum_along(_where(here, v, _zeros(v)), -2)
    phase = ew.div(ew.conj(top), convert(ew.mul(ew.abs(top), ew.sqrt(expand_dims(squares, (rank - 2,)))), v.dtype))
    v = ew.mul(v, _broadcast_like(phase, v))
    plain = here if of_real is None else on_bits.bitwise_or(here, _broadcast_like(of_real, here))
    return _where(plain, convert(_real(v), v.dtype), v)


def _eigenvalues_of_two_rows(x):
    """The eigenvalues of matrices of two rows, those of real ones as in LAPACK's xLANV2."""
    a, b, c, d = (_element(x, i, j) for i in range(2) for j in range(2))
    half = ew.mul(ew.sub(a, d), _const(a, 0.5))
    if dtypes.is_complex(x.dtype):
        far = _farther_root(half, ew.mul(b, c))
        return reshape(_join([ew.add(a, far), ew.sub(d, far)], -2), x.shape[:-1])
    largest, smallest = ew.max(ew.abs(b), ew.abs(c)), ew.min(ew.abs(b), ew.abs(c))
    smallest = ew.mul(smallest, ew.mul(_sign(b), _sign(c)))
    scale = ew.max(ew.abs(half), largest)
    scale = _where(ew.gt(scale, _zeros(scale)), scale, full_like(scale, 1))
    square = ew.add(ew.mul(ew.div(half, scale), half), ew.mul(ew.div(largest, scale), smallest))
    root = ew.mul(ew.sqrt(scale), ew.sqrt(ew.abs(square)))
    are_real = ew.ge(square, _zeros(square))
    far = ew.add(half, ew.mul(_sign(half), root))
    none = ew.eq(far, _zeros(far))
    near = ew.div(ew.mul(largest, smallest), _where(none, full_like(far, 1), far))
    mean = ew.sub(a, half)
    first, second = _where(are_real, ew.add(d, far), mean), _where(are_real, ew.sub(d, near), mean)
    imaginary = _where(are_real, _zeros(root), root)
    values = ew.complex(_join([first, second], -2), _join([imaginary, ew.neg(imaginary)], -2))
    return reshape(values, x.shape[:-1])


def _eig(x, *, compute_left_eigenvectors, compute_right_eigenvectors, enable_eigvec_derivs, implementation):
    dtype = np.dtype(np.complex128 if _real(x).dtype.itemsize == 8 else np.complex64)
    *batch, n, _ = x.shape
    if _has_few_rows(x):
        values, *rest = _eig(
            _with_three_rows(x),
            compute_left_eigenvectors=compute_left_eigenvectors,
            compute_right_eigenvectors=compute_right_eigenvectors,
            enable_eigvec_derivs=enable_eigvec_derivs,
            implementation=implementation,
        )
        return [slice_in_dim(values, 0, n, axis=-1), *[_first_rows(y, n) for y in rest]]
    vectors = compute_left_eigenvectors + compute_right_eigenvectors
    if n == 0:
        return [full_like(x, 0, dtype, (*batch, 0)), *[full_like(x, 0, dtype)] * vectors]
    if n == 1:
        none = _nan_or_zero(_magnitude(x))
        none = ew.complex(none, none)
        return [reshape(ew.add(convert(x, dtype), none), (*batch, 1)), *[ew.add(full_like(none, 1), none)] * vectors]
    x, bad = _zero_nonfinite(x)
    x, scale = _scale(x)
    if n == 2 and not vectors:
        values = _eigenvalues_of_two_rows(x)
        values = ew.mul(values, _broadcast_like(convert(reshape(scale, (*batch, 1)), dtype), values))
        return [_nan_where(bad, values)]
    t, z, left = _schur_form(x)
    of_real = None
    if not dtypes.is_complex(x.dtype):
        t, z = _to_complex_triangular(t, z, dtype)
        imaginary = ew.imag(diagonal(t))
        of_real = expand_dims(ew.eq(imaginary, _zeros(imaginary)), (-2,))
    values = diagonal(t)
    out = [ew.mul(values, _broadcast_like(convert(reshape(scale, (*batch, 1)), dtype), values))]
    if compute_left_eigenvectors:
        of_adjoint = _flip(_back_substitute(_flip(matrix_transpose(t))))
        out.append(_normalize(matmul(z, ew.conj(of_adjoint), None), of_real))
    if compute_right_eigenvectors:
        out.append(_normalize(matmul(z, _back_substitute(t), None), of_real))
    for failed in (bad, left):
        if failed is not None:
            out = [_nan_where(failed, y) for y in out]
    return out


_decompose_into_loops(linalg_spectral.eig_p, _eig)
