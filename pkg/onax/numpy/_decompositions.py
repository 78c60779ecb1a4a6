"""Implementation of jnp.linalg: factorisations, eigenvalues, singular values."""

from typing import NamedTuple

import numpy as np

from onax import lax
from onax._control.jit_call import staged
from onax._core.api_functions import static_argnames
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
    check_arraylike(f"jnp.linalg.{name}", *args)
    return promote_dtypes_inexact(*args)


@staged("cholesky", ("upper", "symmetrize_input"), compiled_from=1)
def _cholesky(a, upper, symmetrize_input):
    lower = factors.cholesky(a, symmetrize_input=symmetrize_input)
    return adjoint(lower) if upper else lower


@static_argnames("upper", "symmetrize_input")
def cholesky(a, *, upper=False, symmetrize_input=True):
    """The triangular factor of Hermitian positive definite matrices a[..., n, n]: a = L L^H, or U^H U with `upper`.

    A matrix that is not positive definite gives NaN, where NumPy raises.  With symmetrize_input the mean of a and its
    adjoint is factored.  Raises ValueError for other than square matrices.
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


@static_argnames("full_matrices", "compute_uv", "hermitian", "subset_by_index")
def svd(a, full_matrices=True, compute_uv=True, hermitian=False, subset_by_index=None):
    """Singular values of a[..., m, n], descending, with vectors: a = U diag(S) Vh; S alone without compute_uv.

    U is [..., m, m] and Vh [..., n, n], or with min(m, n) columns and rows without full_matrices.  `hermitian` goes by
    eigenvalues.  Raises TypeError for fewer than two axes.
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


def svdvals(x, /):
    """The singular values of x[..., m, n], descending."""
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
def eigh(a, UPLO=None, symmetrize_input=True):
    """(eigenvalues, eigenvectors) of Hermitian matrices a[..., n, n]; eigenvalues ascend, vectors are the columns.

    symmetrize_input takes the mean of a and its adjoint; otherwise the triangle that UPLO names counts.
    """
    (a,) = promote_matrices("eigh", a)
    lower = _is_lower("eigh", UPLO)
    return EighResult(*_eigh(a, lower=lower, symmetrize_input=symmetrize_input))


@staged("eigvalsh", ("lower", "symmetrize_input"), compiled_from=1)
def _eigvalsh(a, lower, symmetrize_input):
    return _eigh(a, lower=lower, symmetrize_input=symmetrize_input)[0]


@static_argnames("UPLO", "symmetrize_input")
def eigvalsh(a, UPLO="L", *, symmetrize_input=True):
    """The eigenvalues of Hermitian matrices, ascending; as `eigh` gives them."""
    (a,) = promote_matrices("eigvalsh", a)
    return _eigvalsh(a, lower=_is_lower("eigvalsh", UPLO), symmetrize_input=symmetrize_input)


def eig(a):
    """(eigenvalues, eigenvectors) of square matrices, both complex; vectors, of length 1, are the columns."""
    (a,) = promote_matrices("eig", a)
    return EigResult(*factors.eig(a, compute_left_eigenvectors=False))


@staged("eigvals", compiled_from=1)
def _eigvals(a):
    return factors.eig(a, compute_left_eigenvectors=False, compute_right_eigenvectors=False)[0]


@static_argnames()
def eigvals(a):
    """The eigenvalues of square matrices, complex, in no particular order."""
    (a,) = promote_matrices("eigvals", a)
    return _eigvals(a)


@staged("qr", ("mode",), compiled_from=1)
def _qr(a, mode):
    if mode == "raw":
        h, taus = geqrf(a)
        return matrix_transpose(h), taus
    q, r = factors.qr(a, full_matrices=mode == "complete")
    return r if mode == "r" else (q, r)


@static_argnames("mode")
def qr(a, mode="reduced"):
    """(Q, R) with a = Q R, Q unitary and R upper triangular.

    mode: "reduced" (min(m, n) columns), "complete" (all m), "r" (R alone), "raw" (LAPACK's reflections, transposed,
    and their factors).  Raises ValueError for another.
    """
    (a,) = promote_matrices("qr", a)
    if mode not in ("reduced", "r", "full", "complete", "raw"):
        raise ValueError(f"Unsupported QR decomposition mode '{mode}'")
    out = _qr(a, mode="reduced" if mode == "full" else mode)
    return out if mode == "r" else QRResult(*out)
