"""Implementation of jnp.linalg: factorisations, eigenvalues, singular values."""

from __future__ import annotations

from typing import Literal, NamedTuple, overload

import numpy as np

from onax import lax
from onax._control.jit_call import staged
from onax._core.api_functions import static_argnames
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax._prims.linalg import geqrf
from onax.lax import linalg as factors
from onax.numpy._promotion import check_arraylike, promote_dtypes_inexact
from onax.numpy._shaping import matrix_transpose
from onax.numpy._ufuncs import conj


class EigResult(NamedTuple):
    """Eigenvalues and eigenvectors (in columns) of general matrices."""

    eigenvalues: Array
    eigenvectors: Array


class EighResult(NamedTuple):
    """Eigenvalues and eigenvectors (in columns) of Hermitian matrices."""

    eigenvalues: Array
    eigenvectors: Array


class QRResult(NamedTuple):
    """A unitary and an upper triangular factor."""

    Q: Array
    R: Array


class SVDResult(NamedTuple):
    """Left vectors (in columns), singular values, right vectors (in rows, conjugated)."""

    U: Array
    S: Array
    Vh: Array


def adjoint(x):
    """The conjugate transpose of the matrices in the last two axes."""
    return conj(matrix_transpose(x))


def promote_matrices(name, *args):
    """The arguments as arrays of one floating or complex dtype."""
    args = check_arraylike(f"jnp.linalg.{name}", *args)
    return promote_dtypes_inexact(*args)


@staged("cholesky", ("upper", "symmetrize_input"), compiled_from=1)
def _cholesky(a, upper, symmetrize_input):
    lower = factors.cholesky(a, symmetrize_input=symmetrize_input)
    return adjoint(lower) if upper else lower


@static_argnames("upper", "symmetrize_input")
def cholesky(a: ArrayLike, *, upper: bool = False, symmetrize_input: bool = True) -> Array:
    """Returns the triangular factor of Hermitian positive definite matrices.

    Unlike NumPy, a matrix that is not positive definite gives NaN instead of an error.

    Args:
      a: array of shape (..., n, n); integers become floats.
      upper: whether the upper factor U with a = U^H U is returned, instead of the lower L with a = L L^H.
      symmetrize_input: whether (a + a^H) / 2 is decomposed; otherwise only one triangle is read.

    Returns:
      Array of shape (..., n, n), of a floating or complex dtype; the other triangle is 0.

    Raises:
      ValueError: the last two axes are not square.
      TypeError: `a` has less than 2 axes.

    Examples:
      >>> jnp.round(jnp.linalg.cholesky(jnp.array([[4.0, 2.0], [2.0, 5.0]])), 4)
      Array([[2., 0.],
             [1., 2.]], dtype=float32)
    """
    (a,) = promote_matrices("cholesky", a)
    return _cholesky(a, upper=upper, symmetrize_input=symmetrize_input)


@staged("svd", ("full_matrices", "compute_uv", "hermitian", "subset_by_index"), compiled_from=1)
def _svd(a, full_matrices, compute_uv, hermitian, subset_by_index):
    if not hermitian:
        return factors.svd(a, full_matrices=full_matrices, compute_uv=compute_uv, subset_by_index=subset_by_index)
    w, v = eigh(a)
    magnitude = lax.abs(w)
    if not compute_uv:
        return lax.rev(lax.sort(magnitude, dimension=magnitude.ndim - 1), (magnitude.ndim - 1,))
    sign = lax.sign(w)
    indices = lax.broadcasted_iota(np.int64 if w.shape[-1] > 2**31 else np.int32, w.shape, w.ndim - 1)
    s, order = lax.sort_key_val(lax.neg(magnitude), indices)
    s = lax.neg(s)

    def reordered(x):
        return _take_along_last_axis(x, lax.broadcast_in_dim(order, x.shape, (*range(x.ndim - 2), x.ndim - 1)))

    u, columns = reordered(v), reordered(lax.mul(v, _broadcast_rows(sign, v)))
    return u, s, adjoint(columns)


def _broadcast_rows(x, like):
    """Broadcasts vectors in the last axis to the rows of `like`'s matrices, in its dtype."""
    rows = lax.broadcast_in_dim(x, like.shape, (*range(like.ndim - 2), like.ndim - 1))
    return lax.convert_element_type(rows, like.dtype)


def _take_along_last_axis(x, order):
    """Takes the elements of x at the indices `order` along the last axis."""
    last = x.ndim - 1
    numbers = lax.GatherDimensionNumbers(
        offset_dims=(),
        collapsed_slice_dims=(last,),
        start_index_map=(last,),
        operand_batching_dims=tuple(range(last)),
        start_indices_batching_dims=tuple(range(last)),
    )
    mode = lax.GatherScatterMode.PROMISE_IN_BOUNDS
    return lax.gather(x, lax.expand_dims(order, (x.ndim,)), numbers, (1,) * x.ndim, mode=mode)


@overload
def svd(
    a: ArrayLike,
    full_matrices: bool = True,
    compute_uv: Literal[True] = True,
    hermitian: bool = False,
    subset_by_index: tuple[int, int] | None = None,
) -> SVDResult: ...


@overload
def svd(
    a: ArrayLike,
    full_matrices: bool = True,
    *,
    compute_uv: Literal[False],
    hermitian: bool = False,
    subset_by_index: tuple[int, int] | None = None,
) -> Array: ...


@overload
def svd(
    a: ArrayLike,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
    subset_by_index: tuple[int, int] | None = None,
) -> Array | SVDResult: ...


@static_argnames("full_matrices", "compute_uv", "hermitian", "subset_by_index")
def svd(
    a: ArrayLike,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
    subset_by_index: tuple[int, int] | None = None,
) -> Array | SVDResult:
    """Returns the singular value decomposition a = U diag(S) Vh.

    Args:
      a: array of shape (..., m, n); k is the smaller of m and n.
      full_matrices: whether U and Vh are square, (..., m, m) and (..., n, n), instead of (..., m, k) and (..., k, n).
      compute_uv: whether U and Vh are computed.
      hermitian: whether `a` is Hermitian, which allows `eigh` to be used.
      subset_by_index: two ints (start, end), the range of singular values to return; only (0, k) on a CPU.

    Returns:
      Named tuple (U, S, Vh), S of shape (..., k), real and descending; S alone without compute_uv.

    Raises:
      TypeError: the rank of `a` is below 2.
      ValueError: subset_by_index is given together with full_matrices.
      NotImplementedError: `hermitian` together with `subset_by_index`.

    Examples:
      >>> u, s, vh = jnp.linalg.svd(jnp.array([[3.0, 0.0], [0.0, -4.0]]))
      >>> jnp.round(s, 4)
      Array([4., 3.], dtype=float32)
      >>> jnp.round((u * s) @ vh, 4)
      Array([[ 3.,  0.],
             [ 0., -4.]], dtype=float32)
    """
    (a,) = promote_matrices("svd", a)
    if full_matrices and subset_by_index is not None:
        raise ValueError("svd: full_matrices and subset_by_index cannot both be set")
    if hermitian and subset_by_index is not None:
        raise NotImplementedError("svd: subset_by_index is not implemented for hermitian matrices")
    out = _svd(
        a, full_matrices=full_matrices, compute_uv=compute_uv, hermitian=hermitian, subset_by_index=subset_by_index
    )
    return SVDResult(*out) if compute_uv else out


def svdvals(x: ArrayLike, /) -> Array:
    """Returns the singular values of matrices.

    Args:
      x: array of shape (..., m, n).

    Returns:
      Real array of shape (..., min(m, n)), descending.

    Examples:
      >>> jnp.round(jnp.linalg.svdvals(jnp.array([[3.0, 0.0], [0.0, -4.0]])), 4)
      Array([4., 3.], dtype=float32)
    """
    (x,) = promote_matrices("svdvals", x)
    return _svd(x, full_matrices=True, compute_uv=False, hermitian=False, subset_by_index=None)


@staged("eigh", ("lower", "symmetrize_input"), compiled_from=1)
def _eigh(a, lower, symmetrize_input):
    v, w = factors.eigh(a, lower=lower, symmetrize_input=symmetrize_input)
    return w, v


def _is_lower(name, side):
    if side is None or side == "L":
        return True
    if side == "U":
        return False
    raise ValueError(f"UPLO must be one of None, 'L', or 'U', got {side}")


@static_argnames("UPLO", "symmetrize_input")
def eigh(a: ArrayLike, UPLO: str | None = None, symmetrize_input: bool = True) -> EighResult:
    """Returns eigenvalues and eigenvectors of Hermitian matrices.

    Args:
      a: array of shape (..., n, n).
      UPLO: "L" or "U", the triangle that is read where symmetrize_input is False; default: "L".
      symmetrize_input: whether (a + a^H) / 2 is decomposed.

    Returns:
      Named tuple (eigenvalues, eigenvectors): real ones of shape (..., n), ascending, and unit vectors in the columns
      of an array of shape (..., n, n).

    Raises:
      ValueError: UPLO is neither "L" nor "U", or the matrices are not square.

    Examples:
      >>> values, vectors = jnp.linalg.eigh(jnp.array([[2.0, 0.0], [0.0, 1.0]]))
      >>> jnp.round(values, 4)
      Array([1., 2.], dtype=float32)
    """
    (a,) = promote_matrices("eigh", a)
    lower = _is_lower("eigh", UPLO)
    return EighResult(*_eigh(a, lower=lower, symmetrize_input=symmetrize_input))


@staged("eigvalsh", ("lower", "symmetrize_input"), compiled_from=1)
def _eigvalsh(a, lower, symmetrize_input):
    return _eigh(a, lower=lower, symmetrize_input=symmetrize_input)[0]


@static_argnames("UPLO", "symmetrize_input")
def eigvalsh(a: ArrayLike, UPLO: str | None = "L", *, symmetrize_input: bool = True) -> Array:
    """Returns the eigenvalues of Hermitian matrices.

    Args:
      a: array of shape (..., n, n).
      UPLO: "L" or "U", the triangle that is read where symmetrize_input is False.
      symmetrize_input: whether (a + a^H) / 2 is used.

    Returns:
      Real array of shape (..., n), ascending.

    Raises:
      ValueError: UPLO is neither "L" nor "U", or the matrices are not square.

    Examples:
      >>> jnp.round(jnp.linalg.eigvalsh(jnp.array([[2.0, 0.0], [0.0, 1.0]])), 4)
      Array([1., 2.], dtype=float32)
    """
    (a,) = promote_matrices("eigvalsh", a)
    return _eigvalsh(a, lower=_is_lower("eigvalsh", UPLO), symmetrize_input=symmetrize_input)


def eig(a: ArrayLike) -> EigResult:
    """Returns eigenvalues and right eigenvectors of square matrices.

    Unlike NumPy's, both are complex even where all eigenvalues are real.

    Args:
      a: array of shape (..., n, n).

    Returns:
      Named tuple (eigenvalues, eigenvectors): complex ones of shape (..., n), in no particular order, and vectors of
      length 1 in the columns of an array of shape (..., n, n).

    Raises:
      ValueError: the matrices are not square.

    Examples:
      >>> values, vectors = jnp.linalg.eig(jnp.array([[0.0, -1.0], [1.0, 0.0]]))
      >>> jnp.round(jnp.sort(values.imag), 4)
      Array([-1.,  1.], dtype=float32)
    """
    (a,) = promote_matrices("eig", a)
    return EigResult(*factors.eig(a, compute_left_eigenvectors=False))


@staged("eigvals", compiled_from=1)
def _eigvals(a):
    return factors.eig(a, compute_left_eigenvectors=False, compute_right_eigenvectors=False)[0]


@static_argnames()
def eigvals(a: ArrayLike) -> Array:
    """Returns the eigenvalues of square matrices.

    Args:
      a: array of shape (..., n, n).

    Returns:
      Complex array of shape (..., n), in no particular order.

    Raises:
      ValueError: the matrices are not square.

    Examples:
      >>> jnp.round(jnp.sort(jnp.linalg.eigvals(jnp.array([[1.0, 2.0], [0.0, 3.0]])).real), 4)
      Array([1., 3.], dtype=float32)
    """
    (a,) = promote_matrices("eigvals", a)
    return _eigvals(a)


@staged("qr", ("mode",), compiled_from=1)
def _qr(a, mode):
    if mode == "raw":
        h, taus = geqrf(a)
        return matrix_transpose(h), taus
    q, r = factors.qr(a, full_matrices=mode == "complete")
    return r if mode == "r" else (q, r)


@overload
def qr(a: ArrayLike, mode: Literal["reduced", "complete", "full", "raw"] = "reduced") -> QRResult: ...


@overload
def qr(a: ArrayLike, *, mode: Literal["r"]) -> Array: ...


@overload
def qr(a: ArrayLike, mode: str = "reduced") -> Array | QRResult: ...


@static_argnames("mode")
def qr(a: ArrayLike, mode: str = "reduced") -> Array | QRResult:
    """Returns the decomposition a = Q R into a unitary and an upper triangular matrix.

    Args:
      a: array of shape (..., m, n); k is the smaller of m and n.
      mode: "reduced" (Q of shape (..., m, k), R of (..., k, n)), "complete" ((..., m, m), (..., m, n)), "r" (R alone)
        or "raw" (the reflections, transposed, and their factors).

    Returns:
      Named tuple (Q, R), or R alone.

    Raises:
      ValueError: `mode` is unknown.

    Examples:
      >>> q, r = jnp.linalg.qr(jnp.array([[3.0, 1.0], [4.0, 2.0]]))
      >>> jnp.round(jnp.abs(r), 4)
      Array([[5. , 2.2],
             [0. , 0.4]], dtype=float32)
      >>> jnp.round(q @ r, 4)
      Array([[3., 1.],
             [4., 2.]], dtype=float32)
    """
    (a,) = promote_matrices("qr", a)
    if mode not in ("reduced", "r", "full", "complete", "raw"):
        raise ValueError(f"Unsupported QR decomposition mode '{mode}'")
    out = _qr(a, mode="reduced" if mode == "full" else mode)
    return out if mode == "r" else QRResult(*out)
