"""Discrete distributions, shuffling and sampling."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._control.jit_call import staged
from onax._ground import dims, dtypes
from onax._ground.typing import ArrayLike, DimSize, DTypeLike, ShardingLike
from onax._native.array import Array
from onax._prims.convert import convert
from onax._prims.placement import with_out_sharding
from onax._prims.shaping import broadcast_to_rank, canonical_shape
from onax.numpy._arithmetic import clip
from onax.numpy._promotion import canonical_axis, ensure_arraylike, is_arraylike, promote_dtypes_inexact
from onax.random._bits import check_shape, draw_bits
from onax.random._continuous import _uniform, gumbel
from onax.random._keys import check_single_key, split

# ---- integers


def _clip_to_dtype(x, dtype):
    """Clips an integer array to the range of a dtype and converts it."""
    have, want = dtypes.iinfo(x.dtype), dtypes.iinfo(dtype)
    low, high = max(int(have.min), int(want.min)), min(int(have.max), int(want.max))
    return convert(clip(x, np.array(low, x.dtype)[()], np.array(high, x.dtype)[()]), dtype)


@staged("_randint", static_argnames=("shape", "dtype"))
def _randint(key, minval, maxval, *, shape, dtype):
    # Both arguments are integer arrays.  Two draws make one number modulo the span, which hides that the span does
    # not divide 2 ** width.
    info = dtypes.iinfo(dtype)
    beyond = lax.gt(maxval, np.array(min(int(info.max), int(dtypes.iinfo(maxval.dtype).max)), maxval.dtype)[()])
    low, high = (broadcast_to_rank(_clip_to_dtype(x, dtype), len(shape)) for x in (minval, maxval))
    beyond = broadcast_to_rank(beyond, len(shape))
    width = dtypes.itemsize_bits(dtype)
    keys = split(key)
    first, second = draw_bits(keys[0], width, shape), draw_bits(keys[1], width, shape)
    one, half = (np.array(v, first.dtype)[()] for v in (1, 1 << (width // 2)))
    span = convert(lax.sub(high, low), first.dtype)
    span = jnp.where(lax.le(high, low), one, span)
    span = jnp.where(lax.bitwise_and(beyond, lax.gt(high, low)), lax.add(span, one), span)
    weight = lax.rem(half, span)
    weight = lax.rem(lax.mul(weight, weight), span)
    offset = lax.add(lax.mul(lax.rem(first, span), weight), lax.rem(second, span))
    return lax.add(low, convert(lax.rem(offset, span), dtype))


def randint(
    key: ArrayLike,
    shape: Sequence[DimSize],
    minval: ArrayLike,
    maxval: ArrayLike,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Draws integers uniformly from [minval, maxval).

    The distribution is very slightly uneven where maxval - minval is not a power of two.

    Args:
      key: one key, from `onax.random.key`.
      shape: the shape of the result, a tuple of ints.
      minval: the lower bound, which broadcasts to `shape` and is limited to what the dtype holds; in 8 and 16 bits
        it is an int32 before.
      maxval: the upper bound, likewise; where it is not above `minval` the result is `minval`.
      dtype: an integer dtype; default int32, with 64 bits enabled int64.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of shape `shape` and dtype `dtype`.

    Raises:
      TypeError: another dtype.
      ValueError: bounds that do not broadcast to `shape`.

    Examples:
      >>> x = onax.random.randint(onax.random.key(0), (100,), 0, 6)
      >>> int(x.min()), int(x.max())
      (0, 5)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, randint, key, shape, minval, maxval, dtype)
    key = check_single_key("randint", key)
    canonical = dtypes.check_user_dtype(int if dtype is None else dtype)
    if not dtypes.issubdtype(canonical, np.integer):
        raise TypeError(f"randint only accepts integer dtypes, got {canonical}")
    shape = check_shape("randint", shape, np.shape(minval), np.shape(maxval))
    low, high = ensure_arraylike("randint", minval), ensure_arraylike("randint", maxval)
    narrow = dtypes.itemsize_bits(canonical) < 32  # these are drawn as int32, for less bias
    compute_dtype = np.dtype(np.int32) if narrow else canonical
    if narrow:
        low, high = convert(low, compute_dtype), convert(high, compute_dtype)
        info = dtypes.iinfo(canonical)
        least, most, beyond = (np.int32(bound) for bound in (info.min, info.max, int(info.max) + 1))
        low, high = clip(low, least, most), clip(high, least, beyond)
    low, high = (x if dtypes.is_integer(x.dtype) else x.astype(int) for x in (low, high))
    return convert(_randint(key, low, high, shape=shape, dtype=compute_dtype), canonical)


# ---- bits of a given probability


@staged("_bernoulli", static_argnames=("shape", "mode"))
def _bernoulli(key, p, *, shape, mode):
    dtype = p.dtype
    p = broadcast_to_rank(p, len(shape))
    if mode == "low":
        return lax.lt(_uniform(key, 0.0, 1.0, shape=shape, dtype=dtype), p)
    high, low = _uniform(key, 0.0, 1.0, shape=(2, *shape), dtype=dtype)
    eps = np.asarray(float(dtypes.finfo(dtype).eps)).astype(dtype)[()]
    return lax.lt(lax.mul(low, eps), lax.sub(p, high))


def bernoulli(
    key: ArrayLike,
    p: ArrayLike = 0.5,
    shape: Sequence[DimSize] | None = None,
    mode: str = "low",
    *,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Draws bools that are True with probability p.

    Args:
      key: one key, from `onax.random.key`.
      p: the probability, floating; default 0.5.
      shape: the shape of the result, to which the parameters broadcast; default None, their common shape.
      mode: "low": one uniform number decides; "high": the bits of two, for probabilities near 0.  Default "low".
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Bool array of shape `shape`.

    Raises:
      ValueError: another mode, or shapes that do not broadcast.
      TypeError: `p` is not floating.

    Examples:
      >>> onax.random.bernoulli(onax.random.key(0), jnp.array([0.0, 1.0]))
      Array([False,  True], dtype=bool)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, bernoulli, key, p, shape, mode)
    if mode not in ("low", "high"):
        raise ValueError(f"got {mode=}, expected 'high' or 'low'")
    key = check_single_key("bernoulli", key)
    p = ensure_arraylike("bernoulli", p)
    if not dtypes.issubdtype(p.dtype, np.floating):
        raise TypeError(f"bernoulli probability `p` must have a floating dtype, got {p.dtype}.")
    return _bernoulli(key, p, shape=check_shape("bernoulli", shape, p.shape), mode=mode)


@staged("_rademacher", static_argnames=("shape", "dtype"))
def _rademacher(key, *, shape, dtype):
    half = ensure_arraylike("rademacher", 0.5)
    signs = convert(_bernoulli(key, half, shape=shape, mode="low"), dtype)
    return (2 * signs - 1).astype(dtype)


def rademacher(
    key: ArrayLike,
    shape: Sequence[DimSize] = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Draws -1 or 1, each with probability 1/2.

    Args:
      key: one key, from `onax.random.key`.
      shape: the shape of the result, a tuple of ints; default ``()``.
      dtype: the dtype; default int32, with 64 bits enabled int64.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of shape `shape` and dtype `dtype`.

    Examples:
      >>> bool((abs(onax.random.rademacher(onax.random.key(0), (100,))) == 1).all())
      True
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, rademacher, key, shape, dtype)
    key = check_single_key("rademacher", key)
    dtype = dtypes.check_user_dtype(int if dtype is None else dtype)
    return _rademacher(key, shape=canonical_shape(shape), dtype=dtype)


@staged("_geometric", static_argnames=("shape", "dtype"))
def _geometric(key, p, *, shape, dtype):
    u = _uniform(key, 0.0, 1.0, shape=shape, dtype=p.dtype)
    zero, one = (np.asarray(v).astype(p.dtype)[()] for v in (0.0, 1.0))
    u = jnp.where(lax.eq(u, zero), one, u)
    rate = jnp.broadcast_to(lax.log1p(lax.neg(p)), shape)
    return convert(lax.add(lax.floor(lax.div(lax.log(u), rate)), one), dtype)


def geometric(
    key: ArrayLike,
    p: ArrayLike,
    shape: Sequence[DimSize] | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Draws the numbers of trials up to and including the first success.

    Args:
      key: one key, from `onax.random.key`.
      p: the probability of success of a trial.
      shape: the shape of the result, to which the parameters broadcast; default None, their common shape.
      dtype: an integer dtype; default int32, with 64 bits enabled int64.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of shape `shape` and dtype `dtype`, of numbers from 1 on.

    Raises:
      ValueError: a dtype that is not an integer one.

    Examples:
      >>> bool((onax.random.geometric(onax.random.key(0), 0.5, (100,)) >= 1).all())
      True
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, geometric, key, p, shape, dtype)
    key = check_single_key("geometric", key)
    canonical = dtypes.check_user_dtype(int if dtype is None else dtype)
    if not dtypes.issubdtype(canonical, np.integer):
        raise ValueError(f"dtype argument to `geometric` must be an int dtype, got {canonical}")
    (p,) = promote_dtypes_inexact(ensure_arraylike("geometric", p))
    if not dtypes.issubdtype(p.dtype, np.floating):
        raise ValueError(f"dtype argument to `uniform` must be a float dtype, got {p.dtype}")
    return _geometric(key, p, shape=check_shape("geometric", shape, p.shape), dtype=canonical)


# ---- categories


def categorical(
    key: ArrayLike,
    logits: ArrayLike,
    axis: int = -1,
    shape: Sequence[DimSize] | None = None,
    replace: bool = True,
    mode: str | None = None,
    *,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Draws indices with probabilities proportional to exp(logits).

    Args:
      key: one key, from `onax.random.key`.
      logits: logarithms of weights, with k of them along `axis`.
      axis: the axis of `logits` from which indices are drawn; default -1.
      shape: the shape of the result; it ends in the shape of `logits` without `axis`, which is the default.
      replace: False: the indices along the leading axes of `shape` differ from one another; default True.
      mode: as in `gumbel`, whose numbers decide.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      int32 array of shape `shape`, of indices in [0, k).

    Raises:
      ValueError: a shape that does not fit, or more different indices than there are.
      IndexError: there is no such axis.

    Examples:
      >>> logits = jnp.array([0.0, -jnp.inf, 0.0])
      >>> bool((onax.random.categorical(onax.random.key(0), logits, shape=(100,)) != 1).all())
      True
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, categorical, key, logits, axis, shape, replace, mode)
    key = check_single_key("categorical", key)
    logits = ensure_arraylike("categorical", logits)
    axis = _check_axis(axis, logits.ndim)
    batch = logits.shape[:axis] + logits.shape[axis + 1 :]
    shape = check_shape("categorical", shape, batch)
    extra = shape[: len(shape) - len(batch)]
    if not replace:
        return _sample_without_replacement(key, logits, axis, extra, shape, mode)
    inner = shape[len(extra) :]
    full = (*extra, *inner[:axis], logits.shape[axis], *inner[axis:])
    noise = gumbel(key, full, logits.dtype, mode=mode)
    return jnp.argmax(lax.add(noise, broadcast_to_rank(logits, len(full))), axis=axis + len(extra))


def _check_axis(axis, ndim):
    if not -ndim <= axis < ndim:
        raise IndexError(f"axis {axis} is out of bounds for logits of dimension {ndim}")
    return axis % ndim


def _sample_without_replacement(key, logits, axis, extra, shape, mode):
    """Draws distinct indices: those of the largest logits plus Gumbel noise."""
    count = int(np.prod(extra))
    if count > logits.shape[axis]:
        raise ValueError(
            f"Number of samples without replacement ({count}) cannot exceed number of categories "
            f"({logits.shape[axis]})."
        )
    noisy = lax.add(logits, gumbel(key, logits.shape, logits.dtype, mode=mode))
    _, indices = lax.top_k(noisy, count, axis=axis)
    return lax.reshape(jnp.moveaxis(indices, axis, 0), shape)


# ---- order and choice


@staged("_shuffle", static_argnames=("axis",))
def _shuffle(key, x, *, axis):
    if not dims.is_constant(dims.prod(x.shape)):
        raise NotImplementedError(
            f"shape polymorphism for `permutation` or `shuffle` for arrays of non-constant size: {dims.prod(x.shape)}"
        )
    # Sorting by random numbers; again for long arrays, where some of these are equal.
    rounds = int(np.ceil(3 * np.log(max(1, x.size)) / np.log(np.iinfo(np.uint32).max)))
    for _ in range(rounds):
        key, subkey = split(key)
        _, x = lax.sort_key_val(draw_bits(subkey, 32, x.shape), x, dimension=axis)
    return x


def permutation(
    key: ArrayLike, x: ArrayLike, axis: int = 0, independent: bool = False, *, out_sharding: ShardingLike | None = None
) -> Array:
    """Returns elements in random order.

    Args:
      key: one key, from `onax.random.key`.
      x: an array, or an integer n, which means ``jnp.arange(n)``.
      axis: the axis along which slices change place; default 0.
      independent: True: each line along the axis is permuted on its own; default False.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of the shape and dtype of `x`.

    Raises:
      TypeError: a scalar that is not an integer.

    Examples:
      >>> x = onax.random.permutation(onax.random.key(0), 5)
      >>> jnp.sort(x)
      Array([0, 1, 2, 3, 4], dtype=int32)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, permutation, key, x, axis, independent)
    key = check_single_key("permutation", key)
    if not is_arraylike(x):
        raise TypeError(f"permutation requires ndarray or scalar arguments, got {type(x)} at position 0.")
    if not np.ndim(x):
        canonical_axis(axis, 1)
        if not dtypes.issubdtype(dtypes.dtype(x), np.integer):
            raise TypeError("x must be an integer or at least 1-dimensional")
        return _shuffle(key, jnp.arange(x, dtype=int), axis=0)
    x = ensure_arraylike("permutation", x)
    axis = canonical_axis(axis, x.ndim)
    if independent or x.ndim == 1:
        return _shuffle(key, x, axis=axis)
    order = _shuffle(key, jnp.arange(x.shape[axis]), axis=0)
    return jnp.take(x, order, axis, unique_indices=True)


def choice(
    key: ArrayLike,
    a: ArrayLike,
    shape: Sequence[DimSize] = (),
    replace: bool = True,
    p: ArrayLike | None = None,
    axis: int = 0,
    mode: str | None = None,
) -> Array:
    """Draws elements of an array.

    Args:
      key: one key, from `onax.random.key`.
      a: an array, or an integer n, which means ``jnp.arange(n)``.
      shape: the shape of the draws; default ``()``.
      replace: False: no element is drawn twice; default True.
      p: the probabilities of the elements, (a.shape[axis],); default None, equal ones.
      axis: the axis of `a` along which slices are the elements; default 0.
      mode: as in `gumbel`, for `p` without replacement.

    Returns:
      Array of a's dtype, with `shape` in place of `axis`.

    Raises:
      ValueError: nothing to draw from, more different elements than there are, or `p` of another shape.
      TypeError: `shape` is no sequence.

    Examples:
      >>> x = onax.random.choice(onax.random.key(0), jnp.array([2, 3, 5]), (3,), replace=False)
      >>> int(x.sum())
      10
    """
    key = check_single_key("choice", key)
    if not isinstance(shape, Sequence):
        raise TypeError(f"shape argument of jax.random.choice must be a sequence, got {shape}")
    shape = canonical_shape(shape)
    a, count, axis = _check_population(a, axis)
    num_draws = dims.prod(shape)
    if dims.definitely_empty(shape):
        return jnp.zeros(shape, np.int32 if a is None else a.dtype)
    if count <= 0:
        raise ValueError("a must be greater than 0 unless no samples are taken")
    if not replace and not dims.definitely_at_least(count, num_draws):
        raise ValueError(
            f"Cannot take a larger sample (size {num_draws}) than population (size {count}) when 'replace=False'"
        )
    if p is None and not replace:
        order = permutation(key, count if a is None else a, axis)
        out = lax.slice_in_dim(order, 0, num_draws, axis=axis)
    else:
        where = randint(key, shape, 0, count) if p is None else _choose_weighted(key, p, count, shape, replace, mode)
        out = where if a is None else jnp.take(a, where, axis)
    return lax.reshape(out, shape if a is None else a.shape[:axis] + shape + a.shape[axis + 1 :])


def _check_population(a, axis):
    """Returns (the array to draw from, or None for arange; its size; the axis)."""
    if not is_arraylike(a):
        raise TypeError(f"choice requires ndarray or scalar arguments, got {type(a)} at position 0.")
    if np.ndim(a):
        a = ensure_arraylike("choice", a)
        axis = canonical_axis(axis, a.ndim)
        return a, a.shape[axis], axis
    return None, int(a), 0


def _choose_weighted(key, p, count, shape, replace, mode):
    """Draws indices with probabilities proportional to p."""
    (p,) = promote_dtypes_inexact(ensure_arraylike("choice", p))
    if p.shape != (count,):
        raise ValueError(
            "p must be None or a 1D vector with the same size as a.shape[axis]. "
            f"p has shape {p.shape} and a.shape[axis] is {count}."
        )
    if not replace:
        noisy = lax.add(gumbel(key, (count,), p.dtype, mode=mode), lax.log(p))
        return lax.reshape(lax.top_k(noisy, dims.prod(shape))[1], shape)
    sums = jnp.cumsum(p)
    one = np.asarray(1.0).astype(p.dtype)[()]
    u = lax.mul(sums[-1], lax.sub(one, _uniform(key, 0.0, 1.0, shape=shape, dtype=sums.dtype)))
    return jnp.searchsorted(sums, u).astype(int)
