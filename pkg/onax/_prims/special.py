"""Special functions: erf, erfc, erf_inv, lgamma, digamma, polygamma, zeta.

SciPy computes them, imported at the first call, but for erf_inv of float32: normal numbers come from it by the million.
bfloat16, float16 and the 8-bit floats run in float32 and round once.
"""

import math

import numpy as np

from onax._ground import lazy
from onax._native import normals
from onax._prims.elementwise import add, exp, mul, neg, square
from onax._prims.elementwise_kernels import per
from onax._prims.elementwise_rows import binary, const, unary


def _erf_kernel(x):
    return lazy.scipy_special.erf(x)


def _erfc_kernel(x):
    return lazy.scipy_special.erfc(x)


def _erf_inv_kernel(x):
    if x.dtype == np.float32:
        return normals.erf_inv(x)
    return np.copysign(lazy.scipy_special.erfinv(x), x)


def _lgamma_kernel(x):
    """log |gamma(x)|; inf at -inf, as the limit over the poles."""
    return np.where(np.isinf(x), np.abs(x), lazy.scipy_special.gammaln(x))


def _digamma_kernel(x):
    """NaN at every pole, 0 included, and at -inf."""
    pole = (x <= 0) & (np.floor(x) == x)
    return np.where(pole, x.dtype.type(np.nan), lazy.scipy_special.psi(x))


def _zeta_kernel(x, q):
    """Hurwitz' zeta; NaN for an infinite q."""
    return np.where(np.isinf(q), x.dtype.type(np.nan), lazy.scipy_special.zeta(x, q)).astype(x.dtype)


def _polygamma_kernel(m, x):
    """(-1)^(m+1) m! zeta(m + 1, x) in float64; NaN unless m is 0, 1, 2, ..."""
    n, z = m.astype(np.float64), x.astype(np.float64)
    special = lazy.scipy_special
    sign = np.where(n % 2 == 0, -1.0, 1.0)
    higher = sign * special.gamma(n + 1) * _zeta_kernel(n + 1, z)
    out = np.where(n == 0, _digamma_kernel(z), higher)
    return np.where((n < 0) | (np.floor(n) != n), np.nan, out).astype(x.dtype)


erf, erf_p = unary(
    "erf", per(floating=_erf_kernel),
    lambda g, y, x: mul(const(x, 2 / math.sqrt(math.pi)), mul(g, exp(neg(square(x))))),
    doc="The error function of x.",
)  # fmt: skip
erfc, erfc_p = unary(
    "erfc", per(floating=_erfc_kernel),
    lambda g, y, x: mul(const(x, -2 / math.sqrt(math.pi)), mul(g, exp(neg(square(x))))),
    doc="1 - erf(x), accurate for large x.",
)  # fmt: skip
erf_inv, erf_inv_p = unary(
    "erf_inv", per(floating=_erf_inv_kernel),
    lambda g, y, x: mul(const(x, math.sqrt(math.pi) / 2), mul(g, exp(square(y)))),
    doc="The number whose error function is x; NaN outside [-1, 1].",
)  # fmt: skip
lgamma, lgamma_p = unary(
    "lgamma", per(floating=_lgamma_kernel), lambda g, y, x: mul(g, digamma(x)),
    doc="The logarithm of the absolute value of the gamma function of x.",
)  # fmt: skip
digamma, digamma_p = unary(
    "digamma", per(floating=_digamma_kernel), lambda g, y, x: mul(g, polygamma(const(x, 1), x)),
    doc="The derivative of lgamma at x; NaN at its poles 0, -1, -2, ...",
)  # fmt: skip


def _polygamma_tangent_m(g, y, m, x):
    raise ValueError("polygamma gradient with respect to m is not supported")


polygamma, polygamma_p = binary(
    "polygamma", per(floating=_polygamma_kernel),
    _polygamma_tangent_m,
    lambda g, y, m, x: mul(g, polygamma(add(m, const(m, 1)), x)),
    doc="The derivative of order x of digamma at y; NaN unless x is 0, 1, 2, ...",
)  # fmt: skip
zeta, zeta_p = binary(
    "zeta", per(floating=_zeta_kernel), doc="Hurwitz' zeta function: the sum of 1 / (k + y)^x over k = 0, 1, ..."
)
zeta_p.jvp = None  # as in JAX: differentiating it is an error
