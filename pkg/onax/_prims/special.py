"""Special functions: erf, erfc, erf_inv, lgamma, digamma, polygamma, zeta, the incomplete gamma and beta functions,
Bessel functions, and the derivative of gamma-distributed samples.

SciPy, imported at the first call, computes them all except erf_inv of float32, which has a quicker kernel because
normal random numbers are computed by it.  bfloat16, float16 and the 8-bit floats run in float32 and round once.
"""

import math

import numpy as np

from onax._core.facts import ELEMENTWISE, MAKES_NAN
from onax._core.rules import defjvp
from onax._ground import lazy
from onax._ground.typing import ArrayLike
from onax._native import normals
from onax._native.array import Array
from onax._native.avals import ShapedArray
from onax._native.dispatch import ALL, Primitive
from onax._prims import special_kernels as kernels
from onax._prims._batch_rules import defvectorized
from onax._prims.creation import full_like
from onax._prims.elementwise import (
    abs,
    add,
    exp,
    gt,
    log,
    log1p,
    mul,
    neg,
    reciprocal,
    select_n,
    sign,
    square,
    sub,
)
from onax._prims.elementwise_kernels import by_kind
from onax._prims.elementwise_rows import (
    binary,
    broadcasting_shape,
    check_dtype,
    check_same_dtypes,
    const,
    unary,
)
from onax._prims.shaping import broadcast_shapes


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
    """Hurwitz's zeta function; NaN for an infinite q, and for NaN where SciPy gives inf."""
    return np.where(np.isinf(q) | np.isnan(x), x.dtype.type(np.nan), lazy.scipy_special.zeta(x, q)).astype(x.dtype)


def _polygamma_kernel(m, x):
    """(-1)^(m+1) m! zeta(m + 1, x) in float64; NaN unless m is 0, 1, 2, ..."""
    n, z = m.astype(np.float64), x.astype(np.float64)
    special = lazy.scipy_special
    sign = np.where(n % 2 == 0, -1.0, 1.0)
    higher = sign * special.gamma(n + 1) * _zeta_kernel(n + 1, z)
    out = np.where(n == 0, _digamma_kernel(z), higher)
    return np.where((n < 0) | (np.floor(n) != n), np.nan, out).astype(x.dtype)


erf, erf_p = unary(
    "erf", by_kind(floating=_erf_kernel),
    lambda g, y, x: mul(const(x, 2 / math.sqrt(math.pi)), mul(g, exp(neg(square(x))))),
    doc="Returns the error function of x. | 0.5 -> 0.5205",
)  # fmt: skip
erfc, erfc_p = unary(
    "erfc", by_kind(floating=_erfc_kernel),
    lambda g, y, x: mul(const(x, -2 / math.sqrt(math.pi)), mul(g, exp(neg(square(x))))),
    doc="Returns 1 - erf(x), accurate for large x. | 0.5 -> 0.4795",
)  # fmt: skip
erf_inv, erf_inv_p = unary(
    "erf_inv", by_kind(floating=_erf_inv_kernel),
    lambda g, y, x: mul(const(x, math.sqrt(math.pi) / 2), mul(g, exp(square(y)))),
    doc="Returns the number whose error function is x; NaN outside [-1, 1]. | 0.5 -> 0.4769",
)  # fmt: skip
lgamma, lgamma_p = unary(
    "lgamma", by_kind(floating=_lgamma_kernel), lambda g, y, x: mul(g, digamma(x)),
    doc="Returns the logarithm of the absolute value of the gamma function of x. | 3.0 -> 0.6931",
)  # fmt: skip
digamma, digamma_p = unary(
    "digamma", by_kind(floating=_digamma_kernel), lambda g, y, x: mul(g, polygamma(const(x, 1), x)),
    doc="Returns the derivative of lgamma at x; NaN at its poles 0, -1, -2, ... | 1.0 -> -0.5772",
)  # fmt: skip


def _polygamma_tangent_m(g, y, m, x):
    raise ValueError("polygamma gradient with respect to m is not supported")


polygamma, polygamma_p = binary(
    "polygamma", by_kind(floating=_polygamma_kernel),
    _polygamma_tangent_m,
    lambda g, y, m, x: mul(g, polygamma(add(m, const(m, 1)), x)),
    makes_nan=False,
    doc="Returns the derivative of order m of digamma at x; NaN unless m is 0, 1, 2, ... | 1.0, 1.0 -> 1.6449",
    parameters=("m", "x"),
)  # fmt: skip
zeta, zeta_p = binary(
    "zeta",
    by_kind(floating=_zeta_kernel),
    doc="Returns Hurwitz' zeta function: the sum of 1 / (k + q)^x over k = 0, 1, ... | 2.0, 1.0 -> 1.6449",
    parameters=("x", "q"),
)
zeta_p.jvp = None  # as in JAX: differentiating it is an error


# ---- incomplete gamma and beta functions


def _gamma_density(g, a, x):
    """g times the density at x of the gamma distribution of shape a, the derivative of igamma in x."""
    logarithm = sub(add(neg(x), mul(sub(a, const(a, 1)), log(x))), lgamma(a))
    return mul(g, exp(logarithm))


igamma_grad_a, igamma_grad_a_p = binary(
    "igamma_grad_a",
    by_kind(floating=kernels.igamma_grad_a),
    doc="Returns the derivative of igamma(a, x) in a. | 1.0, 1.0 -> -0.4317",
    parameters=("a", "x"),
)
igamma_grad_a_p.jvp = None  # as in JAX: differentiating it is an error
igamma, igamma_p = binary(
    "igamma", by_kind(floating=kernels.igamma),
    lambda g, out, a, x: mul(g, igamma_grad_a(a, x)),
    lambda g, out, a, x: _gamma_density(g, a, x),
    doc="Returns the regularized lower incomplete gamma function of a at x; NaN below 0. | 1.0, 1.0 -> 0.6321",
    parameters=("a", "x"),
)  # fmt: skip
igammac, igammac_p = binary(
    "igammac", by_kind(floating=kernels.igammac),
    lambda g, out, a, x: neg(mul(g, igamma_grad_a(a, x))),
    lambda g, out, a, x: neg(_gamma_density(g, a, x)),
    doc="Returns 1 - igamma(a, x), accurate where that is small. | 1.0, 1.0 -> 0.3679", parameters=("a", "x"),
)  # fmt: skip
_random_gamma_grad, random_gamma_grad_p = binary(
    "random_gamma_grad", by_kind(floating=kernels.random_gamma_grad),
    doc="The derivative in x of a number y drawn from gamma's distribution of shape x, by implicit "
    "reparameterisation: the uniform number behind y is held fixed.  Computed in float64 and rounded once, so that "
    "float32 results differ from JAX's by JAX's own rounding.",
)  # fmt: skip
random_gamma_grad_p.jvp = None


def random_gamma_grad(a: ArrayLike, sample: ArrayLike) -> Array:
    """Returns the derivative, in the parameter, of a number drawn from a gamma distribution.

    By implicit reparameterization (Figurnov et al., 2018): the uniform number behind the sample is held fixed.

    Args:
      a: array of floats, the parameters.
      sample: array of the dtype of `a`, the numbers that were drawn.

    Returns:
      Array of the broadcast shape.

    Raises:
      TypeError: ranks or dtypes differ.
      ValueError: the shapes do not broadcast.

    Examples:
      >>> jnp.round(lax.random_gamma_grad(jnp.array([1.0]), jnp.array([0.5])), 3)
      Array([0.807], dtype=float32)
    """
    if hasattr(a, "shape") and hasattr(sample, "shape"):
        broadcast_shapes(a.shape, sample.shape)
    return _random_gamma_grad(a, sample)


_betainc_kernel = by_kind(floating=kernels.betainc)


def _betainc_abstract(a, b, x):
    name, operands = "regularized_incomplete_beta", (a, b, x)
    shape = broadcasting_shape(name, operands)
    for i, operand in enumerate(operands):
        check_dtype(name, _betainc_kernel, operand.dtype, i)
    check_same_dtypes(name, operands)
    return ShapedArray(shape, x.dtype, all(operand.weak_type for operand in operands))


def _betainc_tangent_ab(g, out, a, b, x):
    raise ValueError("Betainc gradient with respect to a and b not supported.")


def _betainc_tangent_x(g, out, a, b, x):
    one = const(x, 1)
    size = sub(add(lgamma(a), lgamma(b)), lgamma(add(a, b)))
    logarithm = add(mul(sub(b, one), log1p(neg(x))), mul(sub(a, one), log(x)))
    return mul(g, exp(sub(logarithm, size)))


regularized_incomplete_beta_p = defvectorized(
    Primitive(
        "regularized_incomplete_beta",
        kernel=_betainc_kernel.simplest(),
        abstract_eval=_betainc_abstract,
        weak=ALL,
        facts=frozenset({ELEMENTWISE, MAKES_NAN}),
    )
)
defjvp(regularized_incomplete_beta_p, _betainc_tangent_ab, _betainc_tangent_ab, _betainc_tangent_x)


def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """Returns the regularized incomplete beta function.

    Args:
      a, b: arrays of positive floats, the parameters.
      x: array of floats in [0, 1]; all operands have one dtype, and one shape (lengths of 1 and rank 0 fit any).

    Returns:
      Array of the broadcast shape; NaN outside of the domain.

    Raises:
      TypeError: dtypes or shapes do not fit.
      ValueError: a derivative in `a` or `b` is asked for.

    Examples:
      >>> jnp.round(lax.betainc(1.0, 2.0, jnp.array([0.0, 0.5, 1.0])), 4)
      Array([0.  , 0.75, 1.  ], dtype=float32)
    """
    return regularized_incomplete_beta_p.bind(a, b, x)


# ---- Bessel functions


def _bessel_i1e_slope(g, y, x):
    """i0e - i1e (sign(x) + 1/x); 1/2 at 0, where this expression is undefined."""
    eps = float(np.finfo(np.float64 if x.dtype.itemsize == 8 else np.float32).eps)
    usable = gt(abs(x), const(x, eps))
    safe = select_n(usable, full_like(x, eps), x)
    slope = sub(bessel_i0e(safe), mul(y, add(sign(safe), reciprocal(safe))))
    return mul(g, select_n(usable, full_like(slope, 0.5), slope))


bessel_i0e, bessel_i0e_p = unary(
    "bessel_i0e", by_kind(floating=lambda x: lazy.scipy_special.i0e(x)),
    lambda g, y, x: mul(g, sub(bessel_i1e(x), mul(sign(x), y))),
    doc="Returns exp(-|x|) times the modified Bessel function of the first kind and order 0. | 1.0 -> 0.4658",
)  # fmt: skip
bessel_i1e, bessel_i1e_p = unary(
    "bessel_i1e", by_kind(floating=lambda x: lazy.scipy_special.i1e(x)), _bessel_i1e_slope,
    doc="Returns exp(-|x|) times the modified Bessel function of the first kind and order 1. | 1.0 -> 0.2079",
)  # fmt: skip
