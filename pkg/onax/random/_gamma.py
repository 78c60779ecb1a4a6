"""The gamma distribution and distributions derived from it.

Numbers are drawn by rejection, in the primitive `random_gamma`, and have derivatives in the shape by implicit
reparameterisation.  On the same key they are JAX's but for a rare few (about one in 10^6), where rounding decides
otherwise whether a candidate is accepted.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._control.jit_call import staged
from onax._ground.typing import ArrayLike, DimSize, DTypeLike, ShardingLike
from onax._native.array import Array
from onax._prims.placement import with_out_sharding
from onax._prims.random import draw_gamma
from onax._prims.shaping import canonical_shape
from onax.numpy._creation import broadcast_to
from onax.numpy._promotion import ensure_arraylike
from onax.random._bits import broadcast_parameter, check_arguments, check_shape, float_dtype
from onax.random._continuous import _exponential, _normal, scalar
from onax.random._discrete import _rademacher
from onax.random._keys import check_single_key, split


@staged("_gamma", static_argnames=("shape", "dtype", "log_space"))
def _gamma(key, a, *, shape, dtype, log_space):
    return draw_gamma(key, broadcast_parameter("gamma", a, dtype, shape), log_space)


def gamma(
    key: ArrayLike,
    a: ArrayLike,
    shape: Sequence[DimSize] | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Draws numbers of the gamma distribution of scale 1.

    Marsaglia's and Tsang's (2000).

    Args:
      shape parameter near 0 gives numbers too small for the dtype: `loggamma` gives their logarithms.  The method is
      key: one key, from `onax.random.key`.
      a: the shape parameter, positive.
      shape: the shape of the result, to which the parameters broadcast; default None, their common shape.
      dtype: a floating dtype; default float32, with 64 bits enabled float64.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of shape `shape` and dtype `dtype`.

    Raises:
      ValueError: shapes that do not broadcast, or a dtype that is not floating.

    Examples:
      >>> x = onax.random.gamma(onax.random.key(0), 2.0, (1000,))
      >>> abs(x.mean() - 2) < 0.2
      Array(True, dtype=bool)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, gamma, key, a, shape, dtype)
    return _draw(key, a, shape, dtype, log_space=False)


def loggamma(
    key: ArrayLike,
    a: ArrayLike,
    shape: Sequence[DimSize] | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Draws logarithms of numbers of the gamma distribution, accurate for small shape parameters too.

    Args:
      key: one key, from `onax.random.key`.
      a: the shape parameter, positive.
      shape: the shape of the result, to which the parameters broadcast; default None, their common shape.
      dtype: a floating dtype; default float32, with 64 bits enabled float64.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of shape `shape` and dtype `dtype`.

    Raises:
      ValueError: shapes that do not broadcast, or a dtype that is not floating.

    Examples:
      >>> bool(jnp.isfinite(onax.random.loggamma(onax.random.key(0), 1e-3, (100,))).all())
      True
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, loggamma, key, a, shape, dtype)
    return _draw(key, a, shape, dtype, log_space=True)


def _draw(key, a, shape, dtype, log_space):
    name = "loggamma" if log_space else "gamma"
    key = check_single_key(name, key)
    dtype = float_dtype("gamma", dtype)
    shape = check_shape("gamma", shape, np.shape(a))
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


def beta(
    key: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    shape: Sequence[DimSize] | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Draws numbers of the beta distribution.

    Args:
      key: one key, from `onax.random.key`.
      a: the exponent of x plus 1, positive.
      b: the exponent of 1 - x plus 1, positive.
      shape: the shape of the result, to which the parameters broadcast; default None, their common shape.
      dtype: a floating dtype; default float32, with 64 bits enabled float64.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of shape `shape` and dtype `dtype`, of numbers in [0, 1].

    Raises:
      ValueError: shapes that do not broadcast, or a dtype that is not floating.

    Examples:
      >>> x = onax.random.beta(onax.random.key(0), 2.0, 2.0, (1000,))
      >>> abs(x.mean() - 0.5) < 0.05
      Array(True, dtype=bool)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, beta, key, a, b, shape, dtype)
    key, dtype, shape = check_arguments("beta", key, dtype, shape, a, b)
    return _beta(key, a, b, shape=shape, dtype=dtype)


@staged("_dirichlet", static_argnames=("shape", "dtype"))
def _dirichlet(key, alpha, *, shape, dtype):
    alpha = broadcast_parameter("dirichlet", alpha, dtype)
    logarithms = _gamma(key, alpha, shape=shape + alpha.shape[-1:], dtype=dtype, log_space=True)
    largest = lax.stop_gradient(jnp.max(logarithms, -1, keepdims=True, initial=-np.inf))
    parts = lax.exp(lax.sub(logarithms, broadcast_to(largest, logarithms.shape)))
    return lax.div(parts, broadcast_to(jnp.sum(parts, -1, keepdims=True), parts.shape))


def dirichlet(
    key: ArrayLike,
    alpha: ArrayLike,
    shape: Sequence[DimSize] | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Draws points of a simplex by the Dirichlet distribution.

    Args:
      key: one key, from `onax.random.key`.
      alpha: the concentrations, (..., k), positive.
      shape: the shape of the points without their last axis, to which that of `alpha` broadcasts; default alpha's.
      dtype: a floating dtype; default float32, with 64 bits enabled float64.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of shape ``shape + (k,)`` and dtype `dtype`, whose sums over the last axis are 1.

    Raises:
      ValueError: an `alpha` of shape (), shapes that do not fit, or a dtype that is not floating.

    Examples:
      >>> onax.random.dirichlet(onax.random.key(0), jnp.ones(3), (2,)).shape
      (2, 3)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, dirichlet, key, alpha, shape, dtype)
    key = check_single_key("dirichlet", key)
    dtype = float_dtype("dirichlet", dtype)
    if np.ndim(alpha) < 1:
        raise ValueError(f"dirichlet requires alpha.ndim >= 1, got alpha.ndim == {np.ndim(alpha)}")
    shape = check_shape("dirichlet", shape, np.shape(alpha)[:-1])
    return _dirichlet(key, alpha, shape=shape, dtype=dtype)


@staged("_chisquare", static_argnames=("shape", "dtype"))
def _chisquare(key, df, *, shape, dtype):
    two = scalar(2.0, dtype)
    half = lax.div(broadcast_parameter("chisquare", df, dtype), two)
    return lax.mul(lax.exp(_gamma(key, half, shape=shape, dtype=dtype, log_space=True)), two)


def chisquare(
    key: ArrayLike,
    df: ArrayLike,
    shape: Sequence[DimSize] | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Draws numbers of the chi-square distribution: sums of df squared normal numbers.

    Args:
      key: one key, from `onax.random.key`.
      df: the degrees of freedom, positive, not necessarily whole.
      shape: the shape of the result, to which the parameters broadcast; default None, their common shape.
      dtype: a floating dtype; default float32, with 64 bits enabled float64.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of shape `shape` and dtype `dtype`.

    Raises:
      ValueError: shapes that do not broadcast, or a dtype that is not floating.

    Examples:
      >>> x = onax.random.chisquare(onax.random.key(0), 3.0, (1000,))
      >>> abs(x.mean() - 3) < 0.3
      Array(True, dtype=bool)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, chisquare, key, df, shape, dtype)
    key, dtype, shape = check_arguments("chisquare", key, dtype, shape, df)
    return _chisquare(key, df, shape=shape, dtype=dtype)


@staged("_t", static_argnames=("shape", "dtype"))
def _t(key, df, *, shape, dtype):
    df = broadcast_parameter("t", df, dtype)
    keys = split(key)
    normal = _normal(keys[0], shape=shape, dtype=dtype)
    half = lax.div(df, scalar(2.0, dtype))
    gamma = _gamma(keys[1], half, shape=shape, dtype=dtype, log_space=False)
    return lax.mul(normal, lax.sqrt(lax.div(broadcast_to(half, shape), gamma)))


def t(
    key: ArrayLike,
    df: ArrayLike,
    shape: Sequence[DimSize] | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Draws numbers of Student's t distribution.

    Args:
      key: one key, from `onax.random.key`.
      df: the degrees of freedom, positive.
      shape: the shape of the result, to which the parameters broadcast; default None, their common shape.
      dtype: a floating dtype; default float32, with 64 bits enabled float64.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of shape `shape` and dtype `dtype`.

    Raises:
      ValueError: shapes that do not broadcast, or a dtype that is not floating.

    Examples:
      >>> onax.random.t(onax.random.key(0), 5.0, (3,)).shape
      (3,)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, t, key, df, shape, dtype)
    key, dtype, shape = check_arguments("t", key, dtype, shape, df)
    return _t(key, df, shape=shape, dtype=dtype)


@staged("_f", static_argnames=("shape", "dtype"))
def _f(key, dfnum, dfden, *, shape, dtype):
    above, below = broadcast_parameter("f", dfnum, dtype), broadcast_parameter("f", dfden, dtype)
    keys = split(key)
    upper = _chisquare(keys[1], above, shape=shape, dtype=dtype)
    lower = _chisquare(keys[0], below, shape=shape, dtype=dtype)
    above, below = broadcast_to(above, shape), broadcast_to(below, shape)
    return lax.div(lax.div(upper, above), lax.div(lower, below))


def f(
    key: ArrayLike,
    dfnum: ArrayLike,
    dfden: ArrayLike,
    shape: Sequence[DimSize] | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Draws numbers of the F distribution: quotients of chi-square numbers, each over its degrees of freedom.

    Args:
      key: one key, from `onax.random.key`.
      dfnum: the degrees of freedom of the numerator, positive.
      dfden: those of the denominator, positive.
      shape: the shape of the result, to which the parameters broadcast; default None, their common shape.
      dtype: a floating dtype; default float32, with 64 bits enabled float64.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of shape `shape` and dtype `dtype`.

    Raises:
      ValueError: shapes that do not broadcast, or a dtype that is not floating.

    Examples:
      >>> bool((onax.random.f(onax.random.key(0), 3.0, 5.0, (100,)) > 0).all())
      True
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, f, key, dfnum, dfden, shape, dtype)
    key, dtype, shape = check_arguments("f", key, dtype, shape, dfnum, dfden)
    return _f(key, dfnum, dfden, shape=shape, dtype=dtype)


@staged("_generalized_normal", static_argnames=("shape", "dtype"))
def _generalized_normal(key, p, *, shape, dtype):
    keys = split(key)
    inverse = 1 / p
    gamma = _gamma(keys[0], inverse, shape=shape, dtype=dtype, log_space=False)
    signs = _rademacher(keys[1], shape=shape, dtype=dtype)
    return signs * gamma**inverse


def generalized_normal(
    key: ArrayLike,
    p: float,
    shape: Sequence[DimSize] = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Draws numbers of a density proportional to exp(-|x|**p).

    For p = 2 they are normal with variance 1/2, for p = 1 Laplace's.

    Args:
      key: one key, from `onax.random.key`.
      p: the exponent, positive, which broadcasts to `shape`.
      shape: the shape of the result, a tuple of ints; default ``()``.
      dtype: a floating dtype; default float32, with 64 bits enabled float64.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of shape `shape` and dtype `dtype`.

    Raises:
      ValueError: a `p` that does not broadcast, or a dtype that is not floating.

    Examples:
      >>> onax.random.generalized_normal(onax.random.key(0), 2.0, (3,)).shape
      (3,)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, generalized_normal, key, p, shape, dtype)
    key = check_single_key("generalized_normal", key)
    dtype = float_dtype("gamma", dtype)
    shape = check_shape("gamma", canonical_shape(shape), np.shape(p))
    return _generalized_normal(key, ensure_arraylike("generalized_normal", p), shape=shape, dtype=dtype)


@staged("_ball", static_argnames=("d", "shape", "dtype"))
def _ball(key, p, *, d, shape, dtype):
    keys = split(key)
    direction = _generalized_normal(keys[0], p, shape=(*shape, d), dtype=dtype)
    beyond = _exponential(keys[1], shape=shape, dtype=dtype)
    size = jnp.sum(lax.abs(direction) ** p, -1) + beyond
    return direction / (size ** (1 / p))[..., None]


def ball(
    key: ArrayLike,
    d: int,
    p: float = 2,
    shape: Sequence[DimSize] = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Draws points uniformly from the unit ball of a norm.

    The method is that of Barthe et al. (2005).

    Args:
      key: one key, from `onax.random.key`.
      d: the dimension of the points, an int.
      p: the order of the norm, positive; default 2.
      shape: the shape of the result without its last axis; default ``()``.
      dtype: a floating dtype; default float32, with 64 bits enabled float64.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of shape ``shape + (d,)`` and dtype `dtype`.

    Raises:
      TypeError: `d` is not an integer.
      ValueError: a dtype that is not floating.

    Examples:
      >>> x = onax.random.ball(onax.random.key(0), 3, shape=(100,))
      >>> x.shape, bool((jnp.linalg.norm(x, axis=-1) <= 1).all())
      ((100, 3), True)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, ball, key, d, p, shape, dtype)
    key = check_single_key("ball", key)
    dtype = float_dtype("gamma", dtype)
    d = operator.index(d)
    return _ball(key, ensure_arraylike("ball", p), d=d, shape=canonical_shape(shape), dtype=dtype)
