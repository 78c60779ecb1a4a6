"""Implementation of onax.scipy.special."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._control.custom_jvp import custom_jvp
from onax._core.api_functions import static_argnames
from onax._ground import dtypes
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.nn._normalization import log_softmax as _log_softmax
from onax.nn._normalization import softmax as _softmax
from onax.numpy._promotion import along_last_axis, check_arraylike, ensure_arraylike, promote_args_inexact
from onax.numpy._ufuncs import constant_like
from onax.numpy._where import where as _where
from onax.scipy._special_common import promote_real_floats


def _unary(name, function, returned, point, value) -> Callable[[ArrayLike], Array]:
    """Makes the public function of one array from a lax function of a float.

    `returned` says what it returns, `value` what that is at the point of the example.
    """

    def special(x: ArrayLike) -> Array:
        return function(*promote_args_inexact(name, x))

    special.__name__ = special.__qualname__ = name
    special.__doc__ = _UNARY_DOC.format(name=name, returned=returned, point=point, value=value)
    return special


_UNARY_DOC = """Returns {returned}.

    Args:
      x: an array of real numbers; integers are converted to the default float.

    Returns:
      Float array of the shape of `x`.

    Raises:
      TypeError: `x` is no array of numbers.

    Examples:
      >>> onax.scipy.special.{name}(jnp.array([{point}])).round(4)
      Array([{value}], dtype=float32)
    """

erf = _unary(
    "erf",
    lambda x: lax.erf(x),
    "the error function, 2 / sqrt(pi) times the integral of exp(-t**2) from 0 to x",
    "0.5",
    "0.5205",
)
erfc = _unary("erfc", lambda x: lax.erfc(x), "1 - erf(x), accurate for large x", "0.5", "0.4795")
erfinv = _unary("erfinv", lambda x: lax.erf_inv(x), "the inverse of `erf`", "0.5", "0.4769")
gammaln = _unary(
    "gammaln", lambda x: lax.lgamma(x), "the logarithm of the absolute value of the gamma function", "0.5", "0.5724"
)
digamma = _unary("digamma", lambda x: lax.digamma(x), "the derivative of `gammaln`", "1.0", "-0.5772")
expit = _unary("expit", lambda x: lax.logistic(x), "the logistic function 1 / (1 + exp(-x))", "1.0", "0.7311")


@custom_jvp
def logit(x: ArrayLike) -> Array:
    """Returns log(x / (1 - x)), the inverse of `expit`.

    Args:
      x: an array of real numbers; integers are converted to the default float.

    Returns:
      Float array of the shape of `x`; NaN outside of [0, 1].

    Examples:
      >>> onax.scipy.special.logit(jnp.array([0.0, 0.5, 1.0]))
      Array([-inf,   0.,  inf], dtype=float32)
    """
    (x,) = promote_args_inexact("logit", x)
    return lax.log(lax.div(x, lax.sub(constant_like(x, 1), x)))


logit.defjvps(lambda g, out, x: lax.div(g, lax.mul(x, lax.sub(constant_like(x, 1), x))))


def _promote_ranks(name, x, y):
    """Promotes operands of different rank, and Python numbers, because the derivative rule takes arrays of one rank."""
    numbers = isinstance(x, (int, float, complex)) or isinstance(y, (int, float, complex))
    return promote_args_inexact(name, x, y) if numbers or np.ndim(x) != np.ndim(y) else (x, y)


def _x_times_log(name, logarithm):
    """Makes the function x * log(y), which is 0 where x is 0 and y is not nan."""

    def product(x, y):
        x, y = promote_args_inexact(name, x, y)
        counts = lax.bitwise_or(lax.ne(x, constant_like(x, 0)), lax.ne(y, y))
        product = lax.mul(x, logarithm(y))
        return _where(counts, product, lax.full_like(product, 0))

    product.__name__ = product.__qualname__ = name
    return custom_jvp(product)


def xlogy(x: ArrayLike, y: ArrayLike) -> Array:
    """Returns x * log(y), and 0 where x is 0 and y is not NaN.

    Args:
      x: an array of real or complex numbers.
      y: an array that broadcasts with `x`.

    Returns:
      Float or complex array of the common shape.

    Examples:
      >>> onax.scipy.special.xlogy(jnp.array([0.0, 2.0]), jnp.array([0.0, 1.0]))
      Array([0., 0.], dtype=float32)
    """
    return _xlogy(*_promote_ranks("xlogy", x, y))


_xlogy = _x_times_log("xlogy", lax.log)


@_xlogy.defjvp
def _xlogy_jvp(primals, tangents):
    (x, y), (gx, gy) = primals, tangents
    return _xlogy(x, y), lax.add(lax.mul(gx, lax.log(y)), lax.mul(gy, lax.div(x, y)))


def xlog1py(x: ArrayLike, y: ArrayLike) -> Array:
    """Returns x * log(1 + y), and 0 where x is 0 and y is not NaN.

    Args:
      x: an array of real or complex numbers.
      y: an array that broadcasts with `x`.

    Returns:
      Float or complex array of the common shape.

    Examples:
      >>> onax.scipy.special.xlog1py(jnp.array([0.0, 2.0]), jnp.array([-1.0, 0.0]))
      Array([0., 0.], dtype=float32)
    """
    return _xlog1py(*_promote_ranks("xlog1py", x, y))


_xlog1py = _x_times_log("xlog1py", lax.log1p)


@_xlog1py.defjvp
def _xlog1py_jvp(primals, tangents):
    (x, y), (gx, gy) = primals, tangents
    slope = lax.div(x, lax.add(constant_like(y, 1), y))
    return _xlog1py(x, y), lax.add(lax.mul(gx, lax.log1p(y)), lax.mul(gy, slope))


@custom_jvp
def _xlogx(x):
    return xlogy(x, x)


@_xlogx.defjvp
def _xlogx_jvp(primals, tangents):
    (x,), (g,) = primals, tangents
    return _xlogx(x), lax.mul(g, lax.add(lax.log(x), constant_like(x, 1)))


def _refuse_complex(name, x):
    if dtypes.is_complex(x.dtype):
        raise ValueError(f"{name} does not support complex-valued inputs.")


def entr(x: ArrayLike) -> Array:
    """Returns -x * log(x), 0 at 0 and -inf for negative x.

    Args:
      x: an array of real numbers; integers are converted to the default float.

    Returns:
      Float array of the shape of `x`.

    Examples:
      >>> onax.scipy.special.entr(jnp.array([-1.0, 0.0, 1.0]))
      Array([-inf,  -0.,  -0.], dtype=float32)
    """
    (x,) = promote_args_inexact("entr", x)
    _refuse_complex("entr", x)
    negative = lax.lt(x, constant_like(x, 0))
    return lax.select(negative, lax.full_like(x, -np.inf), lax.neg(_xlogx(x)))


def _p_log_ratio(name, p, q):
    """p * log(p / q) where both are positive, 0 for p = 0 <= q, inf elsewhere; and the mask where both are positive."""
    p, q = promote_args_inexact(name, p, q)
    _refuse_complex(name, p)
    zero = constant_like(p, 0)
    both = lax.bitwise_and(lax.gt(p, zero), lax.gt(q, zero))
    none = lax.bitwise_and(lax.eq(p, zero), lax.ge(q, zero))
    safe_p, safe_q = jnp.where(both, p, 1), jnp.where(both, q, 1)
    ratio = lax.sub(_xlogx(safe_p), xlogy(safe_p, safe_q))
    return p, q, jnp.where(both, ratio, jnp.where(none, zero, np.inf))


def rel_entr(p: ArrayLike, q: ArrayLike) -> Array:
    """Returns p * log(p / q), the terms of the relative entropy.

    Args:
      p: an array of real numbers.
      q: an array that broadcasts with `p`.

    Returns:
      Float array of the common shape: 0 where p is 0 and q is not negative, inf where else one of them is not positive.

    Examples:
      >>> onax.scipy.special.rel_entr(jnp.array([0.0, 1.0, 1.0]), jnp.array([1.0, 1.0, 0.0]))
      Array([ 0.,  0., inf], dtype=float32)
    """
    return _p_log_ratio("rel_entr", p, q)[2]


def kl_div(p: ArrayLike, q: ArrayLike) -> Array:
    """Returns p * log(p / q) - p + q, the terms of the Kullback-Leibler divergence.

    Args:
      p: an array of real numbers.
      q: an array that broadcasts with `p`.

    Returns:
      Float array of the common shape: q where p is 0 and q is not negative, inf where else one of them is not positive.

    Examples:
      >>> onax.scipy.special.kl_div(jnp.array([0.0, 1.0, 1.0]), jnp.array([1.0, 1.0, 0.0]))
      Array([ 1.,  0., inf], dtype=float32)
    """
    p, q, entropy = _p_log_ratio("kl_div", p, q)
    return lax.add(lax.sub(entropy, p), q)


def _require_plain_float(name, x):
    """Returns x; raises TypeError unless it is float32 or float64."""
    if x.dtype not in (np.float32, np.float64):
        end = ", see docstring for supported types." if name == "ndtr" else "."
        raise TypeError(f"x.dtype={x.dtype} is not supported{end}")
    return x


def ndtr(x: ArrayLike) -> Array:
    """Returns the normal distribution function, the probability of at most x.

    Args:
      x: a float32 or float64 array.

    Returns:
      Array of the shape and dtype of `x`.

    Raises:
      TypeError: another dtype.

    Examples:
      >>> onax.scipy.special.ndtr(jnp.array([-jnp.inf, 0.0, jnp.inf]))
      Array([0. , 0.5, 1. ], dtype=float32)
    """
    x = _require_plain_float("ndtr", jnp.asarray(x))
    root, one, two, half = map(x.dtype.type, (np.sqrt(0.5), 1, 2, 0.5))
    w = lax.mul(x, root)
    z = lax.abs(w)
    near, middle = lax.lt(z, root), lax.add(one, lax.erf(w))
    tail = lax.select(lax.gt(w, constant_like(x, 0)), lax.sub(two, lax.erfc(z)), lax.erfc(z))
    return lax.mul(half, lax.select(near, middle, tail))


def softmax(x: ArrayLike, /, *, axis: int | Sequence[int] | None = None) -> Array:
    """Returns exp(x) divided by its sum over axes.

    Args:
      x: an array of real numbers.
      axis: an int or a tuple of ints; default None, all axes.

    Returns:
      Float array of the shape of `x`.

    Raises:
      ValueError: there is no such axis.

    Examples:
      >>> onax.scipy.special.softmax(jnp.array([1.0, 1.0]))
      Array([0.5, 0.5], dtype=float32)
    """
    x = ensure_arraylike("softmax", x)
    return _softmax(x, axis)


@static_argnames("axis")
def log_softmax(x: ArrayLike, /, *, axis: int | Sequence[int] | None = None) -> Array:
    """Returns the logarithm of `softmax`.

    Args:
      x: an array of real numbers.
      axis: an int or a tuple of ints; default None, all axes.

    Returns:
      Float array of the shape of `x`.

    Raises:
      ValueError: there is no such axis.

    Examples:
      >>> onax.scipy.special.log_softmax(jnp.array([0.0, 1000.0]))
      Array([-1000.,     0.], dtype=float32)
    """
    x = ensure_arraylike("log_softmax", x)
    return _log_softmax(x, axis)


i0e = _unary(
    "i0e", lambda x: lax.bessel_i0e(x), "the modified Bessel function of order 0, times exp(-|x|)", "1.0", "0.4658"
)
i1e = _unary(
    "i1e", lambda x: lax.bessel_i1e(x), "the modified Bessel function of order 1, times exp(-|x|)", "1.0", "0.2079"
)
i0 = _unary(
    "i0",
    lambda x: lax.mul(lax.exp(lax.abs(x)), lax.bessel_i0e(x)),
    "the modified Bessel function of order 0",
    "1.0",
    "1.2661",
)
i1 = _unary(
    "i1",
    lambda x: lax.mul(lax.exp(lax.abs(x)), lax.bessel_i1e(x)),
    "the modified Bessel function of order 1",
    "1.0",
    "0.5652",
)


def gammainc(a: ArrayLike, x: ArrayLike) -> Array:
    """Returns the regularised lower incomplete gamma function.

    It is the integral of t**(a - 1) exp(-t) / gamma(a) from 0 to x.

    Args:
      a: an array of positive numbers.
      x: an array of nonnegative numbers that broadcasts with `a`.

    Returns:
      Float array of the common shape.

    Examples:
      >>> onax.scipy.special.gammainc(2.0, jnp.array([0.0, jnp.inf]))
      Array([0., 1.], dtype=float32)
    """
    return lax.igamma(*promote_args_inexact("gammainc", a, x))


def gammaincc(a: ArrayLike, x: ArrayLike) -> Array:
    """Returns the regularised upper incomplete gamma function, ``1 - gammainc(a, x)``, accurate for large x.

    Args:
      a: an array of positive numbers.
      x: an array of nonnegative numbers that broadcasts with `a`.

    Returns:
      Float array of the common shape.

    Examples:
      >>> onax.scipy.special.gammaincc(2.0, jnp.array([0.0, jnp.inf]))
      Array([1., 0.], dtype=float32)
    """
    return lax.igammac(*promote_args_inexact("gammaincc", a, x))


def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """Returns the regularised incomplete beta function.

    It is the integral of t**(a - 1) (1 - t)**(b - 1) / beta(a, b) from 0 to x.

    Args:
      a: an array of positive numbers.
      b: an array of positive numbers.
      x: an array of numbers in [0, 1].

    Returns:
      Float array of the common shape.

    Examples:
      >>> onax.scipy.special.betainc(1.0, 1.0, jnp.array([0.0, 0.5, 1.0]))
      Array([0. , 0.5, 1. ], dtype=float32)
    """
    return lax.betainc(*promote_real_floats("betainc", a, b, x))


def betaln(a: ArrayLike, b: ArrayLike) -> Array:
    """Returns the logarithm of the absolute value of the beta function.

    Args:
      a: an array of real numbers.
      b: an array that broadcasts with `a`.

    Returns:
      Float array of the common shape.

    Examples:
      >>> onax.scipy.special.betaln(1.0, 1.0)
      Array(0., dtype=float32, weak_type=True)
    """
    a, b = promote_args_inexact("betaln", a, b)
    p, q = lax.min(a, b), lax.max(a, b)
    known = lax.lgamma(p) + (lax.lgamma(q) - lax.lgamma(p + q))
    large = lax.bitwise_and(q >= _STIRLING_FROM, p > 0)  # there the last two are large, and their difference noise
    q = jnp.where(large, q, _STIRLING_FROM)
    both = lax.bitwise_and(large, p >= _STIRLING_FROM)
    above, below = jnp.where(both, p, _STIRLING_FROM), jnp.where(both, 1, p)
    one = lax.lgamma(below) + _log_gamma_ratio(below, q)
    two = 0.5 * (math.log(2 * math.pi) - lax.log(above)) + above * (lax.log(above) - 1) + _stirling_rest(above)
    return jnp.where(large, jnp.where(both, two + _log_gamma_ratio(above, q), one), known)


_STIRLING_FROM = 8


def _log_gamma_ratio(p, q):
    """log(gamma(q) / gamma(p + q)) of large q, by Stirling's formula."""
    sum_ = p + q
    return p - (q - 0.5) * lax.log1p(p / q) - p * lax.log(sum_) + (_stirling_rest(q) - _stirling_rest(sum_))


def _stirling_rest(x):
    """log(gamma(x)) less (x - 1/2) log(x) - x + log(2 pi) / 2 (DLMF 5.11.1)."""
    square = 1 / (x * x)
    terms = 1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156
    total = 0.0
    for term in reversed(terms):
        total = total * square + term
    return total / x


@static_argnames()
def gammasgn(x: ArrayLike) -> Array:
    """Returns the sign of the gamma function.

    Args:
      x: an array of real numbers; integers are converted to the default float.

    Returns:
      Float array of the shape of `x`: 1 or -1, NaN at the poles -1, -2, ....

    Examples:
      >>> onax.scipy.special.gammasgn(jnp.array([-1.5, -0.5, 2.0]))
      Array([ 1., -1.,  1.], dtype=float32)
    """
    (x,) = promote_args_inexact("gammasgn", x)
    _refuse_complex("gammasgn", x)
    floor_x = lax.floor(x)
    sign = jnp.where(lax.rem(floor_x, constant_like(x, 2)) == 0, 1.0, -1.0).astype(x.dtype)
    sign = jnp.where(lax.bitwise_or(x >= 0, x == -np.inf), 1.0, sign)
    sign = jnp.where(lax.bitwise_or(lax.bitwise_and(x < 0, x == floor_x), x != x), np.nan, sign)
    return jnp.where(lax.bitwise_and(x == 0, jnp.signbit(x)), -1.0, sign).astype(x.dtype)


def beta(a: ArrayLike, b: ArrayLike) -> Array:
    """Returns the beta function, gamma(a) gamma(b) / gamma(a + b).

    Args:
      a: an array of real numbers.
      b: an array that broadcasts with `a`.

    Returns:
      Float array of the common shape.

    Examples:
      >>> onax.scipy.special.beta(1.0, 1.0)
      Array(1., dtype=float32)
    """
    a, b = promote_args_inexact("beta", a, b)
    _refuse_complex("beta", a)
    return gammasgn(a) * gammasgn(b) * gammasgn(a + b) * lax.exp(betaln(a, b))


def factorial(n: ArrayLike, exact: bool = False) -> Array:
    """Returns n!, which is gamma(n + 1).

    Args:
      n: an array of real numbers; integers are converted to the default float.
      exact: False.

    Returns:
      Float array of the shape of `n`; 0 where n is negative.

    Raises:
      NotImplementedError: `exact` is true.

    Examples:
      >>> onax.scipy.special.factorial(jnp.array([-1, 0, 1]))
      Array([0., 1., 1.], dtype=float32)
    """
    if exact:
        raise NotImplementedError("factorial with exact=True")
    (n,) = promote_args_inexact("factorial", n)
    return jnp.where(n < 0, 0, lax.exp(lax.lgamma(n + 1)))


def polygamma(n: ArrayLike, x: ArrayLike) -> Array:
    """Returns the derivative of order n of `digamma` at x.

    Args:
      n: an array of nonnegative integers.
      x: an array of real numbers that broadcasts with `n`.

    Returns:
      Float array of the common shape.

    Raises:
      ValueError: `n` is not of integers.

    Examples:
      >>> onax.scipy.special.polygamma(1, jnp.array([1.0])).round(4)
      Array([1.6449], dtype=float32)
    """
    n, x = check_arraylike("polygamma", n, x)
    if not dtypes.is_integer(dtypes.dtype(n)):
        raise ValueError(f"Argument `n` to polygamma must be of integer type. Got dtype {dtypes.dtype(n)}.")
    n, x = promote_args_inexact("polygamma", n, x)
    _refuse_complex("polygamma", x)
    return lax.polygamma(n, x)


def multigammaln(a: ArrayLike, d: ArrayLike) -> Array:
    """Returns the logarithm of the multivariate gamma function.

    It is the sum of gammaln(a - j / 2) over j < d, plus d (d - 1) / 4 * log(pi).

    Args:
      a: an array of numbers above (d - 1) / 2.
      d: the dimension, a positive int.

    Returns:
      Float array of the shape of `a`.

    Raises:
      TypeError: `d` is no integer.

    Examples:
      >>> onax.scipy.special.multigammaln(2.0, 1)
      Array(0., dtype=float32)
    """
    d = operator.index(d)
    (a,) = promote_args_inexact("multigammaln", a)
    size = constant_like(a, d * (d - 1) / 4 * math.log(np.pi))
    shifts = along_last_axis(np.arange(d, dtype=a.dtype) / a.dtype.type(2), a.ndim + 1)
    return jnp.sum(lax.lgamma(jnp.expand_dims(a, -1) - shifts), axis=-1) + size


def ndtri(p: ArrayLike) -> Array:
    """Returns the inverse of `ndtr`.

    Args:
      p: a float32 or float64 array of probabilities.

    Returns:
      Array of the shape and dtype of `p`.

    Raises:
      TypeError: another dtype.

    Examples:
      >>> onax.scipy.special.ndtri(jnp.array([0.0, 0.5, 1.0]))
      Array([-inf,   0.,  inf], dtype=float32)
    """
    p = _require_plain_float("ndtri", ensure_arraylike("ndtri", p))
    return lax.mul(constant_like(p, np.sqrt(2)), _erf_inv_for_ndtri(p))


def _erf_inv_for_ndtri(p):
    """erf_inv(2 p - 1) without cancellation for small p."""
    small = lax.bitwise_and(p > 0, p < 0.02)
    ends = lax.bitwise_or(p == 0, p == 1)  # infinite constants, so with derivative 0
    # Each branch is differentiated where it is not taken too, so its argument is harmless there.
    middle = jnp.where(lax.bitwise_or(small, ends), 0.5, p)
    near = lax.erf_inv(lax.sub(lax.mul(constant_like(p, 2), middle), constant_like(p, 1)))
    near = jnp.where(ends, jnp.where(p == 0, -np.inf, np.inf), near)
    return jnp.where(small, -erfc_inv_of_small(2 * jnp.where(small, p, 0.01)).astype(p.dtype), near)


@custom_jvp
def erfc_inv_of_small(q):
    """x with erfc(x) = q for 0 < q < 0.1: an asymptotic form, refined by Newton steps on log erfc."""
    log_q = jnp.log(q)
    w = jnp.sqrt(-2 * log_q)
    x = -(w - (jnp.log(w) + math.log(math.sqrt(2 * math.pi) / 2)) / w) / math.sqrt(2)
    for _ in range(6):
        tail = lax.erfc(-x)
        slope = 2 * jnp.exp(-x * x) / math.sqrt(math.pi)
        x = x - (jnp.log(tail) - log_q) * tail / slope
    return -x


erfc_inv_of_small.defjvps(lambda g, x, q: g * (-math.sqrt(math.pi) / 2) * jnp.exp(x * x))


def log_ndtr(x: ArrayLike, series_order: int = 3) -> Array:
    """Returns the logarithm of `ndtr`, by an asymptotic series for very negative x.

    Args:
      x: a float32 or float64 array.
      series_order: the number of terms of the series; default 3.

    Returns:
      Array of the shape and dtype of `x`.

    Raises:
      TypeError: another dtype.
      ValueError: `series_order` is not in 0..30.

    Examples:
      >>> bool(jnp.isfinite(onax.scipy.special.log_ndtr(-100.0)))
      True
    """
    order = operator.index(series_order)
    if not 0 <= order <= 30:
        raise ValueError("series_order must be in [0, 30].")
    return _log_ndtr(_require_plain_float("log_ndtr", jnp.asarray(x)), order)


@partial(custom_jvp, nondiff_argnums=(1,))
def _log_ndtr(x, order):
    lower, upper = (-10, 5) if x.dtype == np.float32 else (-20, 8)
    middle = jnp.log(ndtr(jnp.clip(x, lower, upper)))
    left = jnp.minimum(x, lower)
    square = left * left
    total, sign, factor, power = 1, 1, 1.0, 1
    for n in range(1, order + 1):
        factor, sign, power = factor * (2 * n - 1), -sign, power * square
        total = total + sign * factor / power
    far = -0.5 * square - jnp.log(-left) - 0.5 * math.log(2 * np.pi) + jnp.log(total)
    return jnp.where(x > upper, -ndtr(-x), jnp.where(x > lower, middle, far))


@_log_ndtr.defjvp
def _log_ndtr_jvp(order, primals, tangents):
    (x,), (g,) = primals, tangents
    out = _log_ndtr(x, order)
    return out, lax.mul(g, lax.exp(-0.5 * jnp.square(x) - 0.5 * math.log(2 * np.pi) - out))
