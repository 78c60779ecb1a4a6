"""Counts in bins: histogram, histogram2d, histogramdd, histogram_bin_edges."""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np

from onax import lax
from onax._core.trace import concrete_or_error
from onax._ground import dims, dtypes
from onax._ground.typing import ArrayLike, ShardingLike
from onax._native.array import Array
from onax._prims.placement import with_out_sharding
from onax.numpy._creation import asarray
from onax.numpy._differences import diff
from onax.numpy._promotion import (
    as_operand,
    check_arraylike,
    ensure_arraylike,
    ensure_arraylikes,
    promote_dtypes,
    promote_dtypes_inexact,
    to_dtype,
)
from onax.numpy._ranges import linspace
from onax.numpy._reductions import max as max_
from onax.numpy._reductions import min as min_
from onax.numpy._searching import searchsorted
from onax.numpy._shaping import ravel, reshape
from onax.numpy._ufuncs import constant_like, divide
from onax.numpy._where import where


def histogram_bin_edges(
    a: ArrayLike, bins: ArrayLike = 10, range: Sequence[ArrayLike] | None = None, weights: ArrayLike | None = None
) -> Array:
    """Returns the edges of the bins of a histogram.

    Args:
      a: array of real numbers.
      bins: int, the number of equal bins, or a vector of edges, which is returned.
      range: two numbers, the first and last edge; default: the smallest and largest element.
      weights: accepted as in NumPy, without effect.

    Returns:
      Floating array of shape (bins + 1,).

    Raises:
      NotImplementedError: `bins` is the name of one of NumPy's rules.

    Examples:
      >>> jnp.histogram_bin_edges(jnp.array([0.0, 3.0, 4.0]), bins=4)
      Array([0., 1., 2., 3., 4.], dtype=float32)
    """
    if isinstance(bins, str):
        raise NotImplementedError("string values for `bins` not implemented.")
    a, bins = check_arraylike("histogram_bin_edges", a, bins)
    a = ensure_arraylike("histogram_bin_edges", a)
    dtype = dtypes.canonicalize_dtype(dtypes.to_inexact_dtype(a.dtype))
    if np.ndim(bins) == 1:
        return to_dtype(bins, dtype)
    bins = concrete_or_error(operator.index, bins, "bins argument of histogram_bin_edges")
    low, high = (to_dtype(x, dtype) for x in _range_limits(a, range))
    empty, half = lax.eq(low, high), constant_like(low, 0.5)
    low = where(empty, lax.sub(low, half), low)
    high = where(empty, lax.add(high, half), high)
    return linspace(low, high, bins + 1, dtype=dtype)


def _range_limits(a, limits):
    if limits is None:
        return min_(a), max_(a)
    listed = isinstance(limits, (list, tuple))
    if (len(limits) != 2 or any(np.ndim(x) for x in limits)) if listed else np.shape(limits) != (2,):
        raise ValueError(f"`range` must be either None or a sequence of scalars, got {limits}")
    if listed:
        return limits
    limits = as_operand(limits)
    return [lax.squeeze(lax.slice(limits, (i,), (i + 1,)), (0,)) for i in (0, 1)]


def _bin_indices(x, edges):
    """The bin index of each element, from 1; 0 and len(edges) mean outside.  The last bin includes its right edge."""
    n = edges.shape[0]
    if n == 0:
        raise IndexError("histogram: index is out of bounds for axis 0 with size 0: there are no edges of bins")
    x, edges = promote_dtypes(x, edges)
    indices = searchsorted(edges, x, "right")
    last = lax.squeeze(lax.slice(edges, (n - 1,), (n,)), (0,))
    return where(lax.eq(x, last), constant_like(indices, n - 1), indices)


def histogram(
    a: ArrayLike,
    bins: ArrayLike = 10,
    range: Sequence[ArrayLike] | None = None,
    weights: ArrayLike | None = None,
    density: bool | None = None,
) -> tuple[Array, Array]:
    """Returns how many elements lie in each bin, and the edges of the bins.

    Unlike NumPy, counts are floats.

    Args:
      a: array of real numbers, which is flattened.
      bins: int, the number of equal bins, or a vector of edges.
      range: two numbers, the first and last edge; default: the smallest and largest element.
      weights: array of the shape of `a`, whose sums replace counts.
      density: whether counts are divided by their total and the widths of the bins.

    Returns:
      Tuple (counts of shape (bins,), edges of shape (bins + 1,)).  The last bin includes its right edge.

    Raises:
      ValueError: the shapes of weights and `a` differ.
      TypeError: `bins` has more than one axis.

    Examples:
      >>> jnp.histogram(jnp.array([0.0, 1.0, 1.5, 4.0]), bins=2)
      (Array([3., 1.], dtype=float32), Array([0., 2., 4.], dtype=float32))
    """
    if weights is None:
        a, _ = ensure_arraylikes("histogram", a, bins)
        (a,) = promote_dtypes_inexact(a)
        weights = lax.full_like(a, 1)
    else:
        a, _, weights = ensure_arraylikes("histogram", a, bins, weights)
        if a.shape != weights.shape:
            raise ValueError("weights should have the same shape as a.")
        a, weights = promote_dtypes_inexact(a, weights)
    edges = histogram_bin_edges(a, bins, range, weights)
    indices = _bin_indices(ravel(a), edges)
    n = edges.shape[0]
    counts = lax.full((n,), 0, weights.dtype).at[indices].add(ravel(weights))
    counts = lax.slice(counts, (1,), (n,))
    if density:
        counts = divide(divide(counts, diff(edges)), lax.reduce_sum(counts, (0,)))
    return counts, edges


def histogram2d(
    x: ArrayLike,
    y: ArrayLike,
    bins: ArrayLike | Sequence[ArrayLike] = 10,
    range: Sequence[Sequence[ArrayLike] | None] | None = None,
    weights: ArrayLike | None = None,
    density: bool | None = None,
) -> tuple[Array, Array, Array]:
    """Returns how many points lie in each cell of a grid in the plane.

    Args:
      x: vector of n coordinates.
      y: vector of n coordinates.
      bins: int, pair of ints, vector of edges, or pair of such vectors.
      range: pair of pairs, the first and last edges along x and along y.
      weights: vector of n weights, whose sums replace counts.
      density: whether counts are divided by their total and the areas of the cells.

    Returns:
      Tuple (counts of shape (bins of x, bins of y), edges along x, edges along y).

    Examples:
      >>> counts, _, _ = jnp.histogram2d(jnp.array([0.0, 1.0]), jnp.array([0.0, 2.0]), bins=2)
      >>> counts
      Array([[1, 0],
             [0, 1]], dtype=int32)
    """
    x, y = ensure_arraylikes("histogram2d", x, y)
    count = len(bins) if hasattr(bins, "__len__") else 1
    if count not in (1, 2):
        bins = [asarray(bins)] * 2
    sample = lax.concatenate([lax.expand_dims(v, (0,)) for v in promote_dtypes(x, y)], 0).T
    counts, edges = histogramdd(sample, bins, range, weights, density)
    return counts, edges[0], edges[1]


def histogramdd(
    sample: ArrayLike,
    bins: ArrayLike | Sequence[ArrayLike] = 10,
    range: Sequence[Sequence[ArrayLike] | None] | None = None,
    weights: ArrayLike | None = None,
    density: bool | None = None,
) -> tuple[Array, list[Array]]:
    """Returns how many points lie in each cell of a grid.

    Args:
      sample: array of shape (n, d), or a sequence of d vectors: n points.
      bins: int, or for each of the d axes an int or a vector of edges.
      range: for each axis a pair, the first and last edge, or None.
      weights: vector of n weights, whose sums replace counts.
      density: whether counts are divided by their total and the volumes of the cells.

    Returns:
      Tuple (counts of rank d, list of d vectors of edges).

    Raises:
      ValueError: `bins`, `range` or `weights` do not fit the points.

    Examples:
      >>> counts, edges = jnp.histogramdd(jnp.array([[0.0, 0.0], [1.0, 2.0]]), bins=2)
      >>> counts
      Array([[1, 0],
             [0, 1]], dtype=int32)
    """
    if weights is None:
        (sample,) = promote_dtypes_inexact(ensure_arraylike("histogramdd", sample))
    else:
        sample, weights = promote_dtypes_inexact(*ensure_arraylikes("histogramdd", sample, weights))
        if weights.shape != sample.shape[:1]:
            raise ValueError("should have one weight for each sample.")
    count, rank = sample.shape
    if range is not None and (len(range) != rank or any(r is not None and np.shape(r)[0] != 2 for r in range)):
        raise ValueError(
            f"For sample.shape={(count, rank)}, range must be a sequence of {rank} pairs or Nones; got {range=}"
        )
    bins = [bins] * rank if not hasattr(bins, "__len__") and np.ndim(bins) == 0 else bins
    if len(bins) != rank:
        raise ValueError("should be a bin for each dimension.")
    axes = tuple(np.arange(rank).tolist())  # `range` is a parameter
    columns = [lax.squeeze(lax.slice_in_dim(sample, i, i + 1, axis=1), (1,)) for i in axes]
    ranges = [None] * rank if range is None else range
    edges = [histogram_bin_edges(c, b, r) for c, b, r in zip(columns, bins, ranges)]
    sizes = [e.shape[0] + 1 for e in edges]
    indices = [_bin_indices(c, e) for c, e in zip(columns, edges)]
    flat = indices[0]
    for index, size in zip(indices[1:], sizes[1:]):
        flat = lax.add(lax.mul(flat, constant_like(flat, size)), index)
    if weights is None:
        weights = lax.full((count,), 1, dtypes.scalar_dtype(int))
    counts = lax.full((dims.prod(tuple(sizes)),), 0, weights.dtype).at[flat].add(weights)
    counts = lax.slice(reshape(counts, sizes), (1,) * rank, tuple(s - 1 for s in sizes))
    if density:
        counts = lax.convert_element_type(counts, sample.dtype)
        counts = divide(counts, lax.reduce_sum(counts, axes))
        for i, e in enumerate(edges):
            widths = lax.broadcast_in_dim(diff(e), counts.shape, (i,))
            counts = divide(counts, widths)
    return counts, edges


def bincount(
    x: ArrayLike,
    weights: ArrayLike | None = None,
    minlength: int = 0,
    *,
    length: int | None = None,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Returns how often each number from 0 on occurs.

    Unlike NumPy, negative numbers count as 0.

    Args:
      x: integer vector.
      weights: vector of the length of `x`, whose sums replace counts.
      minlength: int, the smallest number of counts.
      length: int, the number of counts, needed under `jit`; larger numbers are dropped.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of shape (max(x) + 1,) or as `minlength` or `length` says; integer, or of the dtype of the weights.

    Raises:
      ValueError: the vector has another rank.
      TypeError: x is not of an integer dtype.

    Examples:
      >>> jnp.bincount(jnp.array([0, 2, 2]), length=4)
      Array([1, 0, 2, 0], dtype=int32)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, bincount, x, weights, minlength, length=length)
    x = ensure_arraylike("bincount", x)
    if not dtypes.is_integer(x.dtype) and x.dtype != np.bool_:
        raise TypeError(f"x argument to bincount must have an integer type; got {x.dtype}")
    if x.ndim != 1:
        raise ValueError("only 1-dimensional input supported.")
    minlength = concrete_or_error(
        operator.index, minlength, "The error occurred because of argument 'minlength' of jnp.bincount."
    )
    if length is None:
        concrete = np.asarray(concrete_or_error(None, x, (
            "The error occurred because of argument 'x' of jnp.bincount. To avoid this error, pass a static `length` "
            "argument."
        )))  # fmt: skip
        length = max(minlength, int(concrete.max()) + 1 if concrete.size else 0)
    else:
        length = concrete_or_error(
            dims.as_dim, length, "The error occurred because of argument 'length' of jnp.bincount."
        )
    if weights is None:
        weights = lax.full((), 1, dtypes.scalar_dtype(int))
    else:
        weights = ensure_arraylike("bincount", weights)
        if weights.shape != x.shape:
            raise ValueError("shape of weights must match shape of x.")
    zero = to_dtype(0, x.dtype)
    counts = lax.full((length,), 0, weights.dtype)
    return counts.at[lax.max(x, zero) if x.dtype != np.bool_ else lax.convert_element_type(x, np.int32)].add(
        weights, mode="drop"
    )
