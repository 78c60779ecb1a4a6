"""qdwh: the polar decomposition by an iteration of products, QR and Cholesky decompositions.

Method: Nakatsukasa, Bai, Gygi, "Optimizing Halley's iteration for computing the matrix polar decomposition", SIAM
J. Matrix Anal. Appl. 31 (2010), with weights that follow from a lower bound of the smallest singular value.
"""

from __future__ import annotations

import math

import numpy as np

from onax import lax
from onax._control.jit_call import staged
from onax._control.while_loop import while_loop
from onax._core.trace import as_array
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax._prims import linalg

_QR_ABOVE = 100.0  # the weight c from which the Cholesky decomposition of I + c u^H u loses accuracy


@staged("qdwh", static_argnames=("is_hermitian", "max_iterations", "eps"), compiled_from=None)
def qdwh(
    x: ArrayLike,
    *,
    is_hermitian: bool = False,
    max_iterations: int | None = None,
    eps: float | None = None,
    dynamic_shape: tuple[int, int] | None = None,
) -> tuple[Array, Array, Array, Array]:
    """Returns the polar decomposition x = u h.

    Args:
      x: (m, n) with m >= n, floating or complex.
      is_hermitian: whether x is Hermitian: h then is Hermitian to rounding.
      max_iterations: the largest number of iterations, 10 by default.
      eps: the precision that is aimed at, by default that of the dtype.
      dynamic_shape: (m, n), integers or integer scalars: the part of x that counts; the rest is taken as zeros.

    Returns:
      (u, h, num_iters, is_converged): u (m, n) with orthonormal columns, h (n, n) positive semidefinite, an int32
      scalar and a bool scalar.

    Raises:
      ValueError: x is no matrix, or is wider than high.

    Examples:
      >>> u, h, steps, converged = onax.lax.linalg.qdwh(onax.numpy.eye(2) * 3.0)
      >>> h.round(4).tolist(), bool(converged)
      ([[3.0, 0.0], [0.0, 3.0]], True)
    """
    x = as_array(x)
    if x.ndim != 2 or x.shape[0] < x.shape[1]:
        raise ValueError(f"qdwh: x must be a matrix (m, n) with m >= n, got shape {x.shape}")
    if dynamic_shape is not None:
        x = _mask(x, dynamic_shape)
    real = np.finfo(x.dtype)
    eps = float(real.eps if eps is None else eps)
    limit = 10 if max_iterations is None else max_iterations
    weights = _weights(eps)
    u, steps, change = _iterate(x, weights, limit, real)
    h = _product(_adjoint(u), x)
    h = (h + _adjoint(h)) * np.asarray(0.5, x.dtype)
    if is_hermitian:
        u = (u + _adjoint(u)) * np.asarray(0.5, x.dtype)
    return u, h, steps, change < math.cbrt(5 * eps)


def _weights(eps):
    """The weights (a, b, c) of the steps until the bound of the smallest singular value is 1 to rounding."""
    low, found = eps, []
    while low + 5 * eps < 1 and len(found) < 10:
        d = math.cbrt(4 * (1 / low**2 - 1) / low**2)
        root = math.sqrt(1 + d)
        a = root + math.sqrt(2 - d + 2 * (2 - low**2) / (low**2 * root))
        b = (a - 1) ** 2 / 4
        c = a + b - 1
        found.append((a, b, c))
        low = min(low * (a + b * low**2) / (1 + c * low**2), 1.0)
    return found


def _iterate(x, weights, limit, real):
    """(the polar factor, the number of steps, the size of the last change)."""
    bound = lax.sqrt(_norm(x, 0) * _norm(x, 1))
    bound = lax.select(bound > 0, bound, lax.full_like(bound, 1))
    first = x / lax.convert_element_type(bound, x.dtype)
    tolerance = math.cbrt(5 * float(real.eps))
    table = np.array([*weights, (3.0, 1.0, 3.0)], real.dtype)
    n_qr = sum(c > _QR_ABOVE for _, _, c in weights)

    def go_on(state):
        k, _, change = state
        return (k < limit) & ((k < len(weights)) | (change >= tolerance))

    def step(state):
        k, u, _ = state
        a, b, c = (as_array(table)[lax.min(k, len(weights)), i] for i in range(3))
        new = lax.cond(k < n_qr, _qr_step, _cholesky_step, u, a, b, c)
        return k + 1, new, _frobenius(new - u)

    k, u, change = while_loop(go_on, step, (0, first, as_array(np.asarray(np.inf, real.dtype))))
    return u, k, change


def _qr_step(u, a, b, c):
    """b/c u + (a - b/c)/sqrt(c) q1 q2^H, with [q1; q2] the orthogonal factor of [sqrt(c) u; I]."""
    m, n = u.shape
    root = lax.sqrt(c)
    stacked = lax.concatenate([u * _cast(root, u), _identity(u, n)], 0)
    q, _ = linalg.qr(stacked, full_matrices=False)
    return u * _cast(b / c, u) + _product(q[:m], _adjoint(q[m:])) * _cast((a - b / c) / root, u)


def _cholesky_step(u, a, b, c):
    """b/c u + (a - b/c) u (I + c u^H u)^-1."""
    n = u.shape[1]
    factor = linalg.cholesky(_identity(u, n) + _product(_adjoint(u), u) * _cast(c, u))
    half = linalg.triangular_solve(factor, _adjoint(u), left_side=True, lower=True)
    solved = linalg.triangular_solve(factor, half, left_side=True, lower=True, transpose_a=True, conjugate_a=True)
    return u * _cast(b / c, u) + _adjoint(solved) * _cast(a - b / c, u)


def _mask(x, dynamic_shape):
    inside = [lax.broadcasted_iota(np.int32, x.shape, d) < size for d, size in enumerate(dynamic_shape)]
    return lax.select(inside[0] & inside[1], x, lax.full_like(x, 0))


def _identity(u, n):
    rows, columns = (lax.broadcasted_iota(np.int32, (n, n), d) for d in (0, 1))
    return lax.convert_element_type(rows == columns, u.dtype)


def _cast(scalar, x):
    return lax.convert_element_type(scalar, x.dtype)


def _adjoint(x):
    return lax.conj(x.T) if np.issubdtype(x.dtype, np.complexfloating) else x.T


def _product(x, y):
    return lax.dot(x, y, precision=lax.Precision.HIGHEST)


def _norm(x, axis):
    """The largest sum of absolute values along an axis."""
    return lax.abs(x).sum(axis).max(initial=0)


def _frobenius(x):
    return lax.sqrt(lax.square(lax.abs(x)).sum())
