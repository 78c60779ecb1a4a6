"""Lowerings of linear algebra for the portable target, as loops over rows or rotations: ONNX has no operator but Det.

Every loop works on a whole stack of matrices, with masks instead of single elements, in steps of O(n^2).  The
factorizations follow LAPACK's conventions (partial pivoting, signs of reflections), so results agree with the kernels
up to rounding.  Eigenvalues and singular values come from Jacobi rotations, n / 2 disjoint ones at a time (Brent and
Luk, "The solution of singular-value and symmetric eigenvalue problems on multiprocessor arrays", 1985): eigenvectors
agree up to a factor of absolute value 1.

`jit` uses the kernels, which are quicker.

The other direction: `pkg/onax/onnx/linalg.py`.
"""

import numpy as np

from onax._control.while_loop import fori_loop, while_loop
from onax._ground import dims, dtypes
from onax._prims import elementwise as ew
from onax._prims import elementwise_bits as on_bits
from onax._prims import linalg
from onax._prims._matrices import (
    adjoint,
    batched_eye,
    diagonal,
    matmul,
    matrix_transpose,
    symmetrize,
    tril,
    triu,
)
from onax._prims.convert import convert
from onax._prims.creation import broadcasted_iota, full_like
from onax._prims.elementwise_clamp import clamp
from onax._prims.padding import pad
from onax._prims.reductions import argmax, reduce_max, reduce_or
from onax._prims.shaping import broadcast_in_dim, expand_dims, reduce_sum, reshape
from onax._prims.slicing import concatenate, dim_value, dynamic_slice, dynamic_update_slice, slice_in_dim, split
from onax._prims.sorting import sort
from onax.export.lower import native
from onax.export.lower.registry import decompose

I32 = np.dtype(np.int32)
MOST_UNROLLED = 4  # steps of loops that are written out: masks become constants, and a step of a Loop costs 10 us more


def _decompose_into_loops(primitive, function):
    """Registers a decomposition, also for complex numbers; compiled functions prefer the kernel (LAPACK)."""
    decompose(primitive, function, components=True)
    native.prefer(primitive)


# ---- masks and single rows ----


def _loop(n, step, state):
    """fori_loop from 0 to n with an int32 counter."""
    if isinstance(n, int) and n <= MOST_UNROLLED:
        for i in range(n):
            state = step(np.int32(i), state)
        return state
    return fori_loop(0, n, lambda i, state: step(convert(i, I32), state), state)


def _const(x, value):
    return np.asarray(value, x.dtype)[()]


def _index_along(shape, axis):
    """The indices along one axis (-1 or -2), broadcast to the shape."""
    return broadcasted_iota(I32, shape, len(shape) + axis)


def _take(x, i, axis):
    """Row (axis -2) or column (axis -1) i of each matrix of a stack; the axis has length 1."""
    rank = len(x.shape)
    starts = [np.int32(0)] * rank
    starts[axis] = i
    sizes = list(x.shape)
    sizes[axis] = 1
    return dynamic_slice(x, starts, sizes)


def _put(x, row, i, axis):
    starts = [np.int32(0)] * len(x.shape)
    starts[axis] = i
    return dynamic_update_slice(x, row, starts)


def _broadcast_like(x, like):
    """Broadcasts x, whose axes of length 1 grow, to the shape of another array."""
    shape = like.shape
    equal_axes = [a for a in range(len(shape)) if x.shape[a] == shape[a]]
    flat = reshape(x, tuple(shape[a] for a in equal_axes))
    return broadcast_in_dim(flat, shape, tuple(equal_axes))


def _sum_along(x, axis):
    """The sum along an axis (-1 or -2), which has length 1 in the result."""
    at = len(x.shape) + axis
    return expand_dims(reduce_sum(x, (at,)), (at,))


def _swap(x, i, other, axis):
    """Exchanges element, row or column i with number `other`, an array with one integer for each matrix of the stack.

    A sum over a mask reads element `other`, because its number differs between the matrices of a stack.
    """
    indices = _index_along(x.shape, axis)
    at_other = ew.eq(indices, _broadcast_like(other, indices))
    x_i, x_other = _take(x, i, axis), _sum_along(_where(at_other, x, _zeros(x)), axis)
    return _where(ew.eq(indices, i), _broadcast_like(x_other, x), _where(at_other, _broadcast_like(x_i, x), x))


def _where(mask, x, y):
    return ew.select(mask, x, y)


def _zeros(x):
    return full_like(x, 0)


def _join(parts, axis):
    return parts[0] if len(parts) == 1 else concatenate(parts, len(parts[0].shape) + axis)


def _element(x, i, j):
    """The element (i, j) of each matrix, with two trailing axes of length 1."""
    return slice_in_dim(slice_in_dim(x, i, i + 1, axis=-2), j, j + 1, axis=-1)


def _real(x):
    return ew.real(x) if dtypes.is_complex(x.dtype) else x


def _conj(x):
    return ew.conj(x) if dtypes.is_complex(x.dtype) else x


def _magnitude(x):
    """|re| + |im|, by which LAPACK chooses pivots."""
    return ew.add(ew.abs(ew.real(x)), ew.abs(ew.imag(x))) if dtypes.is_complex(x.dtype) else ew.abs(x)


def _outer_product(column, row, like):
    """The outer products of columns and rows."""
    return ew.mul(_broadcast_like(column, like), _broadcast_like(row, like))


def _nan_where(bad, x):
    """x, with NaN for each matrix or vector whose matrix in `bad` has a true element."""
    rank = len(bad.shape)
    failed = reduce_or(bad, (rank - 2, rank - 1))
    failed = broadcast_in_dim(failed, x.shape, tuple(range(rank - 2)))
    return _where(failed, full_like(x, complex(np.nan, np.nan) if dtypes.is_complex(x.dtype) else np.nan), x)


def _zero_nonfinite(x):
    """(x with zeros for matrices that have NaN or infinities, the mask of these): they would stop all rotations."""
    size = _magnitude(x)
    bad = on_bits.bitwise_not(ew.lt(size, full_like(size, np.inf)))
    rank = len(x.shape)
    whole = broadcast_in_dim(reduce_or(bad, (rank - 2, rank - 1)), x.shape, tuple(range(rank - 2)))
    return _where(whole, _zeros(x), x), bad


def _nan_or_zero(x):
    """Zeros; NaN where x is not finite."""
    return ew.mul(x, _zeros(x))


# ---- cholesky ----


def _cholesky(x):
    """Right-looking Cholesky factorization, column by column."""
    n = x.shape[-1]
    if n == 0:
        return x
    rest = ew.add(tril(x), adjoint(tril(x, -1)))
    row, column = _index_along(x.shape, -2), _index_along(x.shape, -1)

    def step(j, state):
        rest, factor = state
        of_column = _take(rest, j, -1)
        pivot = _real(_take(of_column, j, -2))
        root = _where(ew.gt(pivot, _zeros(pivot)), ew.sqrt(pivot), full_like(pivot, np.nan))
        scaled = ew.div(of_column, _broadcast_like(convert(root, x.dtype), of_column))
        under = ew.gt(_index_along(scaled.shape, -2), j)
        top = ew.eq(_index_along(scaled.shape, -2), j)
        scaled = _where(under, scaled, _where(top, _broadcast_like(convert(root, x.dtype), scaled), _zeros(scaled)))
        rest = ew.sub(rest, _outer_product(scaled, adjoint(scaled), rest))
        return rest, _where(ew.eq(column, j), _broadcast_like(scaled, factor), factor)

    _, factor = _loop(n, step, (rest, _zeros(x)))
    size = _real(factor)
    batch = tuple(range(len(x.shape) - 2))
    failed = reduce_or(ew.ne(size, size), (len(batch), len(batch) + 1))
    failed = broadcast_in_dim(failed, x.shape, batch)
    lower_triangle = ew.ge(row, column)
    nan = complex(np.nan, np.nan) if dtypes.is_complex(x.dtype) else np.nan
    return _where(on_bits.bitwise_and(failed, lower_triangle), full_like(x, nan), factor)


# ---- triangular_solve ----


def _triangular_solve(a, b, *, left_side, lower, transpose_a, conjugate_a, unit_diagonal):
    if not left_side:
        out = _triangular_solve(
            a,
            matrix_transpose(b),
            left_side=True,
            lower=lower,
            transpose_a=not transpose_a,
            conjugate_a=conjugate_a,
            unit_diagonal=unit_diagonal,
        )
        return matrix_transpose(out)
    if b.dtype.itemsize == 2:
        params = {"transpose_a": transpose_a, "conjugate_a": conjugate_a, "unit_diagonal": unit_diagonal}
        wide = (convert(x, np.float32) for x in (a, b))
        return convert(_triangular_solve(*wide, left_side=True, lower=lower, **params), b.dtype)
    a = _conj(a) if conjugate_a else a
    if transpose_a:
        a, lower = matrix_transpose(a), not lower
    n = a.shape[-1]
    beside = tril(a, -1) if lower else triu(a, 1)

    def step(k, x):
        i = k if lower else ew.sub(convert(n - 1, I32), k)
        value = ew.sub(_take(b, i, -2), matmul(_take(beside, i, -2), x, None))
        if not unit_diagonal:
            value = ew.div(value, _broadcast_like(_take(_take(a, i, -2), i, -1), value))
        return _put(x, value, i, -2)

    return _loop(n, step, _zeros(b))


# ---- lu ----


def _lu(x):
    *batch, m, n = x.shape
    k = dims.min_dim(m, n)
    row, column = _index_along(x.shape, -2), _index_along(x.shape, -1)
    indices = broadcasted_iota(I32, (*batch, m), len(batch))

    def step(j, state):
        a, pivots, order = state
        size = reshape(_magnitude(_take(a, j, -1)), (*batch, m))
        size = _where(ew.ne(size, size), full_like(size, -1), size)
        size = _where(ew.lt(indices, j), full_like(size, -2), size)
        p = expand_dims(argmax(size, len(batch), I32), (-1,))
        a = _swap(a, j, expand_dims(p, (-1,)), -2)
        row_p = _take(a, j, -2)
        pivot = _take(row_p, j, -1)
        pivot = _where(ew.eq(pivot, _zeros(pivot)), full_like(pivot, 1), pivot)
        of_column = _take(a, j, -1)
        scaled = ew.div(of_column, _broadcast_like(pivot, of_column))
        under = ew.gt(row, j)
        reduced = ew.sub(a, _outer_product(scaled, row_p, a))
        a = _where(on_bits.bitwise_and(under, ew.gt(column, j)), reduced, a)
        a = _where(on_bits.bitwise_and(under, ew.eq(column, j)), _broadcast_like(scaled, a), a)
        return a, _put(pivots, p, j, -1), _swap(order, j, p, -1)

    return _loop(k, step, (x, full_like(indices, 0, shape=(*batch, k)), indices))


def _lu_pivots_to_permutation(pivots, *, permutation_size):
    *batch, k = pivots.shape
    indices = broadcasted_iota(I32, (*batch, permutation_size), len(batch))

    def step(j, order):
        pivot = clamp(np.int32(0), _take(pivots, j, -1), np.int32(permutation_size - 1))
        return _swap(order, j, pivot, -1)

    return _loop(k, step, indices)


decompose(linalg.lu_pivots_to_permutation_p, _lu_pivots_to_permutation)
native.prefer(linalg.lu_pivots_to_permutation_p)


# ---- qr ----


def _householder_reflection(column, j):
    """(v, tau, beta) of the reflection 1 - tau v v^H whose adjoint maps a column to beta at index j and 0 below."""
    index = _index_along(column.shape, -2)
    alpha = _take(column, j, -2)
    under = _where(ew.gt(index, j), column, _zeros(column))
    tail = _sum_along(_real(ew.mul(under, _conj(under))), -2)
    squares = ew.add(tail, _real(ew.mul(alpha, _conj(alpha))))
    sign = _where(ew.ge(_real(alpha), _zeros(tail)), full_like(tail, -1), full_like(tail, 1))
    beta = ew.mul(sign, ew.sqrt(squares))
    idle = ew.eq(tail, _zeros(tail))
    if dtypes.is_complex(column.dtype):
        idle = on_bits.bitwise_and(idle, ew.eq(ew.imag(alpha), _zeros(tail)))
    beta = convert(beta, column.dtype)
    safe = _where(idle, full_like(beta, 1), beta)
    tau = _where(idle, _zeros(beta), ew.div(ew.sub(beta, alpha), safe))
    scale = _where(idle, full_like(beta, 1), ew.sub(alpha, beta))
    v = ew.div(under, _broadcast_like(scale, under))
    v = _where(ew.eq(index, j), full_like(v, 1), v)
    return v, tau, _where(idle, alpha, beta)


def _reflect(x, v, tau):
    """x - tau v (v^H x)"""
    return ew.sub(x, _outer_product(ew.mul(v, _broadcast_like(tau, v)), matmul(adjoint(v), x, None), x))


def _geqrf(x):
    *batch, m, n = x.shape
    k = dims.min_dim(m, n)
    row, column = _index_along(x.shape, -2), _index_along(x.shape, -1)

    def step(j, state):
        a, taus = state
        v, tau, _ = _householder_reflection(_take(a, j, -1), j)
        reflected = _reflect(a, v, _conj(tau))
        below_diagonal = on_bits.bitwise_and(ew.eq(column, j), ew.gt(row, j))
        done = ew.lt(column, j)
        a = _where(done, a, _where(below_diagonal, _broadcast_like(v, a), reflected))
        return a, _put(taus, reshape(tau, (*batch, 1)), j, -1)

    steps = (
        k if dtypes.is_complex(x.dtype) else dims.min_dim(m - 1, n)
    )  # a real reflection of one element is the identity
    return _loop(steps, step, (x, full_like(x, 0, shape=(*batch, k))))


_decompose_into_loops(linalg.geqrf_p, _geqrf)


def _householder_vector(a, j):
    column = _take(a, j, -1)
    index = _index_along(column.shape, -2)
    v = _where(ew.gt(index, j), column, _zeros(column))
    return _where(ew.eq(index, j), full_like(v, 1), v)


def _householder_product(a, taus):
    k = taus.shape[-1]
    m, n = a.shape[-2:]
    start = slice_in_dim(batched_eye((*a.shape[:-2], m, m), a.dtype), 0, n, axis=-1)

    def step(i, q):
        j = ew.sub(dim_value(k - 1, I32), i)
        return _reflect(q, _householder_vector(a, j), expand_dims(_take(taus, j, -1), (-1,)))

    return _loop(k, step, start)


_decompose_into_loops(linalg.householder_product_p, _householder_product)


def _ormqr(a, taus, c, *, left, transpose):
    if not left:
        return adjoint(_ormqr(a, taus, adjoint(c), left=True, transpose=not transpose))
    k = taus.shape[-1]

    def step(i, c):
        j = i if transpose else ew.sub(dim_value(k - 1, I32), i)
        tau = expand_dims(_take(taus, j, -1), (-1,))
        return _reflect(c, _householder_vector(a, j), _conj(tau) if transpose else tau)

    return _loop(k, step, c)


_decompose_into_loops(linalg.ormqr_p, _ormqr)


def _pivot(x):
    """(x with columns in pivoted order, the order): each pivot is the longest column that remains."""
    *batch, m, n = x.shape
    k = dims.min_dim(m, n)
    column = _index_along(x.shape, -1)
    row = _index_along(x.shape, -2)
    indices = broadcasted_iota(I32, (*batch, n), len(batch))
    if dims.equal(k, 0):
        return x, indices

    def step(j, state):
        a, order = state
        left = _where(ew.ge(row, j), a, _zeros(a))
        size = reduce_sum(_real(ew.mul(left, _conj(left))), (len(batch),))
        size = _where(ew.lt(indices, j), full_like(size, -1), size)
        p = expand_dims(argmax(size, len(batch), I32), (-1,))
        a = _swap(a, j, expand_dims(p, (-2,)), -1)
        v, tau, _ = _householder_reflection(_take(a, j, -1), j)
        a = _where(ew.lt(column, j), a, _reflect(a, v, _conj(tau)))
        return a, _swap(order, j, p, -1)

    _, order = _loop(k, step, (x, indices))
    return matrix_transpose(linalg.permute_rows(matrix_transpose(x), order)), order


def _qr(x, *, pivoting, full_matrices, use_magma=None):
    *batch, m, n = x.shape
    k = dims.min_dim(m, n)
    order = ()
    if pivoting:
        x, *order = _pivot(x)
    if dims.equal(k, 0):
        q = slice_in_dim(batched_eye((*batch, m, m), x.dtype), 0, m if full_matrices else k, axis=-1)
        return (q, full_like(x, 0, shape=(*batch, m if full_matrices else k, n)), *order)
    reflections, taus = linalg.geqrf(x)
    columns = slice_in_dim(reflections, 0, k, axis=-1)
    if full_matrices and not dims.equal(m, k):
        columns = concatenate([columns, full_like(x, 0, shape=(*batch, m, m - k))], len(batch) + 1)
    q = linalg.householder_product(columns, taus)
    r = triu(reflections)
    return (q, r if full_matrices else slice_in_dim(r, 0, k, axis=-2), *order)


_decompose_into_loops(linalg.qr_p, _qr)


# ---- updates, tridiagonal systems ----


def _cholesky_update(r, w):
    w = expand_dims(w, (-2,))
    row = _index_along(r.shape, -2)

    def step(k, state):
        r, w = state
        top = _take(r, k, -2)
        head, side = _take(top, k, -1), _take(w, k, -1)
        length = ew.sqrt(ew.add(ew.mul(head, head), ew.mul(side, side)))
        none = ew.eq(side, _zeros(side))
        safe = _where(none, full_like(length, 1), length)
        c, s = _where(none, full_like(length, 1), ew.div(head, safe)), ew.div(side, safe)
        c, s = _broadcast_like(c, top), _broadcast_like(s, top)
        new = ew.add(ew.mul(c, top), ew.mul(s, w))
        w = ew.sub(ew.mul(c, w), ew.mul(s, top))
        return _where(ew.eq(row, k), _broadcast_like(new, r), r), w

    return triu(_loop(r.shape[-1], step, (r, w))[0])


decompose(linalg.cholesky_update_p, _cholesky_update)
native.prefer(linalg.cholesky_update_p)


def _symmetric_product(a, c, *, alpha, beta):
    return ew.add(ew.mul(_const(a, alpha), matmul(a, matrix_transpose(a), None)), ew.mul(_const(c, beta), c))


decompose(linalg.symmetric_product_p, _symmetric_product)
native.prefer(linalg.symmetric_product_p)


def _tridiagonal_solve(dl, d, du, b, *, perturb_singular):
    """Solves with LU of the full matrix, which allows pivoting."""
    n = d.shape[-1]
    shape = (*d.shape, n)
    row, column = _index_along(shape, -2), _index_along(shape, -1)
    a = full_like(d, 0, shape=shape)
    for diag, shift in ((dl, -1), (d, 0), (du, 1)):
        spread = broadcast_in_dim(diag, shape, tuple(range(len(d.shape))))
        a = _where(ew.eq(ew.add(row, np.int32(shift)), column), spread, a)
    both, _, order = linalg.lu(a)
    zero = on_bits.bitwise_and(ew.eq(row, column), ew.eq(both, _zeros(both)))
    if not perturb_singular:
        return _nan_where(zero, linalg.lu_solve(both, order, b))
    info, batch = dtypes.finfo(d.dtype), tuple(range(len(d.shape) - 1))
    size = reduce_max(ew.abs(a), (len(batch), len(batch) + 1))
    size = ew.mul(size, _const(size, info.eps))
    tiny = broadcast_in_dim(ew.max(size, full_like(size, info.tiny)), shape, batch)
    return linalg.lu_solve(_where(zero, convert(tiny, d.dtype), both), order, b)


# ---- Jacobi's rotations ----

_SWEEPS = 30


def _opponents(n, turns):
    """The opponents of n players in a round of a round-robin tournament of `turns` rounds, as a function of its number.

    In round k, players meet whose numbers add up to k, modulo `turns`, which is odd.  Who would meet itself meets the
    last of an even number of players, which this leaves out, and has its own number where there is none.
    """
    player = broadcasted_iota(I32, (n,), 0)
    last = full_like(player, dim_value(n - 1, I32))
    even = full_like(player, ew.eq(dim_value(n % 2, I32), np.int32(0)), np.dtype(bool))
    left_out = on_bits.bitwise_and(even, ew.eq(player, last))
    other, turns_each = _where(even, last, player), full_like(player, turns)

    def opponents(k):
        met = ew.rem(ew.add(ew.sub(full_like(player, k), player), turns_each), turns_each)
        met = _where(ew.eq(met, player), other, met)
        alone = ew.rem(ew.mul(k, dim_value(n // 2, I32)), turns)  # for even n, twice this is k, modulo turns
        return _where(left_out, full_like(player, alone), met)

    return opponents


def _jacobi_rotations(a, partner):
    """The unitary matrices that annihilate the elements of Hermitian matrices at (i, partner[i]).

    Both elements of a pair yield the same rotation only if the matrix is Hermitian to the last bit, so symmetrize it.
    """
    a = symmetrize(a)
    row, column = _index_along(a.shape, -2), _index_along(a.shape, -1)
    paired = on_bits.bitwise_and(
        ew.eq(column, _broadcast_like(reshape(partner, _column_shape(a)), column)), ew.ne(row, column)
    )
    own = _real(diagonal(a))
    other = _sum_along(
        _where(paired, _broadcast_like(expand_dims(own, (-2,)), paired), full_like(own, 0, shape=a.shape)), -1
    )
    own = expand_dims(own, (-1,))
    beside = _sum_along(_where(paired, a, _zeros(a)), -1)
    size = ew.abs(beside)
    first = ew.lt(_index_along(own.shape, -2), _broadcast_like(reshape(partner, _column_shape(own)), own))
    gap = ew.sub(other, own)
    none = ew.eq(size, _zeros(size))
    theta = ew.div(gap, ew.mul(_const(size, 2), _where(none, full_like(size, 1), size)))
    up = on_bits.bitwise_or(ew.gt(gap, _zeros(gap)), on_bits.bitwise_and(ew.eq(gap, _zeros(gap)), first))
    sign = _where(up, full_like(size, 1), full_like(size, -1))
    slope = ew.div(sign, ew.add(ew.abs(theta), ew.sqrt(ew.add(ew.mul(theta, theta), _const(size, 1)))))
    slope = _where(none, _zeros(slope), slope)
    c = ew.div(_const(size, 1), ew.sqrt(ew.add(ew.mul(slope, slope), _const(size, 1))))
    phase = ew.div(beside, convert(_where(none, full_like(size, 1), size), a.dtype))
    s = ew.mul(convert(ew.mul(slope, c), a.dtype), phase)
    on_diagonal = _where(ew.eq(row, column), _broadcast_like(convert(c, a.dtype), a), _zeros(a))
    return _where(paired, _broadcast_like(s, a), on_diagonal)


def _length(x, y):
    """sqrt(x^2 + y^2) and the larger of |x| and |y|, with 1 for 0, by which x and y are divided before."""
    scale = ew.max(ew.abs(x), ew.abs(y))
    scale = _where(ew.eq(scale, _zeros(scale)), full_like(scale, 1), scale)
    x, y = ew.div(x, scale), ew.div(y, scale)
    return x, y, ew.sqrt(ew.add(ew.mul(x, x), ew.mul(y, y))), scale


def _eigh_of_two_rows(a, b, c, *, descending=False):
    """(eigenvalues in ascending order, eigenvectors) of the real matrices (a c; c b), from elements."""
    gap = ew.mul(ew.sub(b, a), _const(a, 0.5))
    mean = ew.add(a, gap)
    gap, side, length, scale = _length(gap, c)
    reach = ew.mul(length, scale)
    up = ew.ge(gap, _zeros(gap))
    x = _where(up, side, ew.sub(length, gap))
    y = _where(up, ew.add(gap, length), side)
    y = _where(ew.eq(length, _zeros(length)), full_like(y, 1), y)
    size = ew.sqrt(ew.add(ew.mul(x, x), ew.mul(y, y)))
    x, y = ew.div(x, size), ew.div(y, size)
    least, most = ew.sub(mean, reach), ew.add(mean, reach)
    if descending:
        return _join([most, least], -2), _join([_join([x, y], -1), _join([y, ew.neg(x)], -1)], -2)
    return _join([least, most], -2), _join([_join([y, x], -1), _join([ew.neg(x), y], -1)], -2)


def _column_shape(a):
    return (*(1,) * (len(a.shape) - 2), a.shape[-2], 1)


def _off_diagonal_size(a, by_columns):
    """The largest element off the diagonal, which the rotations still have to annihilate.

    It is relative to the largest element of its matrix; with `by_columns`, for products of columns, relative to the
    geometric mean of the two diagonal elements.
    """
    size = ew.abs(a)
    row, column = _index_along(a.shape, -2), _index_along(a.shape, -1)
    beside = _where(ew.eq(row, column), _zeros(size), size)
    rank = len(a.shape)
    if by_columns:
        root = ew.sqrt(_real(diagonal(a)))
        unit = _outer_product(expand_dims(root, (-1,)), expand_dims(root, (-2,)), size)
    else:
        batch = tuple(range(rank - 2))
        unit = broadcast_in_dim(reduce_max(size, (rank - 2, rank - 1)), a.shape, batch)
    unit = _where(ew.gt(unit, _zeros(unit)), unit, full_like(unit, 1))
    return reduce_max(ew.div(beside, unit), tuple(range(rank)))


def _rotate_until_diagonal(x, of, apply, by_columns):
    """Applies rotations to x until `of(x)` is diagonal; returns (x, the product of the rotations)."""
    gram = of(x)
    n = gram.shape[-1]
    if dims.equal(n, 1):
        return x, batched_eye(gram.shape, gram.dtype)
    rounds = dim_value(n - 1 + n % 2, I32)
    opponents = _opponents(n, rounds)
    real = dtypes.real_dtype(x.dtype)
    eps = real.type(dtypes.finfo(real).eps)
    tiny = ew.mul(dim_value(n, real), eps) if by_columns else eps * real.type(0.25)

    def unfinished(state):
        k, x, _ = state
        within = on_bits.bitwise_or(
            ew.ne(ew.rem(k, rounds), np.int32(0)), ew.gt(_off_diagonal_size(of(x), by_columns), tiny)
        )
        return on_bits.bitwise_and(within, ew.lt(k, ew.mul(rounds, np.int32(_SWEEPS))))

    def step(state):
        k, x, v = state
        turn = _jacobi_rotations(of(x), opponents(ew.rem(k, rounds)))
        return ew.add(k, np.int32(1)), apply(x, turn), matmul(v, turn, None)

    _, x, v = while_loop(unfinished, step, (np.int32(0), x, batched_eye(gram.shape, gram.dtype)))
    return x, v


def _orthogonalize_two_columns(x):
    """(two orthogonal columns, the longer first, the rotation v): they are x v up to rounding.

    After the rotation the columns are orthogonal up to the rounding of the longer one, which the shorter one still has
    to lose: its part along the longer one is taken away, a change of x in the last digit.
    """
    gram = matmul(matrix_transpose(x), x, None)
    values, turn = _eigh_of_two_rows(_element(gram, 0, 0), _element(gram, 1, 1), _element(gram, 0, 1), descending=True)
    square = slice_in_dim(values, 0, 1, axis=-2)
    left, right = split(matmul(x, turn, None), (1, 1), -1)
    factor = ew.div(
        _sum_along(ew.mul(left, right), -2), _where(ew.eq(square, _zeros(square)), full_like(square, 1), square)
    )
    return left, ew.sub(right, ew.mul(left, _broadcast_like(factor, left))), turn


def _sort_columns(values, descending, *columns):
    """(sorted values, matrices with columns in that order)."""
    axis = len(values.shape) - 1
    key = ew.neg(values) if descending else values
    key, order = sort((key, broadcasted_iota(I32, values.shape, axis)), dimension=axis)
    moved = [matrix_transpose(linalg.permute_rows(matrix_transpose(x), order)) for x in columns]
    return (ew.neg(key) if descending else key, *moved)


def _eigh(x, *, lower, sort_eigenvalues, subset_by_index, algorithm):
    if dims.equal(x.shape[-1], 0):
        return x, full_like(_real(x), 0, shape=x.shape[:-1])
    x, bad = _zero_nonfinite(tril(x) if lower else triu(x))
    half = tril(x, -1) if lower else triu(x, 1)
    middle = _real(diagonal(x))
    row, column = _index_along(x.shape, -2), _index_along(x.shape, -1)
    spread = broadcast_in_dim(convert(middle, x.dtype), x.shape, tuple(range(len(middle.shape))))
    a = ew.add(ew.add(half, adjoint(half)), _where(ew.eq(row, column), spread, _zeros(x)))
    a, v = _rotate_until_diagonal(
        a, lambda a: a, lambda a, turn: matmul(matmul(adjoint(turn), a, None), turn, None), False
    )
    w, v = _sort_columns(_real(diagonal(a)), False, v)
    return _nan_where(bad, v), _nan_where(bad, w)


def _thin_svd(x):
    """(s, u s, v) of matrices with no more columns than rows, by rotating columns until they are orthogonal."""
    if x.shape[-1] == 2 and not dtypes.is_complex(x.dtype):
        left, right, v = _orthogonalize_two_columns(x)
        size, other = (ew.sqrt(_sum_along(ew.mul(y, y), -2)) for y in (left, right))
        s = _join([size, ew.min(size, other)], -1)
        return reshape(s, (*s.shape[:-2], 2)), _join([left, right], -1), v
    x, v = _rotate_until_diagonal(x, lambda x: matmul(adjoint(x), x, None), lambda x, turn: matmul(x, turn, None), True)
    s = ew.sqrt(reduce_sum(_real(ew.mul(x, _conj(x))), (len(x.shape) - 2,)))
    return _sort_columns(s, True, x, v)


def _complete_two_columns(u, missing):
    """u, two orthonormal columns, with unit vectors that are orthogonal to the others for those that are missing."""
    shape = (*u.shape[:-1], 1)
    index = _index_along(shape, -2)
    left, right = (slice_in_dim(u, j, j + 1, axis=-1) for j in range(2))
    first, second = (slice_in_dim(missing, j, j + 1, axis=-1) for j in range(2))
    left = _where(first, convert(ew.eq(index, np.int32(0)), u.dtype), left)
    size = ew.neg(ew.abs(left))  # the unit vector of the smallest element is farthest from the left column
    at = expand_dims(argmax(size, len(shape) - 2, I32), (-2,))
    here = ew.eq(index, _broadcast_like(at, index))
    element = _sum_along(_where(here, left, _zeros(left)), -2)
    across = ew.sub(convert(here, u.dtype), ew.mul(left, _broadcast_like(element, left)))
    length = ew.sqrt(_sum_along(ew.mul(across, across), -2))
    return _join([left, _where(second, ew.div(across, _broadcast_like(length, across)), right)], -1)


def _at_least_as_many_rows(x):
    """x with rows of zeros, if it may have more columns than rows; they change no singular value but add zeros."""
    config = [(0, 0, 0)] * len(x.shape)
    config[-2] = (0, dims.max_dim(x.shape[-1] - x.shape[-2], 0), 0)
    return pad(x, np.zeros((), x.dtype), config)


def _svd(x, *, full_matrices, compute_uv, subset_by_index, algorithm):
    m, n = x.shape[-2:]
    if not compute_uv and not (dims.is_constant(m - n) or dims.definitely_at_least(m, n)):
        (s,) = _svd_of_rows(_at_least_as_many_rows(x), full_matrices, False)
        return (slice_in_dim(s, 0, dims.min_dim(m, n), axis=-1),)
    if not dims.definitely_at_least(m, n) and (dims.definitely_at_least(n, m) or m < n):
        s, *uv = _svd_of_rows(adjoint(x), full_matrices, compute_uv)
        return (s, adjoint(uv[1]), adjoint(uv[0])) if compute_uv else (s,)
    return _svd_of_rows(x, full_matrices, compute_uv)


def _svd_of_rows(x, full_matrices, compute_uv):
    """The decomposition of matrices with at least as many rows as columns."""
    *batch, m, n = x.shape
    if dims.equal(n, 0):
        u = slice_in_dim(batched_eye((*batch, m, m), x.dtype), 0, m if full_matrices else 0, axis=-1)
        s = full_like(_real(x), 0, shape=(*batch, 0))
        return (s, u, full_like(x, 0, shape=(*batch, 0, 0))) if compute_uv else (s,)
    x, bad = _zero_nonfinite(x)
    s, scaled, v = _thin_svd(x)
    if not compute_uv:
        return (_nan_where(bad, s),)
    axes = (*range(len(batch)), len(batch) + 1)
    largest = broadcast_in_dim(slice_in_dim(s, 0, 1, axis=-1), s.shape, tuple(range(len(s.shape))))
    small = ew.le(s, ew.mul(largest, _const(s, dtypes.finfo(s.dtype).eps / 8)))
    safe = _where(small, full_like(s, 1), s)
    u = ew.div(scaled, convert(broadcast_in_dim(safe, scaled.shape, axes), x.dtype))
    u = _where(broadcast_in_dim(small, u.shape, axes), _zeros(u), u)
    missing = broadcast_in_dim(small, u.shape, axes)
    if n == 2 and not dtypes.is_complex(x.dtype) and (m == 2 or not full_matrices):
        return tuple(_nan_where(bad, y) for y in (s, _complete_two_columns(u, missing), adjoint(v)))
    q, _ = linalg.qr(u, full_matrices=full_matrices)  # completes u where singular values are 0 or missing
    taken = _where(missing, slice_in_dim(q, 0, n, axis=-1), u)
    if full_matrices and not dims.equal(m, n):
        taken = concatenate([taken, slice_in_dim(q, n, m, axis=-1)], len(batch) + 1)
    return tuple(_nan_where(bad, y) for y in (s, taken, adjoint(v)))
