"""The gamma distribution and distributions derived from it.

Numbers are drawn by rejection, in the primitive `random_gamma`, and have derivatives in the shape by implicit
reparameterisation.  On the same key they are JAX's but for a rare few (about one in 10^6), where rounding decides
otherwise whether a candidate is accepted.
"""

import operator

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._control.jit_call import staged
from onax._prims.convert import convert
from onax._prims.random import draw_gamma
from onax._prims.shaping import canonical_shape, refuse_sharding
from onax.numpy._creation import broadcast_to
from onax.numpy._promotion import ensure_arraylike
from onax.random._bits import broadcast_parameter, check_arguments, check_shape, float_dtype
from onax.random._continuous import _exponential, _normal, scalar
from onax.random._discrete import _rademacher
from onax.random._keys import check_single_key, split


@staged("_gamma", static_argnames=("shape", "dtype", "log_space"))
def _gamma(key, a, *, shape, dtype, log_space):
    return draw_gamma(key, broadcast_parameter("gamma", a, dtype, shape), log_space)


def gamma(key, a, shape=None, dtype=None, *, out_sharding=None):
    """Numbers of gamma's distribution of shape a and scale 1.  `a` broadcasts to `shape`, which is a's by default.

    Small shapes give numbers too small for the dtype: `loggamma` gives their logarithms.
    Raises ValueError for a dtype that is not floating and for a shape that `a` does not fit.
    """
    return _draw(key, a, shape, dtype, out_sharding, log_space=False)


def loggamma(key, a, shape=None, dtype=None, *, out_sharding=None):
    """Logarithms of the numbers of `gamma`, whose arguments and errors are the same; right for small shapes too."""
    return _draw(key, a, shape, dtype, out_sharding, log_space=True)


def _draw(key, a, shape, dtype, out_sharding, log_space):
    key, dtype, shape = check_arguments("gamma", key, dtype, shape, out_sharding, a)
    return _gamma(key, ensure_arraylike("gamma", a), shape=shape, dtype=dtype, log_space=log_space)


@staged("_beta", static_argnames=("shape", "dtype"))
def _beta(key, a, b, *, shape, dtype):
    a, b = broadcast_parameter("beta", a, dtype), broadcast_parameter("beta", b, dtype)
    keys = split(key)
    log_a = _gamma(keys[0], broadcast_to(a, shape), shape=shape, dtype=dtype, log_space=True)
    log_b = _gamma(keys[1], broadcast_to(b, shape), shape=shape, dtype=dtype, log_space=True)
    largest = lax.max(log_a, log_b)
    first, second = lax.exp(lax.sub(log_a, largest)), lax.exp(lax.sub(log_b, largest))
    return lax.div(first, lax.add(first, second))


def beta(key, a, b, shape=None, dtype=None, *, out_sharding=None):
    """Numbers of the beta distribution.  a and b broadcast to `shape`, by default to each other; ValueError else."""
    key, dtype, shape = check_arguments("beta", key, dtype, shape, out_sharding, a, b)
    return _beta(key, a, b, shape=shape, dtype=dtype)


@staged("_dirichlet", static_argnames=("shape", "dtype"))
def _dirichlet(key, alpha, *, shape, dtype):
    alpha = broadcast_parameter("dirichlet", alpha, dtype)
    logarithms = _gamma(key, alpha, shape=shape + alpha.shape[-1:], dtype=dtype, log_space=True)
    largest = lax.stop_gradient(jnp.max(logarithms, -1, keepdims=True, initial=-np.inf))
    parts = lax.exp(lax.sub(logarithms, broadcast_to(largest, logarithms.shape)))
    return lax.div(parts, broadcast_to(jnp.sum(parts, -1, keepdims=True), parts.shape))


def dirichlet(key, alpha, shape=None, dtype=None, *, out_sharding=None):
    """Points of a simplex, of Dirichlet's distribution: along the last axis they sum to 1.

    alpha   concentrations along the last axis; the axes before it broadcast to `shape`
    shape   of the points, the last axis not counted

    Raises ValueError for an alpha of rank 0, and where shapes or the dtype do not fit.
    """
    key = check_single_key("dirichlet", key)
    dtype = float_dtype("dirichlet", dtype)
    refuse_sharding("dirichlet", out_sharding)
    if np.ndim(alpha) < 1:
        raise ValueError(f"dirichlet requires alpha.ndim >= 1, got alpha.ndim == {np.ndim(alpha)}")
    shape = check_shape("dirichlet", shape, np.shape(alpha)[:-1])
    return _dirichlet(key, alpha, shape=shape, dtype=dtype)


@staged("_chisquare", static_argnames=("shape", "dtype"))
def _chisquare(key, df, *, shape, dtype):
    two = scalar(2.0, dtype)
    half = lax.div(broadcast_parameter("chisquare", df, dtype), two)
    return lax.mul(lax.exp(_gamma(key, half, shape=shape, dtype=dtype, log_space=True)), two)


def chisquare(key, df, shape=None, dtype=None, *, out_sharding=None):
    """Sums of df squared normal numbers; df need not be whole.  It broadcasts to `shape`; ValueError else."""
    key = check_single_key("chisquare", key)
    dtype = float_dtype("chisquare", dtype)
    refuse_sharding("chisquare", out_sharding)
    return _chisquare(key, df, shape=check_shape("chisquare", shape, np.shape(df)), dtype=dtype)


@staged("_t", static_argnames=("shape", "dtype"))
def _t(key, df, *, shape, dtype):
    df = broadcast_parameter("t", df, dtype)
    keys = split(key)
    normal = _normal(keys[0], shape=shape, dtype=dtype)
    half = lax.div(df, scalar(2.0, dtype))
    gamma = _gamma(keys[1], half, shape=shape, dtype=dtype, log_space=False)
    return lax.mul(normal, lax.sqrt(lax.div(broadcast_to(half, shape), gamma)))


def t(key, df, shape=None, dtype=None, *, out_sharding=None):
    """Numbers of Student's t distribution of df degrees of freedom.  df broadcasts to `shape`; ValueError else."""
    key = check_single_key("t", key)
    dtype = float_dtype("t", dtype)
    refuse_sharding("t", out_sharding)
    return _t(key, df, shape=check_shape("t", shape, np.shape(df)), dtype=dtype)


@staged("_f", static_argnames=("shape", "dtype"))
def _f(key, dfnum, dfden, *, shape, dtype):
    above, below = broadcast_parameter("f", dfnum, dtype), broadcast_parameter("f", dfden, dtype)
    keys = split(key)
    upper = _chisquare(keys[1], above, shape=shape, dtype=dtype)
    lower = _chisquare(keys[0], below, shape=shape, dtype=dtype)
    above, below = broadcast_to(above, shape), broadcast_to(below, shape)
    return lax.div(lax.div(upper, above), lax.div(lower, below))


def f(key, dfnum, dfden, shape=None, dtype=None, *, out_sharding=None):
    """Numbers of the F distribution: quotients of chi-square numbers, each over its degrees of freedom.

    dfnum and dfden broadcast to `shape`, by default to each other; ValueError else.
    """
    key, dtype, shape = check_arguments("f", key, dtype, shape, out_sharding, dfnum, dfden)
    return _f(key, dfnum, dfden, shape=shape, dtype=dtype)


@staged("_generalized_normal", static_argnames=("shape", "dtype"))
def _generalized_normal(key, p, *, shape, dtype):
    keys = split(key)
    inverse = 1 / p
    gamma = _gamma(keys[0], inverse, shape=shape, dtype=dtype, log_space=False)
    signs = _rademacher(keys[1], shape=shape, dtype=dtype)
    return lax.mul(signs, jnp.power(gamma, convert(inverse, dtype)))


def generalized_normal(key, p, shape=(), dtype=None, *, out_sharding=None):
    """Numbers whose density is as exp(-|x|^p): p = 2 gives normal numbers of variance 1/2, p = 1 those of Laplace.

    Raises ValueError for a dtype that is not floating and for a p that does not broadcast to `shape`.
    """
    key = check_single_key("generalized_normal", key)
    dtype = float_dtype("gamma", dtype)
    refuse_sharding("generalized_normal", out_sharding)
    shape = check_shape("gamma", canonical_shape(shape), np.shape(p))
    return _generalized_normal(key, ensure_arraylike("generalized_normal", p), shape=shape, dtype=dtype)


@staged("_ball", static_argnames=("d", "shape", "dtype"))
def _ball(key, p, *, d, shape, dtype):
    keys = split(key)
    direction = _generalized_normal(keys[0], p, shape=(*shape, d), dtype=dtype)
    beyond = _exponential(keys[1], shape=shape, dtype=dtype)
    exponent = p if jnp.issubdtype(p.dtype, np.integer) else convert(p, dtype)
    size = lax.add(jnp.sum(jnp.power(lax.abs(direction), exponent), -1), beyond)
    return lax.div(direction, broadcast_to(jnp.power(size, convert(1 / p, dtype))[..., None], direction.shape))


def ball(key, d, p=2, shape=(), dtype=None, *, out_sharding=None):
    """Points spread evenly over the unit ball of R^d in the norm of order p: an array of shape `shape + (d,)`.

    Raises TypeError for a d that is not an integer, ValueError for a dtype that is not floating.
    """
    key = check_single_key("ball", key)
    dtype = float_dtype("gamma", dtype)
    refuse_sharding("ball", out_sharding)
    d = operator.index(d)
    return _ball(key, ensure_arraylike("ball", p), d=d, shape=canonical_shape(shape), dtype=dtype)
