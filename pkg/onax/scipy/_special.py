"""Behind onax.scipy.special."""

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._control.custom_jvp import custom_jvp
from onax._ground import dtypes
from onax.nn._normalization import log_softmax as _log_softmax
from onax.nn._normalization import softmax as _softmax
from onax.numpy._promotion import array_of, promote_args_inexact
from onax.numpy._ufuncs import constant_like
from onax.numpy._where import where as _where


def _inexact(name, function, doc):
    """A function of one array that is one lax function of a float."""

    def special(x):
        return function(*promote_args_inexact(name, x))

    special.__name__ = special.__qualname__ = name
    special.__doc__ = doc
    return special


erf = _inexact("erf", lambda x: lax.erf(x), "The error function.")
erfc = _inexact("erfc", lambda x: lax.erfc(x), "1 - erf(x), exact for large x.")
erfinv = _inexact("erfinv", lambda x: lax.erf_inv(x), "The inverse of erf.")
gammaln = _inexact("gammaln", lambda x: lax.lgamma(x), "The logarithm of |gamma(x)|.")
digamma = _inexact("digamma", lambda x: lax.digamma(x), "The derivative of gammaln.")
expit = _inexact("expit", lambda x: lax.logistic(x), "1 / (1 + exp(-x)).")


@custom_jvp
def logit(x):
    """log(x / (1 - x)): the inverse of expit."""
    (x,) = promote_args_inexact("logit", x)
    return lax.log(lax.div(x, lax.sub(constant_like(x, 1), x)))


logit.defjvps(lambda g, out, x: lax.div(g, lax.mul(x, lax.sub(constant_like(x, 1), x))))


def _zero_times(name, x, y, logarithm):
    """x * log(y), 0 where x is 0 and y is no nan."""
    x, y = promote_args_inexact(name, x, y)
    counts = lax.bitwise_or(lax.ne(x, constant_like(x, 0)), lax.ne(y, y))
    product = lax.mul(x, logarithm(y))
    return _where(counts, product, lax.full_like(product, 0))


@custom_jvp
def xlogy(x, y):
    """x * log(y), and 0 for x = 0."""
    return _zero_times("xlogy", x, y, lax.log)


@xlogy.defjvp
def _xlogy_jvp(primals, tangents):
    (x, y), (gx, gy) = primals, tangents
    return xlogy(x, y), lax.add(lax.mul(gx, lax.log(y)), lax.mul(gy, lax.div(x, y)))


@custom_jvp
def xlog1py(x, y):
    """x * log(1 + y), and 0 for x = 0."""
    return _zero_times("xlog1py", x, y, lax.log1p)


@xlog1py.defjvp
def _xlog1py_jvp(primals, tangents):
    (x, y), (gx, gy) = primals, tangents
    slope = lax.div(x, lax.add(constant_like(y, 1), y))
    return xlog1py(x, y), lax.add(lax.mul(gx, lax.log1p(y)), lax.mul(gy, slope))


@custom_jvp
def _xlogx(x):
    return xlogy(x, x)


@_xlogx.defjvp
def _xlogx_jvp(primals, tangents):
    (x,), (g,) = primals, tangents
    return _xlogx(x), lax.mul(g, lax.add(lax.log(x), constant_like(x, 1)))


def entr(x):
    """-x * log(x); 0 at 0, -inf for negative x."""
    (x,) = promote_args_inexact("entr", x)
    if dtypes.is_complex(x.dtype):
        raise ValueError("entr does not support complex-valued inputs.")
    negative = lax.lt(x, constant_like(x, 0))
    return lax.select(negative, lax.full_like(x, -np.inf), lax.neg(_xlogx(x)))


def _p_log_ratio(name, p, q):
    """p * log(p / q) where both are positive, 0 for p = 0 <= q, inf elsewhere; and that first mask."""
    p, q = promote_args_inexact(name, p, q)
    zero = constant_like(p, 0)
    both = lax.bitwise_and(lax.gt(p, zero), lax.gt(q, zero))
    none = lax.bitwise_and(lax.eq(p, zero), lax.ge(q, zero))
    safe_p, safe_q = jnp.where(both, p, 1), jnp.where(both, q, 1)
    ratio = lax.sub(_xlogx(safe_p), xlogy(safe_p, safe_q))
    return p, q, jnp.where(both, ratio, jnp.where(none, p.dtype.type(0), np.inf))


def rel_entr(p, q):
    """p * log(p / q) where both are positive; 0 for p = 0 <= q; inf elsewhere."""
    return _p_log_ratio("rel_entr", p, q)[2]


def kl_div(p, q):
    """rel_entr(p, q) - p + q."""
    p, q, found = _p_log_ratio("kl_div", p, q)
    return lax.add(lax.sub(found, p), q)


def ndtr(x):
    """The normal distribution function."""
    (x,) = promote_args_inexact("ndtr", x)
    if dtypes.is_complex(x.dtype):
        raise ValueError("ndtr does not support complex-valued inputs.")
    root, one, two, half = (constant_like(x, v) for v in (np.sqrt(0.5), 1, 2, 0.5))
    w = lax.mul(x, root)
    z = lax.abs(w)
    near, middle = lax.lt(z, root), lax.add(one, lax.erf(w))
    tail = lax.select(lax.gt(w, constant_like(x, 0)), lax.sub(two, lax.erfc(z)), lax.erfc(z))
    return lax.mul(half, lax.select(near, middle, tail))


def softmax(x, /, *, axis=None):
    """exp(x) divided by its sum over the axes, all by default."""
    x = array_of("softmax", x)
    return _softmax(x, axis)


def log_softmax(x, /, *, axis=None):
    """The logarithm of softmax."""
    x = array_of("log_softmax", x)
    return _log_softmax(x, axis)
