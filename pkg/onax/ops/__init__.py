"""Sums, products and extrema over segments, under the names of jax.ops."""

import numpy as np

import onax.numpy as jnp
from onax import lax
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.trace import concrete_or_error
from onax._prims.reductions import highest as _highest
from onax._prims.reductions import lowest as _lowest
from onax.numpy._promotion import check_arraylike


def _segment_reduce(
    name, data, segment_ids, num_segments, indices_are_sorted, unique_indices, mode, out_sharding, start, combine
):
    """Combines `start` with the data rows of each segment: one row for each segment."""
    check_arraylike(name, data, segment_ids)
    data, ids = jnp.asarray(data), jnp.asarray(segment_ids)
    if num_segments is None:
        known = concrete_or_error(None, ids, f"num_segments must be given to {name} while tracing.")
        num_segments = int(np.max(known)) + 1
    num_segments = concrete_or_error(int, num_segments, f"{name}() `num_segments` argument.")
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
        ids = jnp.where(ids < 0, num_segments, ids)  # ids count from 0: a negative one belongs to no segment
    return getattr(out.at[ids], combine)(data, **options)


def segment_sum(
    data, segment_ids, num_segments=None, indices_are_sorted=False, unique_indices=False, bucket_size=None, mode=None,
    out_sharding=None,
):  # fmt: skip
    """Sums of the rows of `data` with equal ids: shape (num_segments, ...); 0 for a segment without rows.

    `segment_ids`: integers, one for each row; negative and too large ones are dropped.  `num_segments` defaults to the
    largest id + 1 and must be given under `jit`.  Raises ValueError for no ids without it, and for shapes that differ.
    `bucket_size` is accepted: sums are not taken in parts.
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
    data, segment_ids, num_segments=None, indices_are_sorted=False, unique_indices=False, bucket_size=None, mode=None,
    out_sharding=None,
):  # fmt: skip
    """Products of the rows of `data` with equal ids; 1 for a segment without rows.  See `segment_sum`."""
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
    data, segment_ids, num_segments=None, indices_are_sorted=False, unique_indices=False, bucket_size=None, mode=None,
    out_sharding=None,
):  # fmt: skip
    """The largest of the rows of `data` with equal ids; the lowest number for a segment without rows."""
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
    data, segment_ids, num_segments=None, indices_are_sorted=False, unique_indices=False, bucket_size=None, mode=None,
    out_sharding=None,
):  # fmt: skip
    """The smallest of the rows of `data` with equal ids; the highest number for a segment without rows."""
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
