"""Kernels of the incomplete gamma and beta functions and of the derivatives that SciPy does not have.

Below its mean the function is a series, above it a continued fraction (Abramowitz and Stegun, 6.5.29 and 6.5.31); both
are differentiated in the parameter term by term.  Elements leave the loop as they converge.
"""

import numpy as np

from onax._ground import lazy

_EPS = np.finfo(np.float64).eps
_STEPS = 2000  # of the continued fraction, which converges slowly only just above the mean
_TERMS = 10000  # of the series: enough for any x if a <= 10^6; for larger a the series is truncated where x is near a
_LARGE = 1 / _EPS
_OVERFLOW_BOUND = 1e100


def _series(a, x):
    """(the sum over n = 0, 1, ... of x^n / ((a + 1) ... (a + n)), its derivative in a)"""
    total, slope = np.ones_like(x), np.zeros_like(x)
    active = np.arange(x.size)
    r, c, dc = a.copy(), np.ones_like(x), np.zeros_like(x)
    s, ds = total.copy(), slope.copy()
    for count in range(_TERMS):
        if not active.size:
            break
        r = r + 1
        dc = (dc - c / r) * (x / r)
        c = c * (x / r)
        s, ds = s + c, ds + dc
        going = (np.abs(dc) > _EPS * np.abs(ds)) & (count < _TERMS - 1)
        done = ~going
        if done.any():
            total[active[done]], slope[active[done]] = s[done], ds[done]
            active, r, c, dc, s, ds, x = (v[going] for v in (active, r, c, dc, s, ds, x))
    return total, slope


def _fraction(a, x):
    """(f, its derivative in a), where f x^a exp(-x) / gamma(a) is the upper incomplete gamma function."""
    y, z = 1 - a, x + 1 - a + 1
    # Numerators and denominators of the last two convergents, and their derivatives.
    p2, q2, p1, q1 = np.ones_like(x), x.copy(), x + 1, z * x
    dp2, dq2, dp1, dq1 = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x), -x
    f, df = p1 / q1, (dp1 - p1 / q1 * dq1) / q1
    total, slope = f.copy(), df.copy()
    active = np.arange(x.size)
    for count in range(1, _STEPS + 1):
        if not active.size:
            break
        y, z = y + 1, z + 2
        yc = y * count
        p, q = p1 * z - p2 * yc, q1 * z - q2 * yc
        dp = dp1 * z - p1 - dp2 * yc + p2 * count
        dq = dq1 * z - q1 - dq2 * yc + q2 * count
        usable = q != 0
        f = np.where(usable, p / q, f)
        before, df = df, np.where(usable, (dp - f * dq) / q, df)
        scale = np.where(np.abs(p) > _LARGE, _EPS, 1.0)
        p2, q2, p1, q1 = (v * scale for v in (p1, q1, p, q))
        dp2, dq2, dp1, dq1 = (v * scale for v in (dp1, dq1, dp, dq))
        going = np.abs(df - before) > _EPS * np.abs(df)
        done = ~going
        total[active], slope[active] = f, df
        if done.any():
            active, y, z, f, df = (v[going] for v in (active, y, z, f, df))
            p2, q2, p1, q1, dp2, dq2, dp1, dq1 = (v[going] for v in (p2, q2, p1, q1, dp2, dq2, dp1, dq1))
    return total, slope


def _leading_term(a, x):
    """The leading term of what `_fraction` returns, for x so large that its numerators would overflow."""
    return 1 / x, np.zeros_like(x)


def _slopes(a, x, of_sample):
    """The derivative in a of P(a, x), or of the x at a fixed value of P; a and x are float64 of equal shape (n,)."""
    special = lazy.scipy_special
    out = np.full_like(x, np.nan)
    fine = (a > 0) & (x >= 0) & np.isfinite(a) & np.isfinite(x)
    out[(a > 0) & (x == 0)] = 0.0
    far = fine & (x > 1) & (x > a)
    near = fine & (x > 0) & ~far
    out_of_reach = far & (x > _OVERFLOW_BOUND) & (x * _EPS > a)
    for where, method, shift in (
        (near, _series, 1),
        (far & ~out_of_reach, _fraction, 0),
        (out_of_reach, _leading_term, 0),
    ):
        b, y = a[where], x[where]
        s, ds = method(b, y)
        slope = ds + s * (np.log(y) - special.psi(b + shift))
        if of_sample:
            out[where] = -slope * (y / b) if shift else slope * y
        else:
            weight = np.exp(b * np.log(y) - y - special.gammaln(b + shift))
            out[where] = np.where(weight == 0, 0, slope * weight if shift else -slope * weight)
    return out


def _elementwise(a, x, of_sample):
    a, x = np.broadcast_arrays(a, x)
    with np.errstate(all="ignore"):
        out = _slopes(a.astype(np.float64).ravel(), x.astype(np.float64).ravel(), of_sample)
    return out.reshape(x.shape).astype(x.dtype)


def igamma_grad_a(a, x):
    """The derivative in a of the regularized lower incomplete gamma function, computed in float64."""
    return _elementwise(a, x, False)


def random_gamma_grad(a, x):
    """The derivative in a of a number drawn from the gamma distribution, computed in float64.

    The number is the inverse of P at a fixed uniform number, so the derivative is -(dP/da) / (dP/dx), in which the
    common factor x^a exp(-x) cancels.
    """
    return _elementwise(a, x, True)


def igamma(a, x):
    """The regularized lower incomplete gamma function.

    NaN where a < 0, x < 0, or both are 0; an infinite a or x alone gives the limit.
    """
    return _incomplete(lazy.scipy_special.gammainc, a, x)


def igammac(a, x):
    """1 - igamma(a, x), accurate where that is small."""
    return _incomplete(lazy.scipy_special.gammaincc, a, x)


def _incomplete(function, a, x):
    out = function(a, x)
    nan = (a < 0) | (x < 0) | ((a == 0) & (x == 0))
    certain = np.isinf(x) & np.isinf(a) & (a > 0) & (x > 0)
    out = np.where(certain, function(1.0, np.inf), out)
    return np.where(nan, np.nan, out).astype(x.dtype)


def betainc(a, b, x):
    """The regularized incomplete beta function, a step where a or b is 0; NaN outside its domain.

    It is computed in float64 and rounded once: SciPy's float32 function is some ulp off.
    """
    out = lazy.scipy_special.betainc(*(v.astype(np.float64) for v in (a, b, x)))
    out = np.where(a == 0, x > 0, np.where(b == 0, x >= 1, out))
    outside = (a < 0) | (b < 0) | (x < 0) | (x > 1) | ((a == 0) & (b == 0)) | np.isnan(a) | np.isnan(b) | np.isnan(x)
    return np.where(outside, np.nan, out).astype(x.dtype)
