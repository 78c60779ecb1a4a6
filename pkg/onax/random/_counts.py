"""Counts, drawn by inversion where few are expected and by Hormann's transformed rejection elsewhere.

All numbers of a call go through the same loops, and one key serves them all, as in JAX: a number is what its last
accepted candidate says, so it depends on how many rounds the slowest one takes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._control.jit_call import staged
from onax._ground import dtypes
from onax._ground.typing import ArrayLike, DimSize, DTypeLike, ShardingLike
from onax._native.array import Array
from onax._prims.convert import convert
from onax._prims.placement import with_out_sharding
from onax._prims.shaping import canonical_shape
from onax._prims.special_series import stirling
from onax.numpy._creation import broadcast_to
from onax.numpy._promotion import ensure_arraylike, ensure_arraylikes, promote_dtypes_inexact
from onax.numpy._where import where
from onax.random._bits import check_shape, float_dtype
from onax.random._continuous import _uniform, scalar
from onax.random._keys import check_single_key, split

# ---- Poisson's distribution: Knuth's products of uniform numbers; Hormann's PTRS ("The transformed rejection method
# for generating Poisson random variables", 1993)

_FEW = 10  # expected counts below this use inversion

# Lanczos' approximation of gamma (g = 7, nine terms), as XLA computes lgamma: which candidates are accepted hangs on
# its rounding.
_LANCZOS = (
    676.520368121885098567009190444019, -1259.13921672240287047156078755283, 771.3234287776530788486528258894,
    -176.61502916214059906584551354, 12.507343278686904814458936853, -0.13857109526572011689554707,
    9.984369578019570859563e-6, 1.50563273514931155834e-7,
)  # fmt: skip


def _log_factorial(k):
    """log(k!) of floats with integral values."""
    c = lambda value: scalar(value, k.dtype)
    total = c(0.99999999999980993227684700473478)
    for i, coefficient in enumerate(_LANCZOS):
        total = lax.add(total, lax.div(c(coefficient), lax.add(k, c(i + 1))))
    t = lax.add(c(7.5), k)
    log_t = lax.add(c(np.log(7.5)), lax.log1p(lax.div(k, c(7.5))))
    power = lax.mul(lax.sub(lax.add(k, c(0.5)), lax.div(t, log_t)), log_t)
    return lax.add(lax.add(c(np.log(2 * np.pi) / 2), power), lax.log(total))


def _poisson_knuth(key, rate):
    """Knuth's algorithm: counts the uniform numbers whose product stays above exp(-rate)."""

    def undecided(carry):
        return jnp.any(lax.gt(carry[2], lax.neg(rate)))

    def step(carry):
        count, key, logarithm = carry
        keys = split(key)
        count = where(lax.gt(logarithm, lax.neg(rate)), lax.add(count, np.int32(1)), count)
        u = _uniform(keys[1], 0.0, 1.0, shape=rate.shape, dtype=rate.dtype)
        return count, keys[0], lax.add(logarithm, lax.log(u))

    start = (jnp.zeros(rate.shape, np.int32), key, jnp.zeros(rate.shape, rate.dtype))
    return lax.sub(lax.while_loop(undecided, step, start)[0], np.int32(1))


def _poisson_rejection(key, rate):
    c = lambda value: scalar(value, rate.dtype)
    log_rate = lax.log(rate)
    b = lax.add(c(0.931), lax.mul(c(2.53), lax.sqrt(rate)))
    a = lax.add(c(-0.059), lax.mul(c(0.02483), b))
    inverse = lax.add(c(1.1239), lax.div(c(1.1328), lax.sub(b, c(3.4))))
    surely = lax.sub(c(0.9277), lax.div(c(3.6224), lax.sub(b, c(2))))

    def step(carry):
        key, count, done = carry
        keys = split(key, 3)
        u = lax.sub(_uniform(keys[1], 0.0, 1.0, shape=rate.shape, dtype=rate.dtype), c(0.5))
        v = _uniform(keys[2], 0.0, 1.0, shape=rate.shape, dtype=rate.dtype)
        height = lax.sub(c(0.5), lax.abs(u))
        slope = lax.add(lax.div(lax.mul(c(2), a), height), b)
        k = lax.floor(lax.add(lax.add(lax.mul(slope, u), rate), c(0.43)))
        density = lax.add(lax.div(a, lax.mul(height, height)), b)
        log_v = lax.log(lax.div(lax.mul(v, inverse), density))
        bound = lax.sub(lax.add(lax.neg(rate), lax.mul(k, log_rate)), _log_factorial(k))
        accepted = (height >= c(0.07)) & (v <= surely)
        refused = (k < c(0)) | ((height < c(0.013)) & (v > height))
        accepted = accepted | (~refused & (log_v <= bound))
        return keys[0], where(accepted, k, count), done | accepted

    start = (key, jnp.full(rate.shape, -1, rate.dtype), jnp.zeros(rate.shape, bool))
    return lax.while_loop(lambda carry: ~jnp.all(carry[2]), step, start)[1]


@staged("_poisson", static_argnames=("shape", "dtype"))
def _poisson(key, lam, *, shape, dtype):
    few = lax.lt(lam, scalar(_FEW, lam.dtype)) | lax.ne(lam, lam)
    small = where(few, lam, scalar(0, lam.dtype))
    large = where(few, scalar(1e5, lam.dtype), lam)
    # The loop is skipped if no element needs rejection, because its result would not be used.
    many = lax.cond(jnp.all(few), lambda key, rate: jnp.zeros_like(rate), _poisson_rejection, key, large)
    out = where(few, convert(_poisson_knuth(key, small), dtype), convert(many, dtype))
    return where(lax.eq(lam, scalar(0, lam.dtype)), scalar(0, dtype), out)


def poisson(
    key: ArrayLike,
    lam: ArrayLike,
    shape: Sequence[DimSize] | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Draws numbers of events of which `lam` are expected.

    Args:
      key: one key, from `onax.random.key`.
      lam: the expected number, taken in float32; the result is -1 where it is negative or NaN.
      shape: the shape of the result, to which the parameters broadcast; default None, their common shape.
      dtype: an integer dtype; default int32, with 64 bits enabled int64.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of shape `shape` and dtype `dtype`.

    Raises:
      ValueError: another dtype, or shapes that do not broadcast.
      NotImplementedError: a key of another generator than threefry2x32.

    Examples:
      >>> x = onax.random.poisson(onax.random.key(0), 3.0, (1000,))
      >>> abs(x.mean() - 3) < 0.3
      Array(True, dtype=bool)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, poisson, key, lam, shape, dtype)
    key = check_single_key("poisson", key)
    generator = key.dtype._impl
    if generator.name != "threefry2x32":
        raise NotImplementedError(f"`poisson` is only implemented for the threefry2x32 RNG, not {generator.tag}")
    dtype = dtypes.check_user_dtype(int if dtype is None else dtype)
    if not dtypes.issubdtype(dtype, np.integer):
        raise ValueError(f"Invalid integer data type {dtype.kind!r}.")
    lam = ensure_arraylike("poisson", lam)
    lam = broadcast_to(lam, lam.shape if shape is None else canonical_shape(shape))
    return _poisson(key, convert(lam, np.dtype(np.float32)), shape=lam.shape, dtype=dtype)


# ---- the binomial distribution: geometric gaps between successes; Hormann's BTRS ("The generation of binomial random
# variates", 1993)

_STIRLING = 10  # from this k on, the error of Stirling's formula is approximated by one value, as in JAX


def _stirling_error_table(dtype):
    """The error of Stirling's formula for log(k!), for k = 0 ... 9, and one value for larger k."""
    k = np.arange(_STIRLING + 0.0)
    exact = np.cumsum(np.log(np.maximum(k, 1))) - ((k + 0.5) * np.log(k + 1) - (k + 1) + np.log(2 * np.pi) / 2)
    c = lambda value: scalar(value, dtype)
    square = c(_STIRLING) * c(_STIRLING)
    first, second, third = (c(coefficient) for coefficient in stirling(3))
    beyond = (first + (second + third / square) / square) / c(_STIRLING)
    return np.append(exact.astype(dtype), beyond)


def _stirling_error(k):
    c = lambda value: scalar(value, k.dtype)
    index = lax.clamp(c(0), k, c(_STIRLING))
    return jnp.asarray(_stirling_error_table(k.dtype))[convert(index, np.dtype(np.int32))]


def _binomial_inversion(key, count, p):
    """Inversion: counts the geometric gaps between successes that fit into `count` trials."""
    log_q = lax.abs(lax.log1p(lax.neg(p)))  # 0 without a sign, so that p = 0 makes all gaps infinite

    def step(carry):
        key, successes, trials = carry
        keys = split(key)
        successes = where(lax.le(trials, count), lax.add(successes, scalar(1, p.dtype)), successes)
        u = _uniform(keys[0], 0.0, 1.0, shape=p.shape, dtype=p.dtype)
        gap = lax.ceil(lax.div(lax.abs(lax.log(u)), log_q))
        return keys[1], successes, lax.add(trials, gap)

    start = (key, jnp.zeros(p.shape, p.dtype), jnp.zeros(p.shape, p.dtype))
    successes = lax.while_loop(lambda carry: jnp.any(lax.le(carry[2], count)), step, start)[1]
    return lax.sub(successes, scalar(1, p.dtype))


def _binomial_btrs(key, count, p):
    c = lambda value: scalar(value, p.dtype)
    q = c(1) - p
    deviation = lax.sqrt(count * p * q)
    b = c(1.15) + c(2.53) * deviation
    a = c(-0.0873) + c(0.0248) * b + c(0.01) * p
    middle = count * p + c(0.5)
    surely = c(0.92) - c(4.2) / b
    odds = p / q
    alpha = (c(2.83) + c(5.1) / b) * deviation
    mode = lax.floor((count + c(1)) * p)

    def bound(k):
        ahead = (mode + c(0.5)) * lax.log((mode + c(1)) / (odds * (count - mode + c(1))))
        ahead = ahead + (count + c(1)) * lax.log((count - mode + c(1)) / (count - k + c(1)))
        ahead = ahead + (k + c(0.5)) * lax.log(odds * (count - k + c(1)) / (k + c(1)))
        return (
            ahead
            + _stirling_error(mode)
            + _stirling_error(count - mode)
            - _stirling_error(k)
            - _stirling_error(count - k)
        )

    def step(carry):
        key, out, done = carry
        keys = split(key, 3)
        u = _uniform(keys[1], 0.0, 1.0, shape=p.shape, dtype=p.dtype) - c(0.5)
        v = _uniform(keys[2], 0.0, 1.0, shape=p.shape, dtype=p.dtype)
        height = c(0.5) - lax.abs(u)
        k = lax.floor((c(2) * a / height + b) * u + middle)
        log_v = lax.log(v * alpha / (a / (height * height) + b))
        accepted = (height >= c(0.07)) & (v <= surely)
        accepted = accepted | (~((k < c(0)) | (k > count)) & (log_v <= bound(k)))
        return keys[0], where(accepted, k, out), done | accepted

    start = (key, jnp.full(p.shape, -1, p.dtype), jnp.zeros(p.shape, bool))
    return lax.while_loop(lambda carry: ~jnp.all(carry[2]), step, start)[1]


@staged("_binomial", static_argnames=("shape", "dtype"))
def _binomial(key, count, p, *, shape, dtype):
    (p,) = promote_dtypes_inexact(p)  # the dtype of p, not that of the result, is the one to draw in
    count, p = (broadcast_to(convert(x, p.dtype), shape) for x in (count, p))
    c = lambda value: scalar(value, p.dtype)
    lower = lax.lt(p, c(0.5))
    q = where(lower, p, c(1) - p)
    no_count = lax.ne(count, count) | (count < c(0))
    endless = lax.eq(lax.abs(count), c(np.inf))
    no_number, negative = lax.ne(q, q), q < c(0)
    q = where(no_number | negative, c(0.01), q)
    whole = lax.floor(count)
    some = where(endless, c(1), whole)  # infinite counts are not sampled: their result is set below
    few = no_count | (where(endless, c(1), count) * q <= c(_FEW))
    large, even = where(few, c(1e4), some), where(few, c(0.5), q)
    gaps = _binomial_inversion(key, where(few, some, c(0)), q)
    many = lax.cond(jnp.all(few), lambda key, count, p: jnp.zeros_like(p), _binomial_btrs, key, large, even)
    out = where(few, gaps, many)
    invalid = negative | no_number | no_count
    out = where(invalid, c(np.nan), out)
    out = where(endless & ~invalid, c(np.inf), out)
    out, whole = convert(out, dtype), convert(whole, dtype)
    return where(lower | no_count | no_number | endless, out, whole - out)


def binomial(
    key: ArrayLike, n: ArrayLike, p: ArrayLike, shape: Sequence[DimSize] | None = None, dtype: DTypeLike | None = None
) -> Array:
    """Draws the numbers of successes among n trials that succeed with probability p.

    Args:
      key: one key, from `onax.random.key`.
      n: the number of trials; NaN results where it is negative.
      p: the probability; NaN results where it is not in [0, 1].
      shape: the shape of the result, to which the parameters broadcast; default None, their common shape.
      dtype: a floating dtype; default float32, with 64 bits enabled float64.

    Returns:
      Array of shape `shape` and dtype `dtype`, of whole numbers.

    Raises:
      ValueError: shapes that do not broadcast, or a dtype that is not floating.

    Examples:
      >>> x = onax.random.binomial(onax.random.key(0), 10, 0.5, (100,))
      >>> x.dtype, bool(((0 <= x) & (x <= 10)).all())
      (dtype('float32'), True)
    """
    key = check_single_key("binomial", key)
    dtype = float_dtype("binomial", dtype)
    shape = check_shape("binomial", shape, np.shape(n), np.shape(p))
    n, p = ensure_arraylikes("binomial", n, p)
    return _binomial(key, n, p, shape=shape, dtype=dtype)


def multinomial(
    key: ArrayLike,
    n: ArrayLike,
    p: ArrayLike,
    *,
    shape: Sequence[DimSize] | None = None,
    dtype: DTypeLike | None = None,
    unroll: int = 1,
) -> Array:
    """Draws how many of n things fall into each of several bins.

    Args:
      key: one key, from `onax.random.key`.
      n: the number of things, which broadcasts to ``shape[:-1]``.
      p: the probabilities of the bins, (..., k), which broadcast to `shape`.
      shape: the shape of the result, the axis of the bins last; default that of `p`.
      dtype: the dtype of the counts; default float32, with 64 bits enabled float64.
      unroll: how many bins a step of the loop takes, as in `lax.scan`; default 1.

    Returns:
      Array of shape `shape`, whose sums over the last axis are n.

    Raises:
      ValueError: shapes that do not fit.

    Examples:
      >>> x = onax.random.multinomial(onax.random.key(0), 10, jnp.array([0.2, 0.3, 0.5]))
      >>> x.shape, float(x.sum())
      ((3,), 10.0)
    """
    key = check_single_key("multinomial", key)
    n, p = promote_dtypes_inexact(*ensure_arraylikes("multinomial", n, p))
    if not p.ndim:
        raise ValueError("axis -1 is out of bounds for array of dimension 0")
    shape = p.shape if shape is None else canonical_shape(shape)
    n = broadcast_to(n, shape[:-1])
    p = broadcast_to(p, shape)
    rest = jnp.flip(jnp.cumsum(jnp.flip(p, -1), -1), -1)
    shares = p / where(lax.eq(rest, scalar(0, p.dtype)), scalar(1, p.dtype), rest)

    def step(left, bin_):
        share, key = bin_
        count = binomial(key, left, jnp.clip(share, 0, 1), dtype=p.dtype)
        return left - count, count

    keys = split(key, shape[-1])
    _, counts = lax.scan(step, n, (jnp.moveaxis(shares, -1, 0), keys), unroll=unroll)
    return jnp.moveaxis(counts, 0, -1).astype(float if dtype is None else dtype)
