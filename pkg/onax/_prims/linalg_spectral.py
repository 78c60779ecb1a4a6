"""Linear algebra: eigenvalues, singular values, and reductions to condensed forms.

eigh, eig, svd; schur, hessenberg, tridiagonal; tridiagonal_solve.  Derivatives are those of simple eigenvalues and
distinct singular values, as in JAX.
"""

import enum
import functools
from typing import Any

import numpy as np

from onax._core.rules import add_tangents, tangent_zero
from onax._core.zeros import Zero, is_undefined_primal
from onax._ground import dims, dtypes
from onax._ground.typing import AnyFunction, ArrayLike
from onax._native.array import Array
from onax._native.avals import ShapedArray
from onax._native.dispatch import Primitive
from onax._prims import linalg_kernels as kernels
from onax._prims._matrices import (
    adjoint,
    as_columns,
    batched_eye,
    check_symmetrizable,
    diagonal,
    matmul,
    symmetrize,
    to_inexact,
)
from onax._prims.convert import convert
from onax._prims.creation import broadcasted_iota
from onax._prims.elementwise import abs as abs_
from onax._prims.elementwise import add, complex, conj, div, eq, imag, integer_pow, mul, neg, real, sub
from onax._prims.elementwise_rows import const
from onax._prims.linalg import lu_p, lu_solve
from onax._prims.linalg_rules import (
    check_operands,
    check_square,
    def_linalg_rules,
    is_square,
    operand,
    weak_as_operands,
)
from onax._prims.padding import pad
from onax._prims.reductions import argmax
from onax._prims.shaping import bdim_at_front, broadcast_in_dim, moveaxis, reduce_sum, reshape, shape_of
from onax._prims.slicing import slice_in_dim, zero_scalar


def _broadcast_rows_and_columns(v, like):
    """(v as rows, v as columns): broadcasts the vectors in the last axis to the shape of `like`."""
    shape = shape_of(like)
    rank = len(shape)
    rows = broadcast_in_dim(v, shape, (*range(rank - 2), rank - 1))
    return rows, broadcast_in_dim(v, shape, (*range(rank - 2), rank - 2))


# ---- eigh ----


class EighImplementation(enum.Enum):
    """How eigenvalues of Hermitian matrices are computed; on a CPU only by QR."""

    QR = "qr"
    JACOBI = "jacobi"
    QDWH = "qdwh"


def _eigh_abstract(x, *, lower, sort_eigenvalues, subset_by_index, algorithm):
    check_operands("eigh", (x,), (2,))
    if not is_square(x):
        raise ValueError(f"Argument to symmetric eigendecomposition must have shape [..., n, n], got shape {x.shape}")
    return ShapedArray(x.shape, x.dtype), ShapedArray(x.shape[:-1], dtypes.real_dtype(x.dtype))


def _eigh_jvp(primals, tangents, **params):
    (x,), (g,) = primals, tangents
    v, w = eigh_p.bind(symmetrize(x), **params)
    if type(g) is Zero:
        return [v, w], tangent_zero([v, w])
    unit = batched_eye(shape_of(x), x.dtype)
    along, down = _broadcast_rows_and_columns(convert(w, x.dtype), x)
    gaps = sub(integer_pow(sub(add(unit, along), down), -1), unit)
    turned = matmul(matmul(adjoint(v), g), v)
    change = diagonal(turned)
    return [v, w], [matmul(v, mul(gaps, turned)), real(change) if change.dtype.kind == "c" else change]


eigh_p = def_linalg_rules(
    Primitive("eigh", multiple_results=True, kernel=kernels.eigh, abstract_eval=_eigh_abstract, jvp=_eigh_jvp)
)


def eigh(
    x: ArrayLike,
    *,
    lower: bool = True,
    symmetrize_input: bool = True,
    sort_eigenvalues: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    implementation: Any = None,
) -> tuple[Array, Array]:
    """Returns eigenvectors and eigenvalues of Hermitian matrices.

    Args:
      x: array of shape (..., n, n).
      lower: whether the lower triangle is read where symmetrize_input is False.
      symmetrize_input: whether (x + x^H) / 2 is decomposed.
      sort_eigenvalues: accepted as in JAX; eigenvalues ascend in any case.
      subset_by_index: two ints (start, end), the range of eigenvalues; only (0, n) on a CPU.
      implementation: a `lax.linalg.EighImplementation`; only QR on a CPU.

    Returns:
      Tuple (eigenvectors in the columns of an array of shape (..., n, n), real eigenvalues of shape (..., n)).

    Raises:
      ValueError: the matrices are not square.
      NotImplementedError: `subset_by_index` leaves values out, or the implementation is not QR.

    Examples:
      >>> vectors, values = lax.linalg.eigh(jnp.array([[2.0, 0.0], [0.0, 1.0]]))
      >>> jnp.round(values, 4)
      Array([1., 2.], dtype=float32)
    """
    x = operand(x)
    if symmetrize_input:
        x = to_inexact(x)
        check_symmetrizable(x, functools.partial(check_square_operand_of_eigh, x))
        x = symmetrize(x)
    if subset_by_index is not None and subset_by_index != (0, x.shape[-1]):
        raise NotImplementedError("subset_by_index not supported on CPU and GPU")
    if implementation not in (None, EighImplementation.QR):
        raise NotImplementedError(f"{implementation.name.capitalize()} implementation is not supported on CPU")
    v, w = eigh_p.bind(
        x,
        lower=bool(lower),
        sort_eigenvalues=bool(sort_eigenvalues),
        subset_by_index=subset_by_index,
        algorithm=implementation,
    )
    return v, w


def check_square_operand_of_eigh(x):
    """Raises the errors of eigh for an operand that cannot be made Hermitian."""
    _eigh_abstract(x.aval, lower=True, sort_eigenvalues=True, subset_by_index=None, algorithm=None)


# ---- eig ----


class EigImplementation(enum.Enum):
    """How eigenvalues of general matrices are computed; on a CPU only by LAPACK."""

    CUSOLVER = "cusolver"
    MAGMA = "magma"
    LAPACK = "lapack"


_EIG_REFUSAL = (
    "Derivatives of non-symmetric eigenvectors are only valid under assumptions on the input that JAX cannot check "
    "(see the enable_eigvec_derivs argument to jax.lax.linalg.eig). Pass enable_eigvec_derivs=True to "
    "jax.lax.linalg.eig to opt in. See https://github.com/jax-ml/jax/issues/2748 for discussion."
)


def _eig_abstract(
    x, *, compute_left_eigenvectors, compute_right_eigenvectors, enable_eigvec_derivs=False, implementation=None
):
    check_operands("eig", (x,), (2,))
    check_square("eig", x)
    dtype = x.dtype
    if dtype.kind != "c":
        dtype = np.dtype(np.complex128 if dtype.itemsize == 8 and dtype.kind == "f" else np.complex64)
    vectors = [ShapedArray(x.shape, dtype)] * (bool(compute_left_eigenvectors) + bool(compute_right_eigenvectors))
    return [ShapedArray(x.shape[:-1], dtype), *vectors]


def _eigenvector_tangent(w, v, mixed):
    """The tangent of eigenvectors normalized to length 1 with a real largest element; `mixed` is v^-1 g v."""
    unit = batched_eye(shape_of(v), v.dtype)
    along, down = _broadcast_rows_and_columns(w, v)
    gaps = sub(integer_pow(sub(add(along, unit), down), -1), unit)
    free = matmul(v, mul(gaps, mixed))
    rank = len(shape_of(v))
    largest = argmax(abs_(v), rank - 2, np.int32)
    rows = broadcasted_iota(np.int32, shape_of(v), rank - 2)
    marks = convert(eq(rows, broadcast_in_dim(largest, shape_of(v), (*range(rank - 2), rank - 1))), v.dtype)

    def at_largest(x):
        return reduce_sum(mul(marks, x), (rank - 2,))

    stretch = neg(real(reduce_sum(mul(conj(v), free), (rank - 2,))))
    turn = div(neg(imag(at_largest(free))), real(at_largest(v)))
    scale = broadcast_in_dim(complex(stretch, turn), shape_of(v), (*range(rank - 2), rank - 1))
    return add(free, mul(v, scale))


def _solve(v, g):
    """v^-1 g"""
    both, _, order = lu_p.bind(v)
    return lu_solve(both, order, g)


def _eig_jvp(primals, tangents, **params):
    (x,), (g,) = primals, tangents
    left, right = params["compute_left_eigenvectors"], params["compute_right_eigenvectors"]
    if (left or right) and not params.get("enable_eigvec_derivs"):
        raise NotImplementedError(_EIG_REFUSAL)
    full = {**params, "compute_left_eigenvectors": left, "compute_right_eigenvectors": True}
    w, *vectors = eig_p.bind(x, **full)
    v = vectors[-1]
    out = [w, *(vectors[:1] if left else ()), *((v,) if right else ())]
    if type(g) is Zero:
        return out, tangent_zero(out)
    g = convert(g, w.dtype)
    mixed = matmul(_solve(v, g), v)
    changes = [diagonal(mixed)]
    if left:
        u = vectors[0]
        changes.append(_eigenvector_tangent(conj(w), u, matmul(_solve(u, adjoint(g)), u)))
    if right:
        changes.append(_eigenvector_tangent(w, v, mixed))
    return out, changes


eig_p = def_linalg_rules(
    Primitive("eig", multiple_results=True, kernel=kernels.eig, abstract_eval=_eig_abstract, jvp=_eig_jvp)
)


def eig(
    x: ArrayLike,
    *,
    compute_left_eigenvectors: bool = True,
    compute_right_eigenvectors: bool = True,
    enable_eigvec_derivs: bool = False,
    implementation: Any = None,
    use_magma: bool | None = None,
) -> list[Array]:
    """Returns eigenvalues and eigenvectors of square matrices.

    Args:
      x: array of shape (..., n, n).
      compute_left_eigenvectors: whether left eigenvectors are returned.
      compute_right_eigenvectors: whether right eigenvectors are returned.
      enable_eigvec_derivs: whether eigenvectors may be differentiated.
      implementation: a `lax.linalg.EigImplementation`; only LAPACK on a CPU.
      use_magma: accepted as in JAX, without effect on a CPU.

    Returns:
      List [eigenvalues of shape (..., n), left vectors, right vectors], the last two of shape (..., n, n) where asked
      for; all are complex.

    Raises:
      ValueError: the matrices are not square.

    Examples:
      >>> values, vectors = lax.linalg.eig(jnp.array([[1.0, 2.0], [0.0, 3.0]]), compute_left_eigenvectors=False)
      >>> jnp.round(jnp.sort(values.real), 4)
      Array([1., 3.], dtype=float32)
    """
    if implementation not in (None, EigImplementation.LAPACK):
        raise ValueError("Only the lapack implementation is supported on CPU.")
    return eig_p.bind(
        operand(x),
        compute_left_eigenvectors=compute_left_eigenvectors,
        compute_right_eigenvectors=compute_right_eigenvectors,
        enable_eigvec_derivs=enable_eigvec_derivs,
        implementation=implementation,
    )


# ---- svd ----


class SvdAlgorithm(enum.Enum):
    """How singular values are computed; on a CPU by divide and conquer (the default) or QR."""

    DEFAULT = "default"
    QR = "QR"
    JACOBI = "Jacobi"
    POLAR = "polar"
    DIVIDE_AND_CONQUER = "divide_and_conquer"


def _svd_abstract(x, *, full_matrices, compute_uv, subset_by_index, algorithm):
    check_operands("svd", (x,), (2,))
    *batch, m, n = x.shape
    k = dims.min_dim(m, n)
    s = ShapedArray((*batch, k), dtypes.real_dtype(x.dtype))
    if not compute_uv:
        return (s,)
    rows, columns = (m, n) if full_matrices else (k, k)
    return s, ShapedArray((*batch, m, rows), x.dtype), ShapedArray((*batch, columns, n), x.dtype)


def _svd_vector_tangents(x, g, s, u, vh, inside):
    """Tangents of u and v^H; `inside` is u^H g v."""
    v, uh = adjoint(vh), adjoint(u)
    along, down = _broadcast_rows_and_columns(s, inside)
    unit = batched_eye(shape_of(inside), s.dtype)
    gaps = sub(div(const(s, 1), add(mul(add(along, down), sub(along, down)), unit)), unit)
    gaps, along, down = (convert(y, x.dtype) for y in (gaps, along, down))
    by_columns, by_rows = mul(along, inside), mul(down, inside)
    zero = convert(eq(s, const(s, 0)), s.dtype)
    inverse = sub(div(const(s, 1), add(s, zero)), zero)
    inverses = mul(convert(unit, x.dtype), convert(_broadcast_rows_and_columns(inverse, inside)[1], x.dtype))
    turn = mul(mul(sub(inside, adjoint(inside)), inverses), const(inside, 0.5))
    gu = matmul(u, add(mul(gaps, add(by_columns, adjoint(by_columns))), turn))
    gv = matmul(v, mul(gaps, add(by_rows, adjoint(by_rows))))
    m, n = shape_of(x)[-2:]
    if m > n:
        gu = add(gu, _complement_tangent(u, uh, matmul(g, v), s))
    if n > m:
        gv = add(gv, _complement_tangent(v, vh, matmul(adjoint(g), u), s))
    return gu, adjoint(gv)


def _complement_tangent(basis, basis_h, change, s):
    """The component of a change orthogonal to the singular vectors, divided by the singular values."""
    left = sub(change, matmul(basis, matmul(basis_h, change)))
    rank = len(shape_of(left))
    return div(left, convert(broadcast_in_dim(s, shape_of(left), (*range(rank - 2), rank - 1)), left.dtype))


def _svd_jvp(primals, tangents, *, full_matrices, compute_uv, **params):
    (x,), (g,) = primals, tangents
    m, n = shape_of(x)[-2:]
    if compute_uv and full_matrices and not dims.equal(m, n):
        raise NotImplementedError("Singular value decomposition JVP not implemented for full matrices")
    if type(g) is Zero:
        out = svd_p.bind(x, full_matrices=full_matrices, compute_uv=compute_uv, **params)
        return out, tangent_zero(out)
    s, u, vh = svd_p.bind(x, full_matrices=False, compute_uv=True, **params)
    inside = matmul(matmul(adjoint(u), g), adjoint(vh))
    change = diagonal(inside)
    change = real(change) if change.dtype.kind == "c" else change
    if not compute_uv:
        return [s], [change]
    gu, gvh = _svd_vector_tangents(x, g, s, u, vh, inside)
    return [s, u, vh], [change, gu, gvh]


svd_p = def_linalg_rules(
    Primitive("svd", multiple_results=True, kernel=kernels.svd, abstract_eval=_svd_abstract, jvp=_svd_jvp)
)


def svd(
    x: ArrayLike,
    *,
    full_matrices: bool = True,
    compute_uv: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    algorithm: Any = None,
) -> Any:
    """Returns the singular value decomposition x = u diag(s) v^H.

    Args:
      x: array of shape (..., m, n); k is the smaller of m and n.
      full_matrices: whether u and v^H are square, instead of (..., m, k) and (..., k, n).
      compute_uv: whether u and v^H are computed.
      subset_by_index: two ints (start, end), the range of singular values; only (0, k) on a CPU.
      algorithm: a `lax.linalg.SvdAlgorithm`; default: divide and conquer.

    Returns:
      Tuple (u, s, v^H) with s real, descending, of shape (..., k); s alone without compute_uv.

    Raises:
      NotImplementedError: `subset_by_index` leaves values out, or the algorithm is JACOBI or POLAR.
      ValueError: `subset_by_index` together with `full_matrices`.

    Examples:
      >>> jnp.round(lax.linalg.svd(jnp.array([[3.0, 0.0], [0.0, -4.0]]), compute_uv=False), 4)
      Array([4., 3.], dtype=float32)
    """
    x = operand(x)
    if subset_by_index is not None and x.ndim > 1:
        if full_matrices and compute_uv:
            raise ValueError("full_matrices and subset_by_index cannot both be set")
        if subset_by_index != (0, min(x.shape[-2:])):
            raise NotImplementedError("subset_by_index not implemented for CPU and GPU")
        subset_by_index = None
    if algorithm in (SvdAlgorithm.JACOBI, SvdAlgorithm.POLAR):
        raise NotImplementedError("The SVD Jacobi and Polar algorithms are not implemented on CPU.")
    out = svd_p.bind(
        x,
        full_matrices=bool(full_matrices),
        compute_uv=bool(compute_uv),
        subset_by_index=subset_by_index,
        algorithm=algorithm,
    )
    if not compute_uv:
        return out[0]
    s, u, vh = out
    return u, s, vh


# ---- condensed forms ----


def _schur_abstract(x, *, compute_schur_vectors, sort_eig_vals, select_callable):
    check_operands("schur", (x,), (2,))
    check_square("schur", x)
    return [ShapedArray(x.shape, x.dtype)] * (2 if compute_schur_vectors else 1)


schur_p = def_linalg_rules(
    Primitive("schur", multiple_results=True, kernel=kernels.schur, abstract_eval=_schur_abstract)
)


def schur(
    x: ArrayLike,
    *,
    compute_schur_vectors: bool = True,
    sort_eig_vals: bool = False,
    select_callable: AnyFunction = None,
) -> list[Array]:
    """Returns the Schur form T and the unitary Z with x = Z T Z^H.

    Args:
      x: array of shape (..., n, n).
      compute_schur_vectors: whether Z is computed.
      sort_eig_vals: must be False.
      select_callable: accepted as in JAX, without effect.

    Returns:
      List [T, Z] of arrays of shape (..., n, n), or [T]; T is upper triangular, of real matrices with blocks of 2 x 2
      for pairs of complex eigenvalues.

    Raises:
      NotImplementedError: sort_eig_vals is True.

    Examples:
      >>> t, z = lax.linalg.schur(jnp.array([[1.0, 2.0], [0.0, 3.0]]))
      >>> jnp.round(z @ t @ z.T, 4)
      Array([[1., 2.],
             [0., 3.]], dtype=float32)
    """
    if sort_eig_vals:
        raise NotImplementedError("The sort feature of LAPACK's gees routine is not implemented.")
    return schur_p.bind(
        operand(x),
        compute_schur_vectors=bool(compute_schur_vectors),
        sort_eig_vals=False,
        select_callable=select_callable,
    )


def _hessenberg_abstract(x):
    check_operands("hessenberg", (x,), (2,))
    if not is_square(x):
        raise ValueError(f"Argument to Hessenberg reduction must have shape [..., n, n], got shape {x.shape}")
    if dims.equal(x.shape[-1], 0):
        raise ValueError(f"hessenberg needs matrices with at least one row, got shape {x.shape}")
    return [ShapedArray(x.shape, x.dtype), ShapedArray((*x.shape[:-2], x.shape[-1] - 1), x.dtype)]


hessenberg_p = def_linalg_rules(
    Primitive("hessenberg", multiple_results=True, kernel=kernels.hessenberg, abstract_eval=_hessenberg_abstract)
)


def hessenberg(a: ArrayLike) -> list[Array]:
    """Returns the Hessenberg form of square matrices, with the reflections that make it.

    Args:
      a: array of shape (..., n, n).

    Returns:
      Tuple (H with reflections below its subdiagonal, taus of shape (..., n - 1)): a = Q H Q^H with Q from
      `householder_product`.

    Examples:
      >>> h, taus = lax.linalg.hessenberg(jnp.array([[1.0, 2.0], [3.0, 4.0]]))
      >>> h
      Array([[1., 2.],
             [3., 4.]], dtype=float32)
    """
    return hessenberg_p.bind(operand(a))


def _tridiagonal_abstract(x, *, lower):
    check_operands("tridiagonal", (x,), (2,))
    if not is_square(x) or dims.equal(x.shape[-1], 0):
        raise ValueError(f"The input to tridiagonal must be a square matrix. Got shape {x.shape[-2:]}.")
    *batch, n, _ = x.shape
    real = dtypes.real_dtype(x.dtype)
    return [
        ShapedArray(x.shape, x.dtype),
        ShapedArray((*batch, n), real),
        ShapedArray((*batch, n - 1), real),
        ShapedArray((*batch, n - 1), x.dtype),
    ]


tridiagonal_p = def_linalg_rules(
    Primitive(
        "tridiagonal",
        multiple_results=True,
        kernel=kernels.tridiagonal,
        abstract_eval=_tridiagonal_abstract,
    )
)


def tridiagonal(a: ArrayLike, *, lower: bool = True) -> list[Array]:
    """Returns the tridiagonal form of Hermitian matrices, with the reflections that make it.

    Args:
      a: array of shape (..., n, n).
      lower: whether the lower triangle is read.

    Returns:
      Tuple (form with reflections, diagonal of shape (..., n), off-diagonal and taus of shape (..., n - 1)).

    Examples:
      >>> _, diagonal, _, _ = lax.linalg.tridiagonal(jnp.array([[1.0, 2.0], [2.0, 4.0]]))
      >>> diagonal
      Array([1., 4.], dtype=float32)
    """
    return tridiagonal_p.bind(operand(a), lower=bool(lower))


# ---- tridiagonal_solve ----


def _tridiagonal_solve_abstract(dl, d, du, b, *, perturb_singular):
    check_operands("tridiagonal_solve", (dl, d, du, b), (1, 1, 1, 2))
    if not (dims.equal_shapes(dl.shape, d.shape) and dims.equal_shapes(d.shape, du.shape)):
        raise TypeError("tridiagonal_solve requires that all diagonal arguments have the same shape.")
    if not dims.equal(d.shape[-1], b.shape[-2]):
        raise TypeError(
            "tridiagonal_solve requires that the leading ndim-1 dimensions of b equal the dimensions of the diagonal "
            "arguments."
        )
    return ShapedArray(b.shape, b.dtype)


def _tridiagonal_product(dl, d, du, x):
    """The tridiagonal matrix times x."""
    n, rank = shape_of(d)[-1], len(shape_of(x))

    def beside(diagonal, start, low):
        band = slice_in_dim(diagonal, 1 - start, n - start, axis=-1)
        rows = slice_in_dim(x, start, n - 1 + start, axis=-2)
        product = mul(broadcast_in_dim(as_columns(band), shape_of(rows), tuple(range(rank))), rows)
        none = [(0, 0, 0)] * (rank - 2)
        return pad(product, zero_scalar(product.dtype), [*none, (low, 1 - low, 0), (0, 0, 0)])

    product = mul(broadcast_in_dim(as_columns(d), shape_of(x), tuple(range(rank))), x)
    return product if n == 1 else add(add(product, beside(dl, 0, 1)), beside(du, 1, 0))


def _tridiagonal_solve_jvp(primals, tangents, **params):
    *diagonals, b = primals
    *g_diagonals, gb = tangents
    out = tridiagonal_solve_p.bind(*diagonals, b, **params)
    if all(type(g) is Zero for g in tangents):
        return out, tangent_zero(out)
    if not all(type(g) is Zero for g in g_diagonals):
        full = [np.zeros(g.aval.shape, g.aval.dtype) if type(g) is Zero else g for g in g_diagonals]
        gb = add_tangents(gb, neg(_tridiagonal_product(*full, out)))
    return out, tridiagonal_solve_p.bind(*diagonals, gb, **params)


def _tridiagonal_solve_transpose(ct, dl, d, du, b, **params):
    if any(is_undefined_primal(x) for x in (dl, d, du)):
        raise TypeError("tridiagonal_solve is linear in its right-hand side only")
    if type(ct) is Zero:
        return [None, None, None, Zero(b.aval)]
    n = shape_of(d)[-1]
    none = [(0, 0, 0)] * (len(shape_of(d)) - 1)

    def shifted(x, start, low):
        part = slice_in_dim(x, start, n - 1 + start, axis=-1)
        return pad(part, zero_scalar(x.dtype), [*none, (low, 1 - low, 0)])

    below, above = shifted(operand(du), 0, 1), shifted(operand(dl), 1, 0)
    return [None, None, None, tridiagonal_solve_p.bind(below, d, above, ct, **params)]


def _tridiagonal_solve_batch(axis_data, operands, mapped, **params):
    """If only b is mapped, its columns become additional columns of one b."""
    *diagonals, b = operands
    if any(d is not None for d in mapped[:3]):
        moved = [bdim_at_front(x, d, axis_data.size) for x, d in zip(operands, mapped)]
        return tridiagonal_solve_p.bind(*moved, **params), 0
    at = b.ndim - 2
    b = moveaxis(b, mapped[3], at)
    *lead, n, k, columns = b.shape
    out = tridiagonal_solve_p.bind(*diagonals, reshape(b, (*lead, n, k * columns)), **params)
    return reshape(out, b.shape), at


tridiagonal_solve_p = Primitive(
    "tridiagonal_solve",
    kernel=kernels.tridiagonal_solve,
    abstract_eval=weak_as_operands(_tridiagonal_solve_abstract),
    jvp=_tridiagonal_solve_jvp,
    transpose=_tridiagonal_solve_transpose,
    batch=_tridiagonal_solve_batch,
)


def tridiagonal_solve(
    dl: ArrayLike, d: ArrayLike, du: ArrayLike, b: ArrayLike, *, perturb_singular: bool = False
) -> Array:
    """Returns the solution x of A x = b for tridiagonal matrices A.

    Args:
      dl: array of shape (..., n), the diagonal below; dl[..., 0] is not used.
      d: array of shape (..., n), the diagonal.
      du: array of shape (..., n), the diagonal above; du[..., n - 1] is not used.
      b: array of shape (..., n, k).
      perturb_singular: whether a tiny pivot replaces a pivot 0; otherwise a singular A gives NaN.

    Returns:
      Array of shape (..., n, k).

    Raises:
      TypeError: shapes do not fit.

    Examples:
      >>> one, two = jnp.ones(2), jnp.full(2, 2.0)
      >>> jnp.round(lax.linalg.tridiagonal_solve(one, two, one, jnp.array([[3.0], [3.0]])), 4)
      Array([[1.],
             [1.]], dtype=float32)
    """
    return tridiagonal_solve_p.bind(
        operand(dl), operand(d), operand(du), operand(b), perturb_singular=bool(perturb_singular)
    )
