"""Polynomials as vectors of coefficients, highest power first."""

from __future__ import annotations

import operator

import numpy as np

from onax import lax
from onax._control.jit_call import FEW, staged
from onax._control.scan import scan
from onax._core.api_functions import static_argnames
from onax._core.trace import concrete_or_error
from onax._ground import dtypes
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.numpy._arithmetic import power
from onax.numpy._convolution import convolve
from onax.numpy._creation import broadcast_to
from onax.numpy._decompositions import eigvals
from onax.numpy._editing import trim_zeros
from onax.numpy._joining import concatenate
from onax.numpy._products import dot, outer
from onax.numpy._promotion import (
    check_arraylike,
    ensure_arraylike,
    promote_dtypes,
    promote_dtypes_inexact,
    promote_shapes,
)
from onax.numpy._reductions import all as all_
from onax.numpy._shaping import atleast_1d
from onax.numpy._solvers import inv, lstsq
from onax.numpy._ufuncs import add, sqrt, subtract
from onax.numpy._where import where


def _pad_front(x, n):
    """Pads with leading zeros to n coefficients."""
    return lax.pad(x, x.dtype.type(0), [(n - x.shape[0], 0, 0), *[(0, 0, 0)] * (x.ndim - 1)])


def _pad_to_equal_length(name, a1, a2):
    a1, a2 = check_arraylike(name, a1, a2)
    a1, a2 = promote_dtypes(a1, a2)
    if a1.shape[0] == a2.shape[0]:
        return a1, broadcast_to(a2, a1.shape)
    if a2.shape[0] < a1.shape[0]:
        return a1, _pad_front(broadcast_to(a2, (a2.shape[0], *a1.shape[1:])), a1.shape[0])
    return _pad_front(broadcast_to(a1, (a1.shape[0], *a2.shape[1:])), a2.shape[0]), a2


@staged("polyadd")
def polyadd(a1: ArrayLike, a2: ArrayLike) -> Array:
    """Returns the sum of two polynomials.

    Args:
      a1, a2: vectors of coefficients, highest degree first.

    Returns:
      Vector of coefficients, of the longer length.

    Examples:
      >>> jnp.polyadd(jnp.array([1, 2]), jnp.array([1, 0, 0]))
      Array([1, 1, 2], dtype=int32)
    """
    return add(*_pad_to_equal_length("polyadd", a1, a2))


@staged("polysub")
def polysub(a1: ArrayLike, a2: ArrayLike) -> Array:
    """Returns the difference of two polynomials.

    Args:
      a1, a2: vectors of coefficients, highest degree first.

    Returns:
      Vector of coefficients, of the longer length.

    Examples:
      >>> jnp.polysub(jnp.array([1, 2]), jnp.array([1, 0, 0]))
      Array([-1,  1,  2], dtype=int32)
    """
    return subtract(*_pad_to_equal_length("polysub", a1, a2))


@staged("polyder", static_argnames=("m",), compiled_from=FEW)
def polyder(p: ArrayLike, m: int = 1) -> Array:
    """Returns a derivative of a polynomial.

    Args:
      p: vector of coefficients, highest degree first.
      m: nonnegative int, the order of the derivative.

    Returns:
      Vector of coefficients of an inexact dtype, shorter by m.

    Raises:
      ValueError: m is negative.
      TypeError: the polynomial is a scalar.

    Examples:
      >>> jnp.polyder(jnp.array([1.0, 2.0, 3.0]))
      Array([2., 2.], dtype=float32)
    """
    (p,) = promote_dtypes_inexact(ensure_arraylike("polyder", p))
    m = concrete_or_error(operator.index, m, "'m' argument of jnp.polyder")
    if m < 0:
        raise ValueError("Order of derivative must be positive")
    if m == 0:
        return p
    if not p.ndim:
        raise TypeError("polyder: p must have at least one axis, got shape ()")
    n = p.shape[0]
    powers = np.arange(n - 1, m - 1, -1.0)
    factors = np.prod([powers - k for k in range(m)], axis=0)
    remaining = lax.slice_in_dim(p, 0, max(n - m, 0))
    return lax.mul(*promote_shapes("polyder", remaining, ensure_arraylike("polyder", factors.astype(p.dtype))))


@staged("vander", static_argnames=("N", "increasing"), compiled_from=FEW)
def vander(x: ArrayLike, N: int | None = None, increasing: bool = False) -> Array:
    """Returns a Vandermonde matrix, whose columns are powers of x.

    Args:
      x: vector of n numbers.
      N: int, the number of columns; default: n.
      increasing: whether powers rise from 0, instead of falling to 0.

    Returns:
      Array of shape (n, N), of the dtype of `x`.

    Raises:
      ValueError: `x` is no vector, or N is negative.

    Examples:
      >>> jnp.vander(jnp.array([2, 3]), 3)
      Array([[4, 2, 1],
             [9, 3, 1]], dtype=int32)
    """
    x = ensure_arraylike("vander", x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array")
    N = x.shape[0] if N is None else concrete_or_error(operator.index, N, "'N' argument of jnp.vander()")
    if N < 0:
        raise ValueError("N must be nonnegative")
    powers = lax.iota(x.dtype, N)
    if not increasing:
        powers = lax.sub(powers.dtype.type(N - 1), powers)
    base, exponent = lax.expand_dims(x, (1,)), lax.expand_dims(powers, (0,))
    if dtypes.is_integer(x.dtype):
        return power(base, exponent)
    return lax.pow(base, exponent)


@staged("poly")
def _poly(zeros):
    zeros = eigvals(zeros) if zeros.ndim == 2 else zeros
    out = lax.full((1,), 1, zeros.dtype)
    for i in range(zeros.shape[0]):
        factor = concatenate([lax.full((1,), 1, zeros.dtype), lax.expand_dims(-zeros[i], (0,))])
        out = convolve(out, factor, mode="full")
    return out


@static_argnames()
def poly(seq_of_zeros: ArrayLike) -> Array:
    """Returns the coefficients of a polynomial with given zeros, or of a characteristic polynomial.

    Args:
      seq_of_zeros: vector of n zeros, or matrix of shape (n, n).

    Returns:
      Vector of n + 1 coefficients, the first of which is 1.

    Raises:
      ValueError: the shape is neither of the two.

    Examples:
      >>> jnp.poly(jnp.array([1.0, 2.0]))
      Array([ 1., -3.,  2.], dtype=float32)
    """
    (seq_of_zeros,) = check_arraylike("poly", seq_of_zeros)
    (zeros,) = promote_dtypes_inexact(seq_of_zeros)
    zeros = atleast_1d(zeros)
    shape = zeros.shape
    if not (len(shape) == 1 or (len(shape) == 2 and shape[0] == shape[1] and shape[0] != 0)):
        raise ValueError("input must be 1d or non-empty square 2d array.")
    if len(shape) == 1 and not shape[0]:
        return lax.full((), 1, zeros.dtype)
    return _poly(zeros)


def polydiv(u: ArrayLike, v: ArrayLike, *, trim_leading_zeros: bool = False) -> tuple[Array, Array]:
    """Returns quotient and remainder of two polynomials.

    Args:
      u: vector of coefficients of the dividend, highest degree first.
      v: vector of coefficients of the divisor; its first one is not 0.
      trim_leading_zeros: whether leading zeros of the remainder are removed, as NumPy does; `u` and `v` are concrete
        then.

    Returns:
      Tuple (quotient, remainder) of vectors of an inexact dtype.

    Examples:
      >>> jnp.polydiv(jnp.array([1.0, 3.0, 2.0]), jnp.array([1.0, 1.0]))
      (Array([1., 2.], dtype=float32), Array([0., 0., 0.], dtype=float32))
    """
    u, v = check_arraylike("polydiv", u, v)
    u, v = promote_dtypes_inexact(u, v)
    m, n = len(u) - 1, len(v) - 1
    scale = 1.0 / v[0]
    quotient = lax.full((max(m - n + 1, 1),), 0, u.dtype)
    for k in range(m - n + 1):
        d = scale * u[k]
        quotient = quotient.at[k].set(d)
        u = u.at[k : k + n + 1].add(-d * v)
    return quotient, trim_zeros(u, trim="f") if trim_leading_zeros else u


@staged("polyint", static_argnames=("m",))
def _polyint(p, k, m):
    n = p.shape[0]
    grid = (np.arange(m + n, dtype=np.int64)[None, :] - np.arange(m)[:, None])[:, ::1]
    factors = np.prod(np.maximum(1, grid), axis=0)[::-1].astype(p.dtype)
    return lax.div(concatenate([p, k]), ensure_arraylike("polyint", np.ascontiguousarray(factors)))


@static_argnames("m")
def polyint(p: ArrayLike, m: int = 1, k: ArrayLike | None = None) -> Array:
    """Returns an integral of a polynomial.

    Args:
      p: vector of coefficients, highest degree first.
      m: nonnegative int, how often to integrate.
      k: integration constants, one for all or m of them; default: 0.

    Returns:
      Vector of coefficients of an inexact dtype, longer by m.

    Raises:
      ValueError: m is negative, or the number of constants does not fit.
      TypeError: the polynomial is a scalar.

    Examples:
      >>> jnp.polyint(jnp.array([2.0, 2.0]))
      Array([1., 2., 0.], dtype=float32)
    """
    m = concrete_or_error(operator.index, m, "'m' argument of jnp.polyint")
    k = 0 if k is None else k
    p, k = check_arraylike("polyint", p, k)
    if not np.ndim(p):
        raise TypeError(f"polyint: the polynomial must have rank 1, got a scalar: {p}")
    p, k = promote_dtypes_inexact(p, k)
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    k = atleast_1d(k)
    if k.shape[0] == 1:
        k = lax.broadcast_in_dim(k[0], (m,), ())
    if k.shape != (m,):
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or m.")
    return p if m == 0 else _polyint(p, k, m=m)


def polymul(a1: ArrayLike, a2: ArrayLike, *, trim_leading_zeros: bool = False) -> Array:
    """Returns the product of two polynomials.

    Args:
      a1, a2: vectors of coefficients, highest degree first.
      trim_leading_zeros: whether leading zeros of the operands are removed first, as NumPy does; they are concrete
        then.

    Returns:
      Vector of coefficients of an inexact dtype.

    Examples:
      >>> jnp.polymul(jnp.array([1.0, 1.0]), jnp.array([1.0, 2.0]))
      Array([1., 3., 2.], dtype=float32)
    """
    a1, a2 = check_arraylike("polymul", a1, a2)
    a1, a2 = promote_dtypes_inexact(a1, a2)
    if trim_leading_zeros and (len(a1) > 1 or len(a2) > 1):
        a1, a2 = trim_zeros(a1, trim="f"), trim_zeros(a2, trim="f")
    if len(a1) == 0:
        a1 = lax.full((1,), 0, a1.dtype)
    if len(a2) == 0:
        a2 = lax.full((1,), 0, a2.dtype)
    return convolve(a1, a2, mode="full")


@staged("polyval", static_argnames=("unroll",), compiled_from=FEW)
def polyval(p: ArrayLike, x: ArrayLike, *, unroll: int = 16) -> Array:
    """Returns the values of a polynomial, by Horner's rule.

    Args:
      p: vector of coefficients, highest degree first.
      x: array of points.
      unroll: int, how many steps of the loop over coefficients are written out at a time.

    Returns:
      Array of the shape of `x`, of the promoted dtype.

    Examples:
      >>> jnp.polyval(jnp.array([1.0, 0.0, 2.0]), jnp.array([1.0, 3.0]))
      Array([ 3., 11.], dtype=float32)
    """
    p, x = check_arraylike("polyval", p, x)
    p, x = promote_dtypes(p, x)
    shape = lax.broadcast_shapes(p.shape[1:], x.shape)
    start = lax.full(shape, 0, x.dtype)
    out, _ = scan(lambda y, c: (y * x + c, None), start, p, unroll=unroll)
    return out


def _companion_roots(p):
    n = p.shape[0] - 1
    rows, columns = (lax.broadcasted_iota(np.int32, (n, n), axis) for axis in (0, 1))
    below = lax.convert_element_type(lax.eq(rows, columns + 1), p.dtype)
    first = lax.broadcast_in_dim(-p[1:] / p[0], (n, n), (1,))
    return eigvals(where(lax.eq(rows, lax.full_like(rows, 0)), first, below))


@staged("_roots")
def _roots(p, num_leading_zeros):
    n = p.shape[0]
    rolled = lax.dynamic_slice(concatenate([p, lax.full_like(p, 0)]), (num_leading_zeros,), (n,))
    zeros = _companion_roots(rolled)
    _, zeros = lax.sort_key_val(lax.eq(zeros, lax.full_like(zeros, 0)), zeros)  # moves zeros to the end
    indices = lax.iota(np.int32, n - 1)
    return where(indices < n - 1 - num_leading_zeros, zeros, complex(np.nan, np.nan))


def _empty_roots(p):
    return lax.full((0,), 0, dtypes.to_complex_dtype(p.dtype))


def roots(p: ArrayLike, *, strip_zeros: bool = True) -> Array:
    """Returns the zeros of a polynomial, the eigenvalues of its companion matrix.

    Args:
      p: vector of coefficients, highest degree first.
      strip_zeros: whether leading zeros are removed, for which `p` must be concrete; otherwise each of them gives NaN.

    Returns:
      Complex vector, of len(p) - 1 zeros unless some are stripped, in no particular order.

    Raises:
      ValueError: `p` is no vector.

    Examples:
      >>> jnp.round(jnp.sort(jnp.roots(jnp.array([1.0, -3.0, 2.0])).real), 4)
      Array([1., 2.], dtype=float32)
    """
    (p,) = check_arraylike("roots", p)
    (p,) = promote_dtypes_inexact(p)
    p = atleast_1d(p)
    if p.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    if p.size < 2:
        return _empty_roots(p)
    leading = (lax.cummax(lax.convert_element_type(p != 0, np.int32), axis=0) == 0).sum()
    if strip_zeros:
        leading = concrete_or_error(
            int, leading, "The error occurred in the jnp.roots() function. To use this within a JIT-compiled context, "
            "pass strip_zeros=False, but be aware that leading zeros will result in some returned roots being set to "
            "NaN.",
        )  # fmt: skip
        p = p[leading:]
        return _companion_roots(p) if p.shape[0] > 1 else _empty_roots(p)
    everything_zero = all_(p == 0)
    zeros = _roots(p, lax.convert_element_type(where(everything_zero, 0, leading), np.int32))
    return where(everything_zero, complex(np.nan, np.nan), zeros)


@staged("polyfit", static_argnames=("deg", "rcond", "full", "cov"))
def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: ArrayLike | None = None,
    cov: bool = False,
) -> Array | tuple[Array, ...]:
    """Returns the coefficients of the polynomial that fits points best, by least squares.

    Args:
      x: vector of n points.
      y: vector of n values, or array of shape (n, k) whose columns are fitted one by one.
      deg: int, the degree.
      rcond: singular values up to rcond times the largest count as 0; default: n eps.
      full: whether residuals, rank, singular values and rcond are returned too.
      w: vector of n weights of the residuals.
      cov: whether the covariance of the coefficients is returned too; "unscaled": not scaled by the residuals.

    Returns:
      Array of shape (deg + 1,) or (deg + 1, k), highest degree first, or a tuple that begins with it.

    Raises:
      TypeError: the shapes do not fit.
      ValueError: deg is negative.

    Examples:
      >>> jnp.round(jnp.polyfit(jnp.array([0.0, 1.0, 2.0]), jnp.array([1.0, 3.0, 5.0]), 1), 3)
      Array([2., 1.], dtype=float32)
    """
    x, y = check_arraylike("polyfit", x, y)
    deg = concrete_or_error(int, deg, "deg must be int")
    order = deg + 1
    if deg < 0:
        raise ValueError("expected deg >= 0")
    x, y = ensure_arraylike("polyfit", x), ensure_arraylike("polyfit", y)
    if x.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if x.size == 0:
        raise TypeError("expected non-empty vector for x")
    if y.ndim not in (1, 2):
        raise TypeError("expected 1D or 2D array for y")
    if x.shape[0] != y.shape[0]:
        raise TypeError("expected x and y to have same length")
    x, y = promote_dtypes_inexact(x, y)
    if rcond is None:
        rcond = x.shape[0] * float(dtypes.finfo(x.dtype).eps)
    lhs, rhs = vander(x, order), y
    if w is not None:
        lhs, rhs = _apply_weights(lhs, rhs, y, w)
    scale = sqrt((lhs * lhs).sum(axis=0))
    lhs = lhs / scale[None, :]
    c, residuals, rank, s = lstsq(lhs, rhs, rcond)
    c = c / (scale[:, None] if c.ndim == 2 else scale)
    if full:
        return c, residuals, rank, s, lax.full((), rcond, s.dtype)
    return (c, _covariance(lhs, scale, residuals, x.shape[0], order, y.ndim, cov)) if cov else c


def _apply_weights(lhs, rhs, y, w):
    (w,) = check_arraylike("polyfit", w)
    (w,) = promote_dtypes_inexact(w)
    if w.ndim != 1:
        raise TypeError("expected a 1-d array for weights")
    if w.shape[0] != y.shape[0]:
        raise TypeError("expected w and y to have the same length")
    return lhs * w[:, None], rhs * (w[:, None] if rhs.ndim == 2 else w)


def _covariance(lhs, scale, residuals, count, order, rank_of_y, cov):
    base = inv(dot(lhs.T, lhs)) / outer(scale, scale)
    if cov == "unscaled":
        factor = 1
    else:
        if count <= order:
            raise ValueError("the number of data points must exceed order to scale the covariance matrix")
        factor = residuals / (count - order)
        factor = factor[0] if rank_of_y == 1 else factor
    if rank_of_y == 1:
        return base * factor
    return base[:, :, None] * (factor if np.ndim(factor) == 0 else factor[None, None])
