"""Linear algebra: factorisations and solvers of stacks of matrices.

cholesky, triangular_solve, lu, qr and their helpers are here; eigenvalues, singular values and reductions to simpler
forms in linalg_spectral.py; kernels in linalg_kernels.py.  Derivatives follow Giles, "Collected matrix derivative
results for forward and reverse mode algorithmic differentiation" (2008), and for lu Seeger and others, "Auto-
differentiating linear algebra" (2017).
"""

import functools
from typing import Any

import numpy as np

from onax._core.rules import add_tangents, tangent_zero
from onax._core.zeros import Zero, is_undefined_primal
from onax._ground import dims
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax._native.avals import ShapedArray
from onax._native.dispatch import Primitive
from onax._prims import linalg_kernels as kernels
from onax._prims._matrices import (
    adjoint,
    batched_eye,
    check_symmetrizable,
    eye,
    matmul,
    matrix_transpose,
    symmetrize,
    to_inexact,
    tril,
    triu,
)
from onax._prims.convert import convert
from onax._prims.elementwise import add, conj, div, mul, neg, real, sub
from onax._prims.elementwise_rows import const
from onax._prims.indexing import GatherDimensionNumbers, GatherScatterMode, gather
from onax._prims.linalg_rules import (
    check_operands,
    check_square,
    def_linalg_rules,
    is_square,
    operand,
    weak_as_operands,
)
from onax._prims.padding import pad
from onax._prims.shaping import bdim_at_front, broadcast_in_dim, expand_dims, moveaxis, reshape, shape_of
from onax._prims.slicing import concatenate, slice_in_dim, zero_scalar

INT32 = np.dtype(np.int32)


# ---- cholesky ----


def _cholesky_abstract(x):
    check_operands("cholesky", (x,), (2,))
    check_square("cholesky", x)
    return ShapedArray(x.shape, x.dtype)


def _halve_diagonal(x):
    """The lower triangle with its diagonal halved."""
    lower = tril(x)
    return div(lower, add(const(x, 1), batched_eye(shape_of(x), x.dtype)))


def _cholesky_jvp(primals, tangents):
    factor = tril(cholesky_p.bind(*primals))
    (g,) = tangents
    if type(g) is Zero:
        return factor, tangent_zero(factor)
    inner = triangular_solve(factor, g, transpose_a=True, conjugate_a=True, lower=True)
    inner = triangular_solve(factor, inner, left_side=True, lower=True)
    return factor, matmul(factor, _halve_diagonal(inner))


cholesky_p = def_linalg_rules(
    Primitive("cholesky", kernel=kernels.cholesky, abstract_eval=_cholesky_abstract, jvp=_cholesky_jvp)
)


def cholesky(x: ArrayLike, *, symmetrize_input: bool = True) -> Array:
    """Returns the lower triangular L with L L^H = x.

    A matrix that is not positive definite, or holds NaN, gives NaN.

    Args:
      x: array of shape (..., n, n), floating or complex: Hermitian positive definite matrices.
      symmetrize_input: whether (x + x^H) / 2 is decomposed; otherwise only the lower triangle is read.

    Returns:
      Array of shape (..., n, n).

    Raises:
      TypeError: x holds integers, and `symmetrize_input` is False.
      ValueError: the matrices are not square.

    Examples:
      >>> jnp.round(lax.linalg.cholesky(jnp.array([[4.0, 2.0], [2.0, 5.0]])), 4)
      Array([[2., 0.],
             [1., 2.]], dtype=float32)
    """
    x = operand(x)
    if symmetrize_input:
        x = to_inexact(x)
        check_symmetrizable(x, functools.partial(check_square_operand, "cholesky", x))
        x = symmetrize(x)
    return tril(cholesky_p.bind(x))


def check_square_operand(name, x):
    """ValueError or TypeError, before anything is staged, where a matrix cannot be made Hermitian."""
    check_operands(name, (x.aval,), (2,))
    check_square(name, x.aval)


# ---- triangular_solve ----


def _triangular_solve_abstract(a, b, *, left_side, lower, transpose_a, conjugate_a, unit_diagonal):
    check_operands("triangular_solve", (a, b), (2, 2))
    check_square("triangular_solve", a, "first input to {name}")
    if not dims.equal(a.shape[-1], b.shape[-2 if left_side else -1]):
        raise ValueError(f"Incompatible shapes for arguments to triangular_solve: {a.shape[-2:]} and {b.shape[-2:]}.")
    return ShapedArray(b.shape, b.dtype)


def _triangular_solve_jvp(primals, tangents, **params):
    a, b = primals
    ga, gb = tangents
    out = triangular_solve_p.bind(a, b, **params)
    if type(ga) is Zero and type(gb) is Zero:
        return out, tangent_zero(out)
    from_b = gb if type(gb) is Zero else triangular_solve_p.bind(a, gb, **params)
    if type(ga) is Zero:
        return out, from_b
    return out, add_tangents(_matrix_tangent(a, ga, out, **params), from_b)


def _matrix_tangent(a, ga, out, **params):
    """The tangent of the solution due to the matrix, -a^-1 ga x; the smaller product is computed first."""
    at = 1 if params["unit_diagonal"] else 0
    ga = neg(tril(ga, -at) if params["lower"] else triu(ga, at))
    if params["transpose_a"]:
        ga = matrix_transpose(ga)
    if params["conjugate_a"]:
        ga = conj(ga)
    rows, columns = shape_of(out)[-2:]
    known = dims.is_constant(rows) and dims.is_constant(columns)

    def solved(rhs):
        return triangular_solve_p.bind(a, rhs, **params)

    if params["left_side"]:
        return solved(matmul(ga, out)) if not known or rows > columns else matmul(solved(ga), out)
    return solved(matmul(out, ga)) if not known or rows < columns else matmul(out, solved(ga))


def _triangular_solve_transpose(ct, a, b, *, transpose_a, **params):
    if is_undefined_primal(a):
        raise TypeError("triangular_solve is linear in its right-hand side only")
    if type(ct) is Zero:
        return [None, Zero(b.aval)]
    return [None, triangular_solve_p.bind(a, ct, transpose_a=not transpose_a, **params)]


def _triangular_solve_batch(axis_data, operands, mapped, *, left_side, **params):
    """If only b is mapped, its matrices become additional columns (or rows) of one matrix."""
    (a, b), (da, db) = operands, mapped
    if da is not None:
        a, b = (bdim_at_front(x, d, axis_data.size) for x, d in zip(operands, mapped))
        return triangular_solve_p.bind(a, b, left_side=left_side, **params), 0
    at = b.ndim - 1 if left_side else b.ndim - 2
    b = moveaxis(b, db, at)
    *lead, m, n, k = b.shape
    flat = reshape(b, (*lead, m, n * k) if left_side else (*lead, m * n, k))
    out = triangular_solve_p.bind(a, flat, left_side=left_side, **params)
    return reshape(out, b.shape), at


triangular_solve_p = Primitive(
    "triangular_solve",
    kernel=kernels.triangular_solve,
    abstract_eval=weak_as_operands(_triangular_solve_abstract),
    jvp=_triangular_solve_jvp,
    transpose=_triangular_solve_transpose,
    batch=_triangular_solve_batch,
)


def triangular_solve(
    a: ArrayLike,
    b: ArrayLike,
    *,
    left_side: bool = False,
    lower: bool = False,
    transpose_a: bool = False,
    conjugate_a: bool = False,
    unit_diagonal: bool = False,
) -> Array:
    """Returns the solution x of op(a) x = b or x op(a) = b, for triangular matrices.

    Args:
      a: array of shape (..., n, n).
      b: array of shape (..., n, k), or (..., k, n) unless left_side.
      left_side: whether op(a) stands at the left of x.
      lower: whether the lower triangle of a is read; the other one counts as 0.
      transpose_a: whether op transposes.
      conjugate_a: whether op conjugates.
      unit_diagonal: whether the diagonal counts as ones.

    Returns:
      Array of the shape of `b`.

    Raises:
      ValueError: shapes do not fit.

    Examples:
      >>> a = jnp.array([[2.0, 0.0], [1.0, 1.0]])
      >>> jnp.round(lax.linalg.triangular_solve(a, jnp.array([[4.0], [3.0]]), left_side=True, lower=True), 4)
      Array([[2.],
             [1.]], dtype=float32)
    """
    a, b = operand(a), operand(b)
    single = b.ndim == a.ndim - 1
    if single:
        b = expand_dims(b, (-1 if left_side else -2,))
    out = triangular_solve_p.bind(
        a,
        b,
        left_side=bool(left_side),
        lower=bool(lower),
        transpose_a=bool(transpose_a),
        conjugate_a=bool(conjugate_a) and a.dtype.kind == "c",
        unit_diagonal=bool(unit_diagonal),
    )
    return reshape(out, b.shape[:-1] if left_side else (*b.shape[:-2], b.shape[-1])) if single else out


# ---- lu ----


def _lu_abstract(x):
    check_operands("lu", (x,), (2,))
    *batch, m, n = x.shape
    return (
        ShapedArray(x.shape, x.dtype),
        ShapedArray((*batch, dims.min_dim(m, n)), INT32),
        ShapedArray((*batch, m), INT32),
    )


def permute_rows(x, order):
    """Permutes the rows of matrices; `order` holds one integer vector for each matrix."""
    rank = len(shape_of(x))
    batch = tuple(range(rank - 2))
    numbers = GatherDimensionNumbers(
        offset_dims=(rank - 1,),
        collapsed_slice_dims=(rank - 2,),
        start_index_map=(rank - 2,),
        operand_batching_dims=batch,
        start_indices_batching_dims=batch,
    )
    indices = expand_dims(order, (-1,))
    sizes = (*(1,) * (rank - 1), shape_of(x)[-1])
    return gather(x, indices, numbers, sizes, mode=GatherScatterMode.PROMISE_IN_BOUNDS)


def _pad_matrices(x, rows, columns):
    """Pads matrices with zeros below and to the right."""
    m, n = shape_of(x)[-2:]
    if (m, n) == (rows, columns):
        return x
    none = [(0, 0, 0)] * (len(shape_of(x)) - 2)
    return pad(x, zero_scalar(x.dtype), [*none, (0, rows - m, 0), (0, columns - n, 0)])


def split_lu(both):
    """Splits the m x n result of LU into (unit lower m x m, upper n x n), completed by an identity to square
    matrices."""
    *batch, m, n = shape_of(both)
    k = min(m, n)
    lower = _pad_matrices(tril(slice_in_dim(both, 0, k, axis=-1), -1), m, m)
    lower = add(lower, batched_eye((*batch, m, m), both.dtype))
    upper = _pad_matrices(triu(slice_in_dim(both, 0, k, axis=-2)), n, n)
    if n > k:
        corner = pad(eye(n - k, both.dtype), zero_scalar(both.dtype), [(k, 0, 0), (k, 0, 0)])
        upper = add(upper, broadcast_in_dim(corner, (*batch, n, n), (len(batch), len(batch) + 1)))
    return lower, upper


def _lu_jvp(primals, tangents):
    (x,), (g,) = primals, tangents
    out = lu_p.bind(x)
    zeros = tangent_zero(out)
    if type(g) is Zero:
        return out, zeros
    both, _, order = out
    lower, upper = split_lu(both)
    inner = triangular_solve(lower, permute_rows(g, order), left_side=True, lower=True, unit_diagonal=True)
    inner = triangular_solve(upper, inner)
    change = add(matmul(lower, tril(inner, -1)), matmul(triu(inner), upper))
    return out, [change, zeros[1], zeros[2]]


lu_p = def_linalg_rules(
    Primitive("lu", multiple_results=True, kernel=kernels.lu, abstract_eval=_lu_abstract, jvp=_lu_jvp)
)


def lu(x: ArrayLike) -> list[Array]:
    """Returns the decomposition with partial pivoting, x[..., permutation, :] = L U.

    Args:
      x: array of shape (..., m, n); k is the smaller of m and n.

    Returns:
      Tuple (lu, pivots, permutation): U and, below its diagonal, L without its ones; int32 arrays of shape (..., k) and
      (..., m).

    Examples:
      >>> lu, pivots, permutation = lax.linalg.lu(jnp.array([[1.0, 2.0], [4.0, 4.0]]))
      >>> permutation
      Array([1, 0], dtype=int32)
    """
    return lu_p.bind(operand(x))


def _permutation_abstract(pivots, *, permutation_size):
    check_operands("lu_pivots_to_permutation", (pivots,), (1,), (np.integer,))
    if pivots.dtype != INT32:
        raise TypeError(
            f"lu_pivots_to_permutation does not accept dtype {pivots.dtype} at position 0. Accepted dtypes at "
            "position 0 are subtypes of int32."
        )
    size = pivots.shape[-1]
    if dims.definitely_at_least(size, permutation_size + 1):
        raise ValueError(
            f"Output permutation size {permutation_size} has to exceed the trailing dimension of the pivots. Got "
            f"pivots size {size}"
        )
    return ShapedArray((*pivots.shape[:-1], permutation_size), INT32)


def _permutation_jvp(primals, tangents, **params):
    out = lu_pivots_to_permutation_p.bind(*primals, **params)
    return out, tangent_zero(out)


lu_pivots_to_permutation_p = def_linalg_rules(
    Primitive(
        "lu_pivots_to_permutation",
        kernel=kernels.lu_pivots_to_permutation,
        abstract_eval=_permutation_abstract,
        jvp=_permutation_jvp,
    )
)


def lu_pivots_to_permutation(pivots: ArrayLike, permutation_size: int) -> Array:
    """Returns the permutation that results from exchanging rows in turn.

    Args:
      pivots: int32 array of shape (..., k): row i is exchanged with row pivots[..., i].
      permutation_size: int, the number of rows.

    Returns:
      int32 array of shape (..., permutation_size).

    Examples:
      >>> lax.linalg.lu_pivots_to_permutation(jnp.array([1, 1]), 3)
      Array([1, 0, 2], dtype=int32)
    """
    return lu_pivots_to_permutation_p.bind(operand(pivots), permutation_size=permutation_size)


def lu_solve(both, order, b, *, transpose=False, conjugate=False):
    """Solves op(x) y = b for b[..., n, k], given the LU factors and the permutation of x."""
    if not transpose:
        y = triangular_solve(both, permute_rows(b, order), left_side=True, lower=True, unit_diagonal=True)
        return triangular_solve(both, y, left_side=True)
    how = {"left_side": True, "transpose_a": True, "conjugate_a": conjugate}
    y = triangular_solve(both, b, **how)
    y = triangular_solve(both, y, lower=True, unit_diagonal=True, **how)
    return matmul(_permutation_matrix(order, y.dtype), y)


def _permutation_matrix(order, dtype):
    """The matrix that undoes the exchange of rows: 1 at (order[i], i)."""
    n = shape_of(order)[-1]
    return matrix_transpose(permute_rows(batched_eye((*shape_of(order), n), dtype), order))


# ---- qr ----


def _qr_abstract(x, *, pivoting, full_matrices, use_magma=None):
    check_operands("qr", (x,), (2,))
    *batch, m, n = x.shape
    k = m if full_matrices else dims.min_dim(m, n)
    out = [ShapedArray((*batch, m, k), x.dtype), ShapedArray((*batch, k, n), x.dtype)]
    return (*out, ShapedArray((*batch, n), INT32)) if pivoting else tuple(out)


def _thin_qr_tangents(q, r, g):
    """Tangents of the factors of a matrix with no more columns than rows, r square."""
    over_r = triangular_solve(r, g)
    inside = matmul(adjoint(q), over_r)
    strict = tril(inside, -1)
    turn = sub(strict, adjoint(strict))
    if inside.dtype.kind == "c":
        unit = batched_eye(shape_of(inside), inside.dtype)
        turn = add(turn, mul(unit, sub(inside, convert(real(inside), inside.dtype))))
    return add(matmul(q, sub(turn, inside)), over_r), matmul(sub(inside, turn), r)


def _full_qr_tangents(q, r, g):
    """Tangents for a full q: its additional columns rotate as little as keeps q unitary."""
    m, n = shape_of(g)[-2:]
    thin, rest = slice_in_dim(q, 0, n, axis=-1), slice_in_dim(q, n, m, axis=-1)
    top = slice_in_dim(r, 0, n, axis=-2)
    g_thin, g_top = _thin_qr_tangents(thin, top, g)
    head, foot = slice_in_dim(thin, 0, n, axis=-2), slice_in_dim(thin, n, m, axis=-2)
    g_head, g_foot = slice_in_dim(g_thin, 0, n, axis=-2), slice_in_dim(g_thin, n, m, axis=-2)
    both, _, order = lu_p.bind(sub(head, batched_eye(shape_of(head), q.dtype)))
    w = lu_solve(both, order, adjoint(foot), transpose=True, conjugate=True)
    basis = add(thin, matmul(rest, adjoint(w)))
    change = sub(g_foot, matmul(adjoint(w), g_head))
    g_rest = sub(matmul(g_thin, w), matmul(basis, adjoint(change)))
    return concatenate([g_thin, g_rest], len(shape_of(q)) - 1), _pad_matrices(g_top, m, n)


def _wide_qr_tangents(q, r, g):
    """Tangents for more columns than rows: the columns behind the square part are x_2 = q r_2."""
    m, n = shape_of(g)[-2:]
    r_square, r_rest = slice_in_dim(r, 0, m, axis=-1), slice_in_dim(r, m, n, axis=-1)
    g_square, g_rest = slice_in_dim(g, 0, m, axis=-1), slice_in_dim(g, m, n, axis=-1)
    g_q, g_r = _thin_qr_tangents(q, r_square, g_square)
    later = add(matmul(adjoint(g_q), matmul(q, r_rest)), matmul(adjoint(q), g_rest))
    return g_q, concatenate([g_r, later], len(shape_of(r)) - 1)


def _qr_jvp(primals, tangents, *, pivoting, full_matrices, use_magma=None):
    (x,), (g,) = primals, tangents
    out = qr_p.bind(x, pivoting=pivoting, full_matrices=full_matrices, use_magma=use_magma)
    zeros = tangent_zero(out)
    if type(g) is Zero:
        return out, zeros
    q, r, *order = out
    if pivoting:
        g = matrix_transpose(permute_rows(matrix_transpose(g), order[0]))
    m, n = shape_of(x)[-2:]
    if m < n:
        g_q, g_r = _wide_qr_tangents(q, r, g)
    elif full_matrices and m > n:
        g_q, g_r = _full_qr_tangents(q, r, g)
    else:
        g_q, g_r = _thin_qr_tangents(q, r, g)
    return out, [g_q, g_r, *zeros[2:]]


qr_p = def_linalg_rules(
    Primitive("qr", multiple_results=True, kernel=kernels.qr, abstract_eval=_qr_abstract, jvp=_qr_jvp)
)


def qr(x: ArrayLike, *, pivoting: bool = False, full_matrices: bool = True, use_magma: bool | None = None) -> Any:
    """Returns the decomposition x = q r into a unitary and an upper triangular matrix.

    Args:
      x: array of shape (..., m, n); k is the smaller of m and n.
      pivoting: whether columns are permuted so that the diagonal of r decreases: x[..., :, p] = q r.
      full_matrices: whether q is of shape (..., m, m), instead of (..., m, k).
      use_magma: accepted as in JAX, without effect on a CPU.

    Returns:
      Tuple (q, r), or (q, r, p) with pivoting.

    Examples:
      >>> q, r = lax.linalg.qr(jnp.array([[3.0, 1.0], [4.0, 2.0]]))
      >>> jnp.round(q @ r, 4)
      Array([[3., 1.],
             [4., 2.]], dtype=float32)
    """
    out = qr_p.bind(operand(x), pivoting=bool(pivoting), full_matrices=bool(full_matrices), use_magma=use_magma)
    return tuple(out)


# ---- reflections ----


def _geqrf_abstract(x):
    check_operands("geqrf", (x,), (2,))
    *batch, m, n = x.shape
    return [ShapedArray(x.shape, x.dtype), ShapedArray((*batch, dims.min_dim(m, n)), x.dtype)]


geqrf_p = def_linalg_rules(
    Primitive("geqrf", multiple_results=True, kernel=kernels.geqrf, abstract_eval=_geqrf_abstract)
)


def geqrf(x):
    """(a, taus) as LAPACK's geqrf: r on and above the diagonal of a, Householder reflections below it."""
    return tuple(geqrf_p.bind(operand(x)))


def _householder_abstract(a, taus):
    check_operands("householder_product", (a, taus), (2, 1))
    m, n = a.shape[-2:]
    if dims.is_constant(m) and dims.is_constant(n) and m < n:
        raise ValueError(
            "The first argument to householder_product must have at least as many rows as columns, got shape "
            f"{a.shape[-2:]}"
        )
    if dims.is_constant(n) and dims.is_constant(taus.shape[-1]) and taus.shape[-1] > n:
        raise ValueError(
            "The second argument to householder_product must not have more rows than the minimum of the first "
            "argument's rows and columns."
        )
    return ShapedArray(a.shape, a.dtype)


householder_product_p = def_linalg_rules(
    Primitive("householder_product", kernel=kernels.householder_product, abstract_eval=_householder_abstract)
)


def householder_product(a: ArrayLike, taus: ArrayLike) -> Array:
    """Returns the first n columns of a product of reflections.

    Args:
      a: array of shape (..., m, n) with m >= n, whose columns below the diagonal hold the vectors v of reflections 1 -
        tau v v^H.
      taus: array of shape (..., k) with k <= n.

    Returns:
      Array of shape (..., m, n).

    Raises:
      ValueError: shapes do not fit.

    Examples:
      >>> lax.linalg.householder_product(jnp.eye(3, 2), jnp.zeros(2))
      Array([[1., 0.],
             [0., 1.],
             [0., 0.]], dtype=float32)
    """
    return householder_product_p.bind(operand(a), operand(taus))


def _ormqr_abstract(a, taus, c, *, left, transpose):
    check_operands("ormqr", (a, taus, c), (2, 1, 2))
    at, name = (-2, "rows") if left else (-1, "columns")
    if not dims.equal(a.shape[-2], c.shape[at]):
        raise ValueError(
            f"ormqr with left={left} expects c to have the same number of {name} as the Householder matrix a. Got a "
            f"shape {a.shape[-2:]} and c shape {c.shape[-2:]}."
        )
    return ShapedArray(c.shape, c.dtype)


ormqr_p = def_linalg_rules(Primitive("ormqr", kernel=kernels.ormqr, abstract_eval=_ormqr_abstract))


def ormqr(a: ArrayLike, taus: ArrayLike, c: ArrayLike, *, left: bool = True, transpose: bool = False) -> Array:
    """Returns an array multiplied by the unitary matrix of a product of reflections.

    Args:
      a: array of shape (..., m, k), as for `householder_product`.
      taus: array of shape (..., k).
      c: array of shape (..., m, n), or (..., n, m) unless left.
      left: whether the unitary matrix stands at the left.
      transpose: whether its conjugate transpose is taken.

    Returns:
      Array of the shape of `c`.

    Examples:
      >>> lax.linalg.ormqr(jnp.eye(3, 2), jnp.zeros(2), jnp.ones((3, 1)))
      Array([[1.],
             [1.],
             [1.]], dtype=float32)
    """
    return ormqr_p.bind(operand(a), operand(taus), operand(c), left=bool(left), transpose=bool(transpose))


# ---- updates ----


def _cholesky_update_abstract(r, w):
    check_operands("cholesky_update", (r, w), (2, 1), (np.floating,))
    if not is_square(r) or not dims.equal(r.shape[-1], w.shape[-1]):
        raise ValueError(
            "Rank-1 update to Cholesky decomposition takes a square matrix and a vector of the same size as input. Got "
            f"shapes {r.shape} and {w.shape} instead"
        )
    return ShapedArray(r.shape, r.dtype)


cholesky_update_p = def_linalg_rules(
    Primitive("cholesky_update", kernel=kernels.cholesky_update, abstract_eval=_cholesky_update_abstract)
)


def cholesky_update(r_matrix: ArrayLike, w_vector: ArrayLike) -> Array:
    """Returns the upper factor of R^T R + w w^T.

    Args:
      r_matrix: array of shape (..., n, n), the upper factor R.
      w_vector: array of shape (..., n).

    Returns:
      Array of shape (..., n, n).

    Raises:
      ValueError: shapes do not fit.

    Examples:
      >>> jnp.round(lax.linalg.cholesky_update(jnp.eye(2), jnp.array([1.0, 0.0])), 4)
      Array([[1.4142, 0.    ],
             [0.    , 1.    ]], dtype=float32)
    """
    return cholesky_update_p.bind(operand(r_matrix), operand(w_vector))


def _symmetric_product_abstract(a, c, *, alpha, beta):
    check_operands("symmetric_product", (a, c), (2, 2), (np.floating,))
    if not is_square(c) or not dims.equal(a.shape[-2], c.shape[-1]):
        raise ValueError(
            "symmetric_update expects a rectangular matrix of shape (m, n) and a square matrix of shape (n, n). Got "
            f"shapes {a.shape} and {c.shape}."
        )
    return ShapedArray(c.shape, c.dtype)


symmetric_product_p = def_linalg_rules(
    Primitive("symmetric_product", kernel=kernels.symmetric_product, abstract_eval=_symmetric_product_abstract)
)


def symmetric_product(
    a_matrix: ArrayLike, c_matrix: ArrayLike, *, alpha: float = 1.0, beta: float = 0.0, symmetrize_output: bool = False
) -> Array:
    """Returns alpha A A^T + beta C.

    It has no derivative, as in JAX.

    Args:
      a_matrix: array of shape (..., n, k).
      c_matrix: array of shape (..., n, n), symmetric.
      alpha, beta: numbers.
      symmetrize_output: whether both triangles of the result are valid; otherwise only one is.

    Returns:
      Array of shape (..., n, n).

    Examples:
      >>> lax.linalg.symmetric_product(jnp.array([[1.0], [2.0]]), jnp.zeros((2, 2)), symmetrize_output=True)
      Array([[1., 2.],
             [2., 4.]], dtype=float32)
    """
    return symmetric_product_p.bind(operand(a_matrix), operand(c_matrix), alpha=alpha, beta=beta)
