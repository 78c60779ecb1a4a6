"""Draws of the linear algebra primitives for `fuzzing.py`, and what of their results is determined.

Matrices of few different values are singular, or have columns of the same length, more often than not.  Then factors
are not determined, but what they put together is: VIEWS makes that of the results, for both sides of a comparison.
"""

import numpy as np

from onax import lax
from onax._prims import linalg, linalg_spectral

ROUNDINGS = 256


def _adjoint(x):
    return x.conj().swapaxes(-1, -2)


def _parts(both):
    """The factors that one array holds, m x k and k x n."""
    m, n = both.shape[-2:]
    k = min(m, n)
    return np.tril(both[..., :k], -1) + np.eye(m, k, dtype=both.dtype), np.triu(both[..., :k, :])


def _lu(both, pivots, order):
    """What the factors put together, in the rows' old order; their size; the order that the pivots mean."""
    lower, upper = _parts(both)
    back = np.argsort(order, -1)
    meant = lax.linalg.lu_pivots_to_permutation(pivots, both.shape[-2])
    product = np.take_along_axis(lower @ upper, back[..., None], -2)
    return [product, np.abs(lower).max((-1, -2), initial=0) > 1 + 1e-6, np.asarray(meant) == order]


def _qr(q, r, *order):
    back = np.argsort(order[0], -1) if order else np.broadcast_to(np.arange(r.shape[-1]), r.shape[:-2] + r.shape[-1:])
    return [np.take_along_axis(q @ r, back[..., None, :], -1), np.tril(r, -1), _adjoint(q) @ q]


def _geqrf(packed, taus):
    """The product of all reflections, column by column, and the triangle, as in qr."""
    m = packed.shape[-2]
    q = np.broadcast_to(np.eye(m, dtype=packed.dtype), (*packed.shape[:-2], m, m))
    for j in range(taus.shape[-1]):
        v = np.where(np.arange(m) > j, packed[..., j], 0) + np.eye(m, dtype=packed.dtype)[j]
        q = q - taus[..., j, None, None] * (q @ v[..., None]) * v.conj()[..., None, :]
    return [q @ np.triu(packed), _adjoint(q) @ q]


def _eigh(v, w):
    return [w, (v * w[..., None, :]) @ _adjoint(v), _adjoint(v) @ v]


def _svd(s, *uv):
    if not uv:
        return [s]
    u, vh = uv
    k = s.shape[-1]
    return [s, (u[..., :k] * s[..., None, :]) @ vh[..., :k, :], _adjoint(u) @ u, vh @ _adjoint(vh)]


def _cholesky(factor):
    factor = np.tril(factor)
    return [factor @ _adjoint(factor), np.isnan(factor)]


# by name: results -> what is compared
VIEWS = {"cholesky": _cholesky, "lu": _lu, "qr": _qr, "geqrf": _geqrf, "eigh": _eigh, "svd": _svd}


# ---- which matrices of a stack are not compared ----


def _matrices(mask):
    return mask.any((-1, -2))


def not_finite(x, *_, **__):
    """Matrices with NaN or infinities."""
    return _matrices(~np.isfinite(x))


def reflections_not_finite(a, taus, *c, **_):
    """Stacks of reflections, or what they are applied to, with NaN or infinities."""
    bad = not_finite(a) | ~np.isfinite(taus).all(-1)
    return bad | not_finite(c[0]) if c else bad


def lower_has_nan(x, **_):
    return _matrices(np.isnan(np.tril(x)))


def infinite_beside_diagonal(x, **_):
    return _matrices(np.isinf(np.tril(x, -1)))


def hardly_definite(x, **_):
    """Matrices that rounding makes definite or not."""
    lower = np.tril(x)
    whole = np.where(np.isfinite(lower), lower, 0)
    whole = whole + _adjoint(np.tril(whole, -1))
    values = np.linalg.eigvalsh(whole)
    return np.abs(values).min(-1, initial=np.inf) < 1e-3 * np.abs(values).max(-1, initial=0)


def hardly_solvable(dl, d, du, b, **_):
    """Systems with NaN or infinities, or so close to singular that nothing of the solution is determined."""
    bad = [~np.isfinite(x).all(-1) for x in (dl[..., 1:], d, du[..., :-1])]
    a, at = np.zeros((*d.shape, d.shape[-1])), np.arange(d.shape[-1])
    for x, rows, columns in ((dl[..., 1:], at[1:], at[:-1]), (d, at, at), (du[..., :-1], at[:-1], at[1:])):
        a[..., rows, columns] = np.where(np.isfinite(x), x, 0)
    return np.any(bad, 0) | not_finite(b) | (np.linalg.cond(a) > 1e3)


def outside(pivots, *, permutation_size):
    """Pivots that name no row."""
    return ((pivots < 0) | (pivots >= permutation_size)).any(-1)


# ---- sizes of rounding errors ----


def _largest(x):
    x = np.abs(x)
    return float(np.max(np.where(np.isfinite(x), x, 0), initial=0.0))


def size(*operands):
    """Of what multiplies by unitary matrices, or puts factors together again."""
    return 1 + 4 * max(map(_largest, operands))


def size_of_reflections(a, taus, *c):
    """Reflections that are none, of any tau, stretch."""
    stretch = 1.0
    for j in range(taus.shape[-1]):
        stretch *= 1 + _largest(taus[..., j]) * (1 + a.shape[-2] * _largest(a[..., j]) ** 2)
    return stretch * (1 + max(map(_largest, c), default=0.0))


def size_of_solution(dl, d, du, b):
    """Of systems whose condition is at most 1000."""
    return 1000 * (1 + _largest(b))


def drawn(rng, base, array, ordinary, moderate):
    """A law's sample with other operands: (operands, sums)."""
    p, special = base.primitive, rng.random() < 0.3
    values = moderate if special and p is not linalg_spectral.eig_p else ordinary
    operands = [array(rng, x.shape, x.dtype, values) for x in base.operands]
    if p is linalg.cholesky_p and rng.random() < 0.7:
        x = operands[0]
        with np.errstate(all="ignore"):
            operands[0] = (x @ _adjoint(x) + np.eye(x.shape[-1])).astype(x.dtype)
    if p is linalg.cholesky_update_p:
        operands[0] = np.triu(operands[0])
    of = {
        linalg.householder_product_p: size_of_reflections,
        linalg.ormqr_p: size_of_reflections,
        linalg_spectral.tridiagonal_solve_p: size_of_solution,
    }.get(p, size)
    return operands, (ROUNDINGS, of)


DRAWN = (
    linalg.cholesky_p,
    linalg.lu_p,
    linalg.qr_p,
    linalg.geqrf_p,
    linalg.householder_product_p,
    linalg.ormqr_p,
    linalg.cholesky_update_p,
    linalg_spectral.eigh_p,
    linalg_spectral.svd_p,
    linalg_spectral.tridiagonal_solve_p,
)
