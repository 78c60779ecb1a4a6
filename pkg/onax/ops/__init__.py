"""Sums, products and extrema over segments, under the names of jax.ops."""

import operator
from typing import Any

import numpy as np

import onax.numpy as jnp
from onax import lax
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.trace import concrete_or_error
from onax._ground.typing import ArrayLike, ShardingLike
from onax._native.array import Array
from onax._prims.reductions import highest as _highest
from onax._prims.reductions import lowest as _lowest
from onax.numpy._promotion import check_arraylike


def _segment_reduce(
    name, data, segment_ids, num_segments, indices_are_sorted, unique_indices, mode, out_sharding, start, combine
):
    """Combines `start` with the data rows of each segment: one row for each segment."""
    data, segment_ids = check_arraylike(name, data, segment_ids)
    data, ids = jnp.asarray(data), jnp.asarray(segment_ids)
    if num_segments is None:
        num_segments = ids.max() + 1
    num_segments = concrete_or_error(operator.index, num_segments, f"{name}() `num_segments` argument.")
    if num_segments < 0:
        raise ValueError("num_segments must be non-negative.")
    out = jnp.full((num_segments, *data.shape[1:]), start(data.dtype), data.dtype)
    mode = lax.GatherScatterMode.FILL_OR_DROP if mode is None else mode
    options = {
        "mode": mode,
        "indices_are_sorted": indices_are_sorted,
        "unique_indices": unique_indices,
        "out_sharding": out_sharding,
    }
    if ids.dtype != np.bool_:  # booleans choose segments, as in any index
        # ids count from 0: a negative one belongs to no segment, or to the first where ids are clipped
        outside = 0 if mode in ("clip", lax.GatherScatterMode.CLIP) else num_segments
        ids = jnp.where(ids < 0, outside, ids)
    return getattr(out.at[ids], combine)(data, **options)


def segment_sum(
    data: ArrayLike, segment_ids: ArrayLike, num_segments: int | None = None, indices_are_sorted: bool = False,
    unique_indices: bool = False, bucket_size: int | None = None, mode: Any = None, out_sharding: ShardingLike = None,
) -> Array:  # fmt: skip
    """Returns sums of the rows with equal ids.

    Args:
      data: (n, ...).
      segment_ids: integers, (n,); negative and too large ones are dropped.
      num_segments: how many segments there are; default None, the largest id plus 1.  Needed under `jit`.
      indices_are_sorted: whether the ids ascend; default False.
      unique_indices: whether no id occurs twice; default False.
      bucket_size: accepted, without effect.
      mode: what happens to ids out of range, as in `Array.at`; default None, they are dropped.
      out_sharding: None: results lie on the default device.

    Returns:
      Array of shape (num_segments, ...) and dtype of `data`; 0 for a segment without rows.

    Raises:
      ValueError: shapes that differ, or no ids and no `num_segments`.

    Examples:
      >>> onax.ops.segment_sum(jnp.array([1, 2, 3]), jnp.array([0, 0, 2]))
      Array([3, 0, 3], dtype=int32)
    """
    return _segment_reduce(
        "segment_sum",
        data,
        segment_ids,
        num_segments,
        indices_are_sorted,
        unique_indices,
        mode,
        out_sharding,
        lambda _: 0,
        "add",
    )


def segment_prod(
    data: ArrayLike, segment_ids: ArrayLike, num_segments: int | None = None, indices_are_sorted: bool = False,
    unique_indices: bool = False, bucket_size: int | None = None, mode: Any = None, out_sharding: ShardingLike = None,
) -> Array:  # fmt: skip
    """Returns products of the rows with equal ids.

    Args:
      data: (n, ...).
      segment_ids: integers, (n,); negative and too large ones are dropped.
      num_segments: how many segments there are; default None, the largest id plus 1.  Needed under `jit`.
      indices_are_sorted: whether the ids ascend; default False.
      unique_indices: whether no id occurs twice; default False.
      bucket_size: accepted, without effect.
      mode: what happens to ids out of range, as in `Array.at`; default None, they are dropped.
      out_sharding: None: results lie on the default device.

    Returns:
      Array of shape (num_segments, ...) and dtype of `data`; 1 for a segment without rows.

    Raises:
      ValueError: shapes that differ, or no ids and no `num_segments`.

    Examples:
      >>> onax.ops.segment_prod(jnp.array([1, 2, 3]), jnp.array([0, 0, 2]))
      Array([2, 1, 3], dtype=int32)
    """
    return _segment_reduce(
        "segment_prod",
        data,
        segment_ids,
        num_segments,
        indices_are_sorted,
        unique_indices,
        mode,
        out_sharding,
        lambda _: 1,
        "mul",
    )


def segment_max(
    data: ArrayLike, segment_ids: ArrayLike, num_segments: int | None = None, indices_are_sorted: bool = False,
    unique_indices: bool = False, bucket_size: int | None = None, mode: Any = None, out_sharding: ShardingLike = None,
) -> Array:  # fmt: skip
    """Returns the largest of the rows with equal ids.

    Args:
      data: (n, ...).
      segment_ids: integers, (n,); negative and too large ones are dropped.
      num_segments: how many segments there are; default None, the largest id plus 1.  Needed under `jit`.
      indices_are_sorted: whether the ids ascend; default False.
      unique_indices: whether no id occurs twice; default False.
      bucket_size: accepted, without effect.
      mode: what happens to ids out of range, as in `Array.at`; default None, they are dropped.
      out_sharding: None: results lie on the default device.

    Returns:
      Array of shape (num_segments, ...) and dtype of `data`; the lowest number for a segment without rows.

    Raises:
      ValueError: shapes that differ, or no ids and no `num_segments`.

    Examples:
      >>> onax.ops.segment_max(jnp.array([1.0, 2.0, 3.0]), jnp.array([0, 0, 2]))
      Array([  2., -inf,   3.], dtype=float32)
    """
    return _segment_reduce(
        "segment_max",
        data,
        segment_ids,
        num_segments,
        indices_are_sorted,
        unique_indices,
        mode,
        out_sharding,
        _lowest,
        "max",
    )


def segment_min(
    data: ArrayLike, segment_ids: ArrayLike, num_segments: int | None = None, indices_are_sorted: bool = False,
    unique_indices: bool = False, bucket_size: int | None = None, mode: Any = None, out_sharding: ShardingLike = None,
) -> Array:  # fmt: skip
    """Returns the smallest of the rows with equal ids.

    Args:
      data: (n, ...).
      segment_ids: integers, (n,); negative and too large ones are dropped.
      num_segments: how many segments there are; default None, the largest id plus 1.  Needed under `jit`.
      indices_are_sorted: whether the ids ascend; default False.
      unique_indices: whether no id occurs twice; default False.
      bucket_size: accepted, without effect.
      mode: what happens to ids out of range, as in `Array.at`; default None, they are dropped.
      out_sharding: None: results lie on the default device.

    Returns:
      Array of shape (num_segments, ...) and dtype of `data`; the highest number for a segment without rows.

    Raises:
      ValueError: shapes that differ, or no ids and no `num_segments`.

    Examples:
      >>> onax.ops.segment_min(jnp.array([1.0, 2.0, 3.0]), jnp.array([0, 0, 2]))
      Array([ 1., inf,  3.], dtype=float32)
    """
    return _segment_reduce(
        "segment_min",
        data,
        segment_ids,
        num_segments,
        indices_are_sorted,
        unique_indices,
        mode,
        out_sharding,
        _highest,
        "min",
    )


__all__ = ["segment_max", "segment_min", "segment_prod", "segment_sum"]

_wrap_api_functions(globals(), __name__, ("check_arraylike", "concrete_or_error"))
