"""Quantiles: median, percentile, quantile and their nan-skipping forms.

q lies in [0, 1] (percentile: [0, 100]) and is a number or a vector, whose axis comes first in the result.  Between two
elements `method` decides: linear, lower, higher, midpoint or nearest; inverted_cdf takes weights too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onax import lax
from onax._control.jit_call import FEW, staged
from onax._ground import dims, dtypes
from onax._ground.typing import ArrayLike, ShardingLike
from onax._native.array import Array
from onax._prims.placement import with_out_sharding
from onax.numpy._cumulative import cumsum
from onax.numpy._gathering import take_along_axis
from onax.numpy._indexing import getitem
from onax.numpy._promotion import (
    canonical_axes,
    canonical_axis,
    ensure_arraylike,
    ensure_arraylikes,
    promote_dtypes_inexact,
)
from onax.numpy._reductions import any as any_
from onax.numpy._reductions import sum as sum_
from onax.numpy._shaping import ravel, reshape
from onax.numpy._ufuncs import constant_like, true_divide
from onax.numpy._where import where

_METHODS = ("linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf")
_OPTIONS = ("axis", "overwrite_input", "keepdims", "method")


@staged("quantile", static_argnames=_OPTIONS, compiled_from=FEW)
def quantile(
    a: ArrayLike,
    q: ArrayLike,
    axis: int | Sequence[int] | None = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike | None = None,
) -> Array:
    """Returns quantiles of the elements along the axes.

    Args:
      a: array of real numbers.
      q: number or vector of numbers in [0, 1].
      axis: int or ints; default: all axes.
      out: must be None.
      overwrite_input: must be False.
      method: "linear" (default), "lower", "higher", "midpoint", "nearest" or "inverted_cdf": how to choose between
        neighbours.
      keepdims: whether the reduced axes stay, with length 1.
      weights: array that broadcasts against `a`, for "inverted_cdf".

    Returns:
      Floating array: the axes of q, then those of `a` that are not reduced; NaN where there is a NaN.

    Raises:
      ValueError: `a` is complex, the method is unknown, or q has a rank above 1.
      NotImplementedError: weights are given for another method.

    Examples:
      >>> jnp.quantile(jnp.array([1.0, 2.0, 3.0, 4.0]), 0.5)
      Array(2.5, dtype=float32)
    """
    return _quantile("quantile", a, q, axis, out, overwrite_input, method, keepdims, weights, skip_nan=False)


@staged("nanquantile", static_argnames=_OPTIONS, compiled_from=FEW)
def nanquantile(
    a: ArrayLike,
    q: ArrayLike,
    axis: int | Sequence[int] | None = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike | None = None,
) -> Array:
    """Returns quantiles of those elements along the axes that are not NaN.

    Args:
      a: array of real numbers.
      q: number or vector of numbers in [0, 1].
      axis: int or ints; default: all axes.
      out: must be None.
      overwrite_input: must be False.
      method: as for `quantile`.
      keepdims: whether the reduced axes stay, with length 1.
      weights: array that broadcasts against `a`, for "inverted_cdf".

    Returns:
      Floating array: the axes of q, then those of `a` that are not reduced; NaN where all elements are NaN.

    Raises:
      ValueError: `a` is complex, the method is unknown, or q has a rank above 1.

    Examples:
      >>> jnp.nanquantile(jnp.array([1.0, jnp.nan, 3.0]), jnp.array([0.0, 0.5]))
      Array([1., 2.], dtype=float32)
    """
    return _quantile("nanquantile", a, q, axis, out, overwrite_input, method, keepdims, weights, skip_nan=True)


def _quantile(name, a, q, axis, out, overwrite_input, method, keepdims, weights, skip_nan):
    a, q = ensure_arraylikes(name, a, q)
    weights = None if weights is None else ensure_arraylike(name, weights)
    if overwrite_input or out is not None:
        raise ValueError(f"jax.numpy.{name} does not support overwrite_input=True or out != None")
    if method not in _METHODS:
        raise ValueError("method can only be 'linear', 'lower', 'higher', 'midpoint', 'nearest' or 'inverted_cdf'")
    a, weights = _promote_operands(a, axis, method, weights)
    if dtypes.is_complex(a.dtype):
        raise ValueError("quantile does not support complex input, as the operation is poorly defined.")
    a, weights, axis, restored_shape = _merge_axes(a, axis, keepdims, weights)
    if q.ndim > 1:
        raise ValueError(f"q must be have rank <= 1, got shape {q.shape}")
    prepared = lax.ne(a, a) if skip_nan else any_(lax.ne(a, a), axis=axis, keepdims=True)
    a = where(prepared, np.nan, a)
    if weights is None:
        a = lax.sort(a, axis)
    else:
        a, weights = lax.sort_key_val(a, weights, axis)
    if method == "inverted_cdf":
        result = _inverted_cdf(a, q, axis, keepdims, skip_nan, weights)
    else:
        result = _interpolate(
            method, q, *(_nan_order_statistics if skip_nan else _order_statistics)(a, q, axis, keepdims)
        )
    if keepdims and restored_shape:
        result = reshape(result, (*q.shape, *restored_shape))
    return lax.convert_element_type(result, a.dtype)


def _promote_operands(a, axis, method, weights):
    """Promotes a and its weights to floats and broadcasts the weights to a's shape."""
    if weights is None:
        return promote_dtypes_inexact(a)[0], None
    if dtypes.is_complex(weights.dtype):
        raise ValueError("Weights cannot be complex types.")
    if method != "inverted_cdf":
        raise NotImplementedError(f"{method} doesn't support weights. Only method 'inverted_cdf' supports weights.")
    a, weights = promote_dtypes_inexact(a, weights)
    if weights.shape != a.shape:
        if axis is None:
            raise ValueError("Weights shape must match 'a' shape when axis is None.")
        axes = canonical_axes(axis, a.ndim)
        axis_sizes = tuple(a.shape[i] for i in axes)
        if weights.shape != axis_sizes:
            raise ValueError(f"Weights shape {weights.shape} must match reduction axes {axis_sizes}")
        weights = lax.broadcast_in_dim(weights, a.shape, axes)
    return a, weights


def _merge_axes(a, axis, keepdims, weights):
    """Merges the reduced axes: returns the operands, the merged axis, and the shape that keepdims restores."""
    if axis is None:
        restored_shape = [1] * a.ndim if keepdims else []
        return ravel(a), None if weights is None else ravel(weights), 0, restored_shape
    if not isinstance(axis, tuple):
        return a, weights, canonical_axis(axis, a.ndim), []
    axes = canonical_axes(axis, a.ndim)
    if len(set(axes)) != len(axes):
        raise ValueError("repeated axis")
    restored_shape = [1 if i in axes else d for i, d in enumerate(a.shape)]
    rest = [i for i in range(a.ndim) if i not in axes]
    order = list(range(a.ndim))
    for i, index in enumerate(rest):
        order[i], order[index] = order[index], order[i]
    sizes = (*(a.shape[i] for i in rest), dims.prod(tuple(a.shape[i] for i in axes)))
    a = lax.reshape(a, sizes, tuple(order))
    weights = None if weights is None else lax.reshape(weights, sizes, tuple(order))
    return a, weights, a.ndim - 1, restored_shape


# --- the two elements that a quantile lies between, and their weights ---------------------------------------------


def _floor_ceiling_weights(q):
    low, high = lax.floor(q), lax.ceil(q)
    above = lax.sub(q, low)
    return low, high, lax.sub(constant_like(above, 1), above), above


def _order_statistics(a, q, axis, keepdims):
    """The two neighbours of each quantile; rows hold no NaN or only NaN, so that all use the same indices."""
    n, one = lax.convert_element_type(a.shape[axis], q.dtype), constant_like(q, 1)
    q = lax.mul(q, lax.sub(n, one))
    low, high, below, above = _floor_ceiling_weights(q)
    index = dtypes.scalar_dtype(int)
    indices = [lax.clamp(constant_like(p, 0), p, lax.sub(n, one)) for p in (low, high)]
    indices = [lax.convert_element_type(p, index) for p in indices]
    rank = a.ndim + q.ndim
    numbers = lax.GatherDimensionNumbers(
        offset_dims=tuple(range(q.ndim, rank if keepdims else rank - 1)),
        collapsed_slice_dims=() if keepdims else (axis,),
        start_index_map=(axis,),
    )
    sizes = [1 if i == axis else d for i, d in enumerate(a.shape)]
    in_bounds = lax.GatherScatterMode.PROMISE_IN_BOUNDS
    values = [lax.gather(a, lax.expand_dims(p, (p.ndim,)), numbers, sizes, mode=in_bounds) for p in indices]
    if q.ndim == 1:
        below, above = (lax.broadcast_in_dim(w, values[0].shape, (0,)) for w in (below, above))
    return (*values, below, above)


def _nan_order_statistics(a, q, axis, keepdims):
    """The two neighbours of each quantile among a row's elements that are not NaN."""
    counts = sum_(lax.bitwise_not(lax.ne(a, a)), axis=axis, dtype=q.dtype, keepdims=keepdims)
    shape, lead = counts.shape, q.ndim
    full = (*q.shape, *shape)
    q = lax.expand_dims(q, tuple(range(lead, len(full))))
    counts = lax.expand_dims(counts, tuple(range(lead)))
    last = lax.sub(counts, constant_like(counts, 1))
    q = lax.mul(*_broadcast_pair(q, last))
    low, high, below, above = _floor_ceiling_weights(q)
    last = lax.broadcast_in_dim(last, full, tuple(range(len(full))))
    zero = constant_like(low, 0)
    index = dtypes.scalar_dtype(int)
    indices = [lax.convert_element_type(lax.max(zero, lax.min(p, last)), index) for p in (low, high)]
    grids = [lax.broadcasted_iota(index, full, i + lead) for i in range(len(shape))]
    values = []
    for p in indices:
        where_from = [p if i == axis else g for i, g in enumerate(grids)] if keepdims else list(grids)
        if not keepdims:
            where_from.insert(axis, p)
        values.append(getitem(a, tuple(where_from)))
    return (*values, below, above)


def _broadcast_pair(x, y):
    shape = lax.broadcast_shapes(x.shape, y.shape)
    return [lax.broadcast_in_dim(v, shape, tuple(range(len(shape)))) for v in (x, y)]


def _interpolate(method, q, low, high, below, above):
    if method == "lower":
        return low
    if method == "higher":
        return high
    if method == "nearest":
        return lax.select(lax.le(above, constant_like(above, 0.5)), low, high)
    if method == "midpoint":
        return lax.mul(lax.add(low, high), constant_like(low, 0.5))
    low = lax.mul(lax.convert_element_type(low, q.dtype), below)
    return lax.add(low, lax.mul(lax.convert_element_type(high, q.dtype), above))


def _inverted_cdf(a, q, axis, keepdims, skip_nan, weights):
    """The first element in ascending order at which the cumulative weight reaches q; NaN where a weight is NaN."""
    missing = lax.ne(a, a)
    weights = lax.full_like(a, 1) if weights is None else weights
    bad = lax.bitwise_or(lax.lt(weights, lax.full_like(weights, 0)), lax.ne(weights, weights))
    weights = lax.select(lax.bitwise_or(bad, missing), lax.full_like(weights, 0), weights)
    running = cumsum(weights, axis=axis)
    total = lax.index_in_dim(running, a.shape[axis] - 1, axis, True)
    q, running = q.astype(running.dtype), lax.expand_dims(running, tuple(range(q.ndim)))
    shares = lax.reshape(q, (*q.shape, *[1] * a.ndim))
    reached = lax.mul(*_broadcast_pair(shares, lax.expand_dims(total, tuple(range(q.ndim)))))
    smaller = lax.lt(*_broadcast_pair(running, reached))
    index = dtypes.scalar_dtype(int)
    indices = sum_(lax.convert_element_type(smaller, index), axis=axis + q.ndim, keepdims=True)
    valid = lax.bitwise_not(missing) if skip_nan else lax.full_like(missing, True)
    counts = sum_(valid, axis=axis, dtype=index, keepdims=True)
    last = lax.expand_dims(lax.sub(counts, constant_like(counts, 1)), tuple(range(q.ndim)))
    indices = lax.max(constant_like(indices, 0), lax.min(*_broadcast_pair(indices, last)))
    source = lax.broadcast_in_dim(a, (*q.shape, *a.shape), tuple(range(q.ndim, q.ndim + a.ndim)))
    result = take_along_axis(source, indices, axis + q.ndim)
    nothing = lax.eq(counts, constant_like(counts, 0)) if skip_nan else any_(missing, axis=axis, keepdims=True)
    spoilt = lax.expand_dims(lax.bitwise_or(any_(bad, axis=axis, keepdims=True), nothing), tuple(range(q.ndim)))
    result = where(spoilt, np.nan, result)
    return result if keepdims else lax.squeeze(result, (axis + q.ndim,))


# --- median, percentile -------------------------------------------------------------------------------------------


@staged("median", static_argnames=("axis", "overwrite_input", "keepdims"), compiled_from=FEW)
def median(
    a: ArrayLike,
    axis: int | Sequence[int] | None = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """Returns the middle element along the axes, or the mean of the two in the middle.

    Args:
      a: array of real numbers.
      axis: int or ints; default: all axes.
      out: must be None.
      overwrite_input: must be False.
      keepdims: whether the reduced axes stay, with length 1.

    Returns:
      Floating array without the reduced axes; NaN where there is a NaN.

    Raises:
      ValueError: there is no such axis.

    Examples:
      >>> jnp.median(jnp.array([[3.0, 1.0, 2.0], [6.0, 4.0, 5.0]]), axis=1)
      Array([2., 5.], dtype=float32)
    """
    a = ensure_arraylike("median", a)
    return quantile(
        a, 0.5, axis=axis, out=out, overwrite_input=overwrite_input, keepdims=keepdims, method="midpoint"
    )  # fmt: skip


@staged("nanmedian", static_argnames=("axis", "overwrite_input", "keepdims"), compiled_from=FEW)
def nanmedian(
    a: ArrayLike,
    axis: int | Sequence[int] | None = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """Returns the median of those elements along the axes that are not NaN.

    Args:
      a: array of real numbers.
      axis: int or ints; default: all axes.
      out: must be None.
      overwrite_input: must be False.
      keepdims: whether the reduced axes stay, with length 1.

    Returns:
      Floating array without the reduced axes; NaN where all elements are NaN.

    Raises:
      ValueError: there is no such axis.

    Examples:
      >>> jnp.nanmedian(jnp.array([3.0, jnp.nan, 1.0]))
      Array(2., dtype=float32)
    """
    a = ensure_arraylike("nanmedian", a)
    return nanquantile(
        a, 0.5, axis=axis, out=out, overwrite_input=overwrite_input, keepdims=keepdims, method="midpoint"
    )  # fmt: skip


def _percent_to_quantile(name, a, q, weights):
    a, q = ensure_arraylikes(name, a, q)
    (q,) = promote_dtypes_inexact(q)
    return a, true_divide(q, 100), None if weights is None else ensure_arraylike(name, weights)


@staged("percentile", static_argnames=(*_OPTIONS, "out_sharding"), compiled_from=FEW)
def percentile(
    a: ArrayLike,
    q: ArrayLike,
    axis: int | Sequence[int] | None = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike | None = None,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Returns percentiles of the elements along the axes: `quantile` at q / 100.

    Args:
      a: array of real numbers.
      q: number or vector of numbers in [0, 100].
      axis: int or ints; default: all axes.
      out: must be None.
      overwrite_input: must be False.
      method: as for `quantile`.
      keepdims: whether the reduced axes stay, with length 1.
      weights: array that broadcasts against `a`, for "inverted_cdf".
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Floating array: the axes of q, then those of `a` that are not reduced; NaN where there is a NaN.

    Raises:
      ValueError: `a` is complex, the method is unknown, or q has a rank above 1.

    Examples:
      >>> jnp.percentile(jnp.array([1.0, 2.0, 3.0]), jnp.array([0, 50, 75]))
      Array([1. , 2. , 2.5], dtype=float32)
    """
    if out_sharding is not None:
        return with_out_sharding(
            out_sharding, percentile, a, q, axis, out, overwrite_input, method, keepdims, weights=weights
        )
    a, q, weights = _percent_to_quantile("percentile", a, q, weights)
    return quantile(a, q, axis, out, overwrite_input, method, keepdims, weights=weights)


@staged("nanpercentile", static_argnames=_OPTIONS, compiled_from=FEW)
def nanpercentile(
    a: ArrayLike,
    q: ArrayLike,
    axis: int | Sequence[int] | None = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike | None = None,
) -> Array:
    """Returns percentiles of those elements along the axes that are not NaN.

    Args:
      a: array of real numbers.
      q: number or vector of numbers in [0, 100].
      axis: int or ints; default: all axes.
      out: must be None.
      overwrite_input: must be False.
      method: as for `quantile`.
      keepdims: whether the reduced axes stay, with length 1.
      weights: array that broadcasts against `a`, for "inverted_cdf".

    Returns:
      Floating array: the axes of q, then those of `a` that are not reduced; NaN where all elements are NaN.

    Raises:
      ValueError: there is no such axis.

    Examples:
      >>> jnp.nanpercentile(jnp.array([1.0, jnp.nan, 3.0]), 50)
      Array(2., dtype=float32)
    """
    a, q, weights = _percent_to_quantile("nanpercentile", a, q, weights)
    return nanquantile(a, q, axis, out, overwrite_input, method, keepdims, weights=weights)
