"""Implementation of jnp.linalg: determinants, inverses, systems of equations, and functions of singular values."""

from __future__ import annotations

import math
import operator
from functools import partial, reduce
from typing import NamedTuple

import numpy as np

from onax import lax
from onax._control.custom_jvp import custom_jvp
from onax._control.jit_call import staged
from onax._control.solves import custom_linear_solve
from onax._core.api_functions import static_argnames
from onax._ground import dims, dtypes
from onax._ground.typing import ArrayLike
from onax._native import context
from onax._native.array import Array
from onax._native.tree import tree_flatten
from onax._prims.dot import Precision
from onax._prims.linalg import geqrf
from onax._prims.slicing import dim_value
from onax._transforms.vmap import vmap
from onax.lax import linalg as factors
from onax.numpy import _products
from onax.numpy._creation import asarray
from onax.numpy._decompositions import adjoint, promote_matrices, svd, svdvals
from onax.numpy._gathering import diagonal, trace
from onax.numpy._linalg import norm
from onax.numpy._promotion import check_arraylike, ensure_arraylike, ensure_arraylikes, promote_dtypes_inexact
from onax.numpy._reductions import any as any_
from onax.numpy._reductions import count_nonzero, prod
from onax.numpy._shaping import moveaxis
from onax.numpy._where import where

matmul = partial(_products.matmul, precision=Precision.HIGHEST)


class SlogdetResult(NamedTuple):
    """The sign (or phase) of a determinant, and the logarithm of its absolute value."""

    sign: Array
    logabsdet: Array


def identity_matrix(n, dtype):
    """The identity matrix."""
    i, j = (lax.broadcasted_iota(np.int32, (n, n), axis) for axis in (0, 1))
    return lax.convert_element_type(lax.eq(lax.add(i, np.int32(0)), j), dtype)


def require_square(name, x, end="."):
    """Raises ValueError unless x holds square matrices."""
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"Argument to {name} must have shape [..., n, n], got {x.shape}{end}")


# ---- systems of equations ----


def lu_solve_one(both, order, b, trans):
    """The solution for one matrix by its lu and permutation, b[n] or b[n, k]; trans: 1 transposed, 2 adjoint."""
    n = both.shape[0]
    y = b if b.ndim == 2 else lax.expand_dims(b, (1,))
    solve = partial(factors.triangular_solve, both, left_side=True)
    if trans == 0:
        y = _take_rows(y, order)
        y = solve(solve(y, lower=True, unit_diagonal=True))
    else:
        how = {"transpose_a": True, "conjugate_a": trans == 2}
        y = solve(solve(y, **how), lower=True, unit_diagonal=True, **how)
        _, back = lax.sort_key_val(order, lax.iota(np.int32, n))
        y = _take_rows(y, back)
    return y if b.ndim == 2 else lax.squeeze(y, (1,))


def _take_rows(x, order):
    return x[order, :]


@staged("_lu_solve", ("trans", "core"), compiled_from=1)
def lu_solve(both, order, b, trans=0, core=2):
    """The solution of op(a) x = b for stacks, by lu and permutation of a; leading axes broadcast.

    core: 1 where b holds vectors, 2 where matrices.
    """
    if trans not in (0, 1, 2):
        raise ValueError(f"'trans' value must be 0, 1, or 2, got {trans}")
    function = partial(lu_solve_one, trans=trans)
    lead_b = b.ndim - core
    lead = lax.broadcast_shapes(both.shape[:-2], b.shape[:lead_b])
    function, operands = _map_over_leading_axes(function, lead, (both, order, b), (2, 1, core))
    return function(*operands)


def _matvec(a, x):
    """a[..., m, n] times x[..., n]; leading axes broadcast."""
    if a.ndim == 2 and x.ndim == 1:
        numbers = (((1,), (0,)), ((), ()))
        return lax.dot_general(a, x, numbers, precision=Precision.HIGHEST)
    return lax.squeeze(matmul(a, lax.expand_dims(x, (x.ndim,))), (max(a.ndim - 1, x.ndim),))


def _solve_matrix(a, b):
    """Solves for one matrix a[n, n] and one right-hand side b[n] or b[n, k]."""
    both, _, order = factors.lu(lax.stop_gradient(a))
    if context.get_trace() is None:  # nothing is differentiated, so no jaxprs are needed
        return lu_solve(both, order, b, core=b.ndim)

    def solve_vector(v):
        return custom_linear_solve(
            lambda x: _matvec(a, x),
            v,
            solve=lambda _, x: lu_solve(both, order, x, core=1),
            transpose_solve=lambda _, x: lu_solve(both, order, x, trans=1, core=1),
        )

    return solve_vector(b) if b.ndim == 1 else vmap(solve_vector, 1, 1)(b)


@staged("solve", compiled_from=1)
def _solve(a, b):
    vector = b.ndim == 1
    lead = lax.broadcast_shapes(a.shape[:-2], () if vector else b.shape[:-2])
    if not lead:
        return _solve_matrix(a, b)
    if context.get_trace() is None:
        both, _, order = factors.lu(a)
        return lu_solve(both, order, b, core=1 if vector else 2)
    function, operands = _map_over_leading_axes(_solve_matrix, lead, (a, b), (2, 1 if vector else 2))
    return function(*operands)


def _map_over_leading_axes(function, lead, operands, cores):
    """Returns the function vmapped over broadcast leading axes, and its operands without axes of length 1 there.

    cores: how many axes of each operand belong to the function.
    """
    operands = list(operands)
    missing = [len(lead) - (x.ndim - core) for x, core in zip(operands, cores)]
    for axis in range(len(lead) - 1, -1, -1):
        mapped = []
        for i, x in enumerate(operands):
            own = axis - missing[i]
            mapped.append(0 if own >= 0 and x.shape[own] == lead[axis] else None)
            if own >= 0 and mapped[-1] is None:
                operands[i] = lax.squeeze(x, (own,))
        function = vmap(function, in_axes=tuple(mapped))
    return function, operands


@static_argnames()
def solve(a: ArrayLike, b: ArrayLike) -> Array:
    """Returns the solution x of the linear equations a x = b.

    Unlike NumPy, a singular matrix gives inf or NaN instead of an error.

    Args:
      a: array of shape (..., n, n).
      b: array of shape (n,), or (..., n, k); leading axes broadcast.

    Returns:
      Array of the shape of `b` after broadcasting, of the promoted floating or complex dtype.

    Raises:
      ValueError: `a` is not square, or `b` does not fit.

    Examples:
      >>> jnp.round(jnp.linalg.solve(jnp.array([[2.0, 0.0], [1.0, 1.0]]), jnp.array([4.0, 3.0])), 4)
      Array([2., 1.], dtype=float32)
    """
    a, b = check_arraylike("jnp.linalg.solve", a, b)
    a, b = promote_dtypes_inexact(a, b)
    if a.ndim < 2:
        raise ValueError(f"left hand array must be at least two dimensional; got a.shape={a.shape}")
    if a.ndim == b.ndim + 1 > 2 and a.shape[-1] == b.shape[-1] != b.shape[-2]:
        raise ValueError(
            f"Invalid shapes for solve: {a.shape}, {b.shape}. Prior to JAX v0.5.0, this would have been treated as a "
            "batched 1-dimensional solve. To recover this behavior, use solve(a, b[..., None]).squeeze(-1)."
        )
    core = "(m)->(m)" if b.ndim == 1 else "(m,n)->(m,n)"
    if b.ndim == 0:
        raise ValueError(
            f"input with shape {b.shape} does not have enough dimensions for all core dimensions ('m', 'n') on "
            f"vectorized function with excluded=frozenset() and signature='(m,m),{core}'"
        )
    n = a.shape[-2]
    for got in (a.shape[-1], b.shape[-1] if b.ndim == 1 else b.shape[-2]):
        if n != got:
            raise ValueError(
                f"inconsistent size for core dimension 'm': {got} vs {n} on vectorized function with "
                f"excluded=frozenset() and signature='(m,m),{core}'"
            )
    return _solve(a, b)


@staged("inv", compiled_from=1)
def _inv(a):
    return solve(a, lax.broadcast_in_dim(identity_matrix(a.shape[-1], a.dtype), a.shape, (a.ndim - 2, a.ndim - 1)))


@static_argnames()
def inv(a: ArrayLike) -> Array:
    """Returns the inverses of square matrices.

    Unlike NumPy, a singular matrix gives inf or NaN instead of an error.

    Args:
      a: array of shape (..., n, n).

    Returns:
      Array of shape (..., n, n), of a floating or complex dtype.

    Raises:
      ValueError: the matrices are not square.

    Examples:
      >>> jnp.linalg.inv(jnp.array([[2.0, 0.0], [0.0, 4.0]]))
      Array([[0.5 , 0.  ],
             [0.  , 0.25]], dtype=float32)
    """
    (a,) = check_arraylike("jnp.linalg.inv", a)
    a = ensure_arraylike("inv", a)
    require_square("inv", a)
    return _inv(*promote_dtypes_inexact(a))


# ---- determinants ----


def _det_2x2(a):
    return a[..., 0, 0] * a[..., 1, 1] - a[..., 0, 1] * a[..., 1, 0]


def _det_3x3(a):
    return (
        a[..., 0, 0] * a[..., 1, 1] * a[..., 2, 2]
        + a[..., 0, 1] * a[..., 1, 2] * a[..., 2, 0]
        + a[..., 0, 2] * a[..., 1, 0] * a[..., 2, 1]
        - a[..., 0, 2] * a[..., 1, 1] * a[..., 2, 0]
        - a[..., 0, 0] * a[..., 1, 2] * a[..., 2, 1]
        - a[..., 0, 1] * a[..., 1, 0] * a[..., 2, 2]
    )


def _count_exchanges(pivots):
    """The number of row exchanges that the pivots record."""
    indices = lax.broadcasted_iota(np.int32, pivots.shape, pivots.ndim - 1)
    return count_nonzero(lax.ne(pivots, indices), axis=-1)


def _sign_from_parity(parity, dtype):
    """1 for even numbers, -1 for odd."""
    return lax.convert_element_type(parity % 2 * -2 + 1, dtype)


@custom_jvp
def _slogdet_lu(a):
    dtype = a.dtype
    both, pivots, _ = factors.lu(a)
    diag = diagonal(both, axis1=-2, axis2=-1)
    is_zero = any_(lax.eq(diag, lax.full_like(diag, 0)), axis=-1)
    parity = _count_exchanges(pivots)
    if dtypes.is_complex(dtype):
        sign = prod(lax.div(diag, lax.convert_element_type(lax.abs(diag), dtype)), axis=-1)
    else:
        sign = lax.full(is_zero.shape, 1, dtype)
        parity = parity + count_nonzero(lax.lt(diag, lax.full_like(diag, 0)), axis=-1)
    sign = where(is_zero, lax.full_like(sign, 0), sign * _sign_from_parity(parity, dtype))
    logdet = lax.log(lax.abs(diag)).sum(-1)
    return sign, where(is_zero, lax.full_like(logdet, -np.inf), logdet)


@custom_jvp
def _slogdet_qr(a):
    h, taus = geqrf(a)
    diag = diagonal(h, axis1=-2, axis2=-1)
    logdet = lax.log(lax.abs(diag)).sum(-1)
    sign = prod(lax.sign(diag), axis=-1)
    # a reflection has determinant -1, that with factor 0 is the identity
    flips = where(lax.ne(taus[..., : a.shape[-1] - 1], taus.dtype.type(0)), -1, 1)
    return sign * lax.convert_element_type(prod(flips, axis=-1), sign.dtype), logdet


def _slogdet_jvp(function, primals, tangents):
    (x,), (g,) = primals, tangents
    sign, logdet = function(x)
    change = trace(solve(x, g), axis1=-1, axis2=-2)
    if dtypes.is_complex(x.dtype):
        along = lax.real(change)
        turn = lax.mul(lax.sub(change, lax.convert_element_type(along, change.dtype)), sign)
        return (sign, logdet), (turn, along)
    return (sign, logdet), (lax.full_like(sign, 0), change)


_slogdet_lu.defjvp(partial(_slogdet_jvp, _slogdet_lu))
_slogdet_qr.defjvp(partial(_slogdet_jvp, _slogdet_qr))


@staged("slogdet", ("method",), compiled_from=1)
def _slogdet(a, method):
    return _slogdet_qr(a) if method == "qr" else _slogdet_lu(a)


@static_argnames("method")
def slogdet(a: ArrayLike, *, method: str | None = None) -> SlogdetResult:
    """Returns sign and logarithm of the absolute value of determinants.

    Args:
      a: array of shape (..., n, n).
      method: "lu" (default) or "qr", the decomposition that is used.

    Returns:
      Named tuple (sign, logabsdet), arrays of shape (...), with det(a) = sign * exp(logabsdet); (0, -inf) for singular
      matrices.

    Raises:
      ValueError: the matrices are not square, or `method` is unknown.
      NotImplementedError: the method "qr" for complex matrices.

    Examples:
      >>> jnp.linalg.slogdet(jnp.array([[0.0, 1.0], [1.0, 0.0]]))
      SlogdetResult(sign=Array(-1., dtype=float32), logabsdet=Array(0., dtype=float32))
    """
    (a,) = check_arraylike("jnp.linalg.slogdet", a)
    (a,) = promote_dtypes_inexact(a)
    require_square("slogdet()", a, "")
    if method == "qr" and dtypes.is_complex(a.dtype):
        raise NotImplementedError("slogdet method='qr' not implemented for complex inputs")
    if method not in (None, "lu", "qr"):
        raise ValueError(f"Unknown slogdet method '{method}'. Supported methods are 'lu' (`None`), and 'qr'.")
    return SlogdetResult(*_slogdet(a, method="qr" if method == "qr" else "lu"))


@custom_jvp
def _det(a):
    sign, logdet = slogdet(a)
    return lax.mul(sign, lax.convert_element_type(lax.exp(logdet), sign.dtype))


def _cofactor_solve(a, b):
    """(det a, det(a) a^-1 b), right for matrices of rank n - 1 too.

    Elimination leaves U z = y with det U = det a up to sign; the last row of det(a) z = ... needs the product of all
    other diagonal elements only, which the last diagonal element does not divide.
    """
    n = a.shape[-1]
    both, pivots, order = factors.lu(a)
    diag = diagonal(both, axis1=-2, axis2=-1)
    sign = _sign_from_parity(_count_exchanges(pivots), a.dtype)
    partial_det = lax.cumprod(diag, axis=diag.ndim - 1) * sign[..., None]
    det, minor = partial_det[..., -1], partial_det[..., -2]
    # The adjugate of a matrix of lower rank is 0.  An identity in the factors' place keeps its derivative finite.
    is_low = lax.broadcast_in_dim(lax.eq(minor, lax.full_like(minor, 0)), both.shape, tuple(range(minor.ndim)))
    unit = lax.broadcast_in_dim(identity_matrix(n, both.dtype), both.shape, (both.ndim - 2, both.ndim - 1))
    both = where(is_low, unit, both.at[..., -1, -1].set(1 / minor))
    y = factors.triangular_solve(both, _take_rows_of_stack(b, order), left_side=True, lower=True, unit_diagonal=True)
    y = lax.concatenate((y[..., : n - 1, :] * det[..., None, None], y[..., n - 1 :, :]), y.ndim - 2)
    y = factors.triangular_solve(both, y, left_side=True)
    return det, where(is_low, lax.full_like(y, 0), y)


def _take_rows_of_stack(x, order):
    function = _take_rows
    for _ in range(order.ndim - 1):
        function = vmap(function)
    return function(x, order)


@_det.defjvp
def _det_jvp(primals, tangents):
    (x,), (g,) = primals, tangents
    det, solved = _cofactor_solve(x, g)
    return det, trace(solved, axis1=-1, axis2=-2)


@staged("det", compiled_from=1)
def _determinant(a):
    n = a.shape[-1] if a.ndim >= 2 and a.shape[-1] == a.shape[-2] else None
    if n == 2:
        return _det_2x2(a)
    if n == 3:
        return _det_3x3(a)
    if n in (0, 1):
        return lax.reshape(a, a.shape[:-2]) if n else lax.full(a.shape[:-2], 1, a.dtype)
    require_square("_det()", a, "")
    return _det(a)


@static_argnames()
def det(a: ArrayLike) -> Array:
    """Returns the determinants of square matrices.

    Args:
      a: array of shape (..., n, n).

    Returns:
      Array of shape (...), of a floating or complex dtype.

    Raises:
      ValueError: the matrices are not square.

    Examples:
      >>> jnp.round(jnp.linalg.det(jnp.array([[1.0, 2.0], [3.0, 4.0]])), 4)
      Array(-2., dtype=float32)
    """
    return _determinant(*promote_matrices("det", a))


# ---- by singular values ----


def _largest_size(shape, dtype, factor=1.0):
    """The largest size of a shape, which may be symbolic, times a number: a scalar of a dtype."""
    if dims.is_constant_shape(shape):
        return dtype.type(factor * max(shape))
    return lax.mul(dim_value(reduce(dims.max_dim, shape), dtype), dtype.type(factor))


@partial(custom_jvp, nondiff_argnums=(1, 2))
@staged("_pinv", ("hermitian",), compiled_from=1)
def _pinv(a, rtol=None, hermitian=False):
    m, n = a.shape[-2:]
    if rtol is None:
        real = dtypes.real_dtype(a.dtype)
        rtol = _largest_size((m, n), real, 10.0) * np.asarray(dtypes.finfo(real).eps, real)[()]
    rtol = ensure_arraylike("pinv", rtol)
    u, s, vh = svd(a, full_matrices=False, hermitian=hermitian)
    s = where(s > (rtol[..., None] if rtol.ndim else rtol) * s[..., :1], s, np.inf)
    scaled = adjoint(u) / lax.convert_element_type(s[..., None], u.dtype)
    return _products.matmul(adjoint(vh), scaled, precision=Precision.HIGHEST)


@_pinv.defjvp
def _pinv_jvp(rtol, hermitian, primals, tangents):
    """Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems" (1973)."""
    (a,), (g,) = primals, tangents
    if hermitian:  # one triangle is read, so that only the Hermitian part of a change counts
        a, g = (lax.div(lax.add(x, adjoint(x)), np.asarray(2, x.dtype)[()]) for x in (a, g))
    p = _pinv(a, rtol, hermitian)
    back = adjoint(g)
    # products in the order in which no matrix is larger than the smaller side squared, or p
    if a.shape[-2] <= a.shape[-1]:
        moved = matmul(g, p)
        outside = matmul(p, adjoint(moved))
        kernel = matmul(back, matmul(adjoint(p), p))
        change = outside - matmul(outside, matmul(a, p)) + kernel - matmul(p, matmul(a, kernel))
        return p, change - matmul(p, moved)
    moved = matmul(p, g)
    outside = matmul(matmul(p, adjoint(p)), back)
    kernel = matmul(adjoint(moved), p)
    change = outside - matmul(matmul(outside, a), p) + kernel - matmul(matmul(p, a), kernel)
    return p, change - matmul(moved, p)


@static_argnames("hermitian")
def pinv(
    a: ArrayLike, rtol: ArrayLike | None = None, hermitian: bool = False, *, rcond: ArrayLike | None = None
) -> Array:
    """Returns the Moore-Penrose inverses of matrices.

    The derivative is that of Golub and Pereyra (1973), for matrices of constant rank.

    Args:
      a: array of shape (..., m, n).
      rtol: singular values up to rtol times the largest count as 0; default: 10 max(m, n) eps.
      hermitian: whether `a` is Hermitian, which allows `eigh` to be used.
      rcond: an older name of rtol.

    Returns:
      Array of shape (..., n, m).

    Raises:
      ValueError: both rtol and rcond are given.
      TypeError: `hermitian`, and the matrix is not square.

    Examples:
      >>> jnp.round(jnp.linalg.pinv(jnp.array([[2.0, 0.0], [0.0, 0.0]])), 4)
      Array([[0.5, 0. ],
             [0. , 0. ]], dtype=float32)
    """
    (a,) = check_arraylike("jnp.linalg.pinv", a)
    (a,) = promote_dtypes_inexact(a)
    if rcond is not None:
        if rtol is not None:
            raise ValueError("pinv: only one of rtol and rcond may be specified.")
        rtol = rcond
    if a.ndim < 2:
        raise ValueError(
            f"not enough values to unpack (expected 2, got {a.ndim})\npinv needs at least two axes, got shape {a.shape}"
        )
    m, n = a.shape[-2:]
    if hermitian and m != n:
        raise TypeError(f"pinv with hermitian=True takes square matrices, got shape {a.shape}")
    if m == 0 or n == 0:
        return lax.full((*a.shape[:-2], n, m), 0, a.dtype)
    return _pinv(a, None if rtol is None else asarray(rtol), hermitian)


@staged("cond", ("p",), compiled_from=1)
def _cond(x, p):
    if p is None or p == 2:
        s = svdvals(x)
        return s[..., 0] / s[..., -1]
    if p == -2:
        s = svdvals(x)
        return s[..., -1] / s[..., 0]
    if x.shape[-2] != x.shape[-1]:
        raise ValueError(f"jnp.linalg.cond: for p={p!r}, array must be square; got arr.shape={x.shape}")
    r = norm(x, ord=p, axis=(-2, -1)) * norm(inv(x), ord=p, axis=(-2, -1))
    sound = lax.bitwise_and(lax.ne(r, r), lax.bitwise_not(any_(lax.ne(x, x), axis=(-2, -1))))
    return where(sound, np.inf, r)


@static_argnames("p")
def cond(x: ArrayLike, p: float | str | None = None) -> Array:
    """Returns the condition numbers of matrices.

    Args:
      x: array of shape (..., m, n); square unless p is None, 2 or -2.
      p: a norm as for `matrix_norm`; default: 2, the ratio of the largest and the smallest singular value.

    Returns:
      Real array of shape (...): the norm of x times the norm of its inverse; inf for singular matrices.

    Raises:
      ValueError: the rank of `x` is below 2.

    Examples:
      >>> jnp.round(jnp.linalg.cond(jnp.array([[4.0, 0.0], [0.0, 2.0]])), 4)
      Array(2., dtype=float32)
    """
    x = ensure_arraylike("cond", x)
    if x.ndim < 2:
        raise ValueError(f"jnp.linalg.cond: input array must be at least 2D; got arr.shape={x.shape}")
    if 0 in x.shape:
        raise ValueError(f"jnp.linalg.cond: input array must not be empty; got arr.shape={x.shape}")
    (x,) = promote_dtypes_inexact(x)
    return _cond(x, p=p)


@staged("matrix_rank", ("hermitian",), compiled_from=1)
def _matrix_rank(m, rtol, hermitian):
    s = svd(m, full_matrices=False, compute_uv=False, hermitian=hermitian)
    if rtol is None:
        largest = s.max(axis=-1)
        rtol = largest * _largest_size(m.shape[-2:], s.dtype) * np.asarray(dtypes.finfo(s.dtype).eps, s.dtype)[()]
    else:
        rtol = ensure_arraylike("matrix_rank", rtol)
    return (s > rtol[..., None]).sum(-1)


@static_argnames("hermitian")
def matrix_rank(
    M: ArrayLike, rtol: ArrayLike | None = None, *, hermitian: bool = False, tol: ArrayLike | None = None
) -> Array:
    """Returns the number of singular values above a threshold.

    Args:
      M: array of shape (..., m, n).
      rtol: the threshold over the largest singular value; default: max(m, n) eps.
      hermitian: whether `M` is Hermitian, which allows `eigh` to be used.
      tol: the threshold itself; an older parameter.

    Returns:
      Integer array of shape (...).

    Raises:
      ValueError: both rtol and tol are given.

    Examples:
      >>> jnp.linalg.matrix_rank(jnp.array([[1.0, 2.0], [2.0, 4.0]]))
      Array(1, dtype=int32)
    """
    (M,) = check_arraylike("jnp.linalg.matrix_rank", M)
    if tol is not None:
        if rtol is not None:
            raise ValueError("matrix_rank: only one of tol or rtol may be specified.")
        rtol = tol
    (M,) = promote_dtypes_inexact(M)
    if M.ndim < 2:
        check_arraylike("matrix_rank", *tree_flatten(rtol)[0])
        return lax.convert_element_type(any_(lax.ne(M, lax.full_like(M, 0))), np.int32)
    return _matrix_rank(M, rtol, hermitian=hermitian)


@staged("_lstsq", ("numpy_resid",), compiled_from=1)
def _lstsq(a, b, rcond, numpy_resid):
    m, n = a.shape
    vector = b.ndim == 1
    b = lax.expand_dims(b, (1,)) if vector else b
    if a.size == 0:
        s = lax.full((0,), 0, dtypes.real_dtype(a.dtype))
        rank, x = lax.full((), 0, dtypes.scalar_dtype(int)), lax.full((n, *b.shape[1:]), 0, a.dtype)
    else:
        real = dtypes.real_dtype(a.dtype)
        cutoff = np.asarray(dtypes.finfo(real).eps, real)[()] * _largest_size((m, n), real)
        cutoff = cutoff if rcond is None else where(rcond < 0, cutoff, rcond.astype(real))
        u, s, vh = svd(a, full_matrices=False)
        nonzero = lax.gt(s, lax.full_like(s, 0)) & (s >= cutoff * s[0])
        rank = nonzero.sum()
        divisors = where(nonzero, s, 1)
        inverse = where(nonzero, 1 / divisors, 0)[:, None]
        x = matmul(adjoint(vh), lax.convert_element_type(inverse, a.dtype) * matmul(adjoint(u), b))
    residual = b - matmul(a, x)
    if numpy_resid and (a.size == 0 or n >= m):
        residuals = lax.full((0,), 0, s.dtype)
    else:
        residuals = norm(residual, ord=None, axis=0) ** 2
    return (lax.reshape(x, x.shape[:1]) if vector else x), residuals, rank, s


def lstsq(
    a: ArrayLike, b: ArrayLike, rcond: float | None = None, *, numpy_resid: bool = False
) -> tuple[Array, Array, Array, Array]:
    """Returns the least-squares solution of a x = b.

    Where several x fit equally well, it is the one of least norm.

    Args:
      a: array of shape (m, n).
      b: array of shape (m,) or (m, k).
      rcond: singular values up to rcond times the largest count as 0; default: eps max(m, n).
      numpy_resid: whether residuals are empty for m <= n or a deficient rank, as NumPy's, which does not work under
        `jit`.

    Returns:
      Tuple (x, residuals, rank, s): x of shape (n,) or (n, k), the sums of squares of b - a x, the rank of `a`, and its
      singular values.

    Raises:
      ValueError: the shapes do not fit.
      TypeError: `a` is no matrix, or `b` neither a vector nor a matrix.

    Examples:
      >>> a = jnp.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
      >>> x, residuals, rank, s = jnp.linalg.lstsq(a, jnp.array([1.0, 3.0, 5.0]))
      >>> jnp.round(x, 3)
      Array([1., 2.], dtype=float32)
    """
    a, b = check_arraylike("jnp.linalg.lstsq", a, b)
    a, b = promote_dtypes_inexact(a, b)
    if a.shape[:1] != b.shape[:1]:
        raise ValueError("Leading dimensions of input arrays must match")
    if a.ndim != 2:
        raise TypeError(f"{a.ndim}-dimensional array given. Array must be two-dimensional")
    if b.ndim not in (1, 2):
        raise TypeError(f"{b.ndim}-dimensional array given. Array must be one or two-dimensional")
    if rcond is not None:
        rcond = ensure_arraylike("jnp.linalg.lstsq", rcond)
    if numpy_resid:  # the rank determines the shape of the residuals, so this is not possible under jit
        x, residuals, rank, s = _lstsq(a, b, rcond=rcond, numpy_resid=False)
        if int(rank) < a.shape[1] or a.shape[0] <= a.shape[1]:
            residuals = lax.full((0,), 0, residuals.dtype)
        return x, residuals, rank, s
    return _lstsq(a, b, rcond=rcond, numpy_resid=False)


# ---- tensors as matrices ----


def tensorinv(a: ArrayLike, ind: int = 2) -> Array:
    """Returns the inverse of `a` as a map from its last axes to its first ones.

    Args:
      a: array whose first `ind` lengths have the same product as the others.
      ind: positive int.

    Returns:
      Array of shape a.shape[ind:] + a.shape[:ind]; tensordot(tensorinv(a, ind), a, ind) is the identity.

    Raises:
      ValueError: ind is not positive, or the products differ.

    Examples:
      >>> jnp.linalg.tensorinv(2.0 * jnp.eye(4).reshape(4, 2, 2), ind=1).shape
      (2, 2, 4)
    """
    (a,) = ensure_arraylikes("jnp.linalg.tensorinv", a)
    ind = operator.index(ind)
    if ind <= 0:
        raise ValueError(f"ind must be a positive integer; got ind={ind}")
    rows, columns = a.shape[:ind], a.shape[ind:]
    if math.prod(rows) != math.prod(columns):
        raise ValueError(
            "tensorinv is only possible when the product of the first `ind` dimensions equals that of the remaining "
            f"dimensions. got arr.shape={a.shape} with ind={ind}."
        )
    flat = lax.reshape(a, (math.prod(rows), math.prod(columns)))
    return lax.reshape(inv(flat), (*columns, *rows))


def tensorsolve(a: ArrayLike, b: ArrayLike, axes: tuple[int, ...] | None = None) -> Array:
    """Returns the x with tensordot(a, x, x.ndim) = b.

    Args:
      a: array of shape b.shape + x.shape, both with the same product of lengths.
      b: array.
      axes: ints, axes of `a` that are moved to its end first; default: none.

    Returns:
      Array of shape a.shape[b.ndim:].

    Raises:
      ValueError: the shapes do not fit.

    Examples:
      >>> jnp.round(jnp.linalg.tensorsolve(2.0 * jnp.eye(4).reshape(2, 2, 4), jnp.ones((2, 2))), 4)
      Array([0.5, 0.5, 0.5, 0.5], dtype=float32)
    """
    a, b = ensure_arraylikes("jnp.linalg.tensorsolve", a, b)
    if axes is not None:
        a = moveaxis(a, axes, tuple(range(a.ndim - len(axes), a.ndim)))
    out_shape = a.shape[b.ndim :]
    if a.shape[: b.ndim] != b.shape:
        if axes is not None or math.prod(a.shape[: b.ndim]) == math.prod(out_shape):
            raise ValueError(
                "After moving axes to end, leading shape of a must match shape of b. got "
                f"a.shape={a.shape}, b.shape={b.shape}"
            )
    if math.prod(a.shape[: b.ndim]) != math.prod(out_shape):
        raise ValueError(
            "Input arrays must have prod(a.shape[:b.ndim]) == prod(a.shape[b.ndim:]); got "
            f"a.shape={a.shape}, b.ndim={b.ndim}."
        )
    flat = lax.reshape(a, (b.size, math.prod(out_shape)))
    return lax.reshape(solve(flat, lax.reshape(b, (b.size,))), out_shape)


@staged("matrix_power", ("n",), compiled_from=1)
def matrix_power(a: ArrayLike, n: int) -> Array:
    """Returns powers of square matrices, by repeated squaring.

    Args:
      a: array of shape (..., n, n).
      n: int; negative powers are those of the inverse.

    Returns:
      Array of shape (..., n, n).

    Raises:
      TypeError: the matrices are not square, or n is not an int.

    Examples:
      >>> jnp.linalg.matrix_power(jnp.array([[1, 1], [0, 1]]), 3)
      Array([[1, 3],
             [0, 1]], dtype=int32)
    """
    a = ensure_arraylike("jnp.linalg.matrix_power", a)
    if a.ndim < 2:
        raise TypeError(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional")
    if a.shape[-2] != a.shape[-1]:
        raise TypeError("Last 2 dimensions of the array must be square")
    try:
        n = operator.index(n)
    except TypeError as error:
        if isinstance(n, Array):
            raise
        raise TypeError(f"exponent must be an integer, got {n}") from error
    if n == 0:
        size = a.shape[-1]
        i, j = lax.broadcasted_iota(np.int32, (size, size), 0), lax.broadcasted_iota(np.int32, (size, size), 1)
        identity_matrix = lax.convert_element_type(lax.eq(i, j), a.dtype)
        return lax.broadcast_in_dim(identity_matrix, a.shape, (a.ndim - 2, a.ndim - 1))
    if n < 0:
        a, n = inv(a), -n
    if n == 1:
        return a
    if n == 2:
        return _products.matmul(a, a)
    if n == 3:
        return _products.matmul(_products.matmul(a, a), a)
    out, square = None, a
    while True:
        n, bit = divmod(n, 2)
        if bit:
            out = square if out is None else _products.matmul(out, square)
        if out is not None and not n:
            return out
        square = _products.matmul(square, square)
