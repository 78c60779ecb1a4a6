"""repeat: each slice of an array several times in a row."""

from __future__ import annotations

import operator

import numpy as np

from onax import lax
from onax._core.explicit_axes import is_split, split_by
from onax._core.meshes import mesh_of_specs
from onax._core.trace import concrete_or_error, typeof
from onax._ground import dims
from onax._ground.typing import ArrayLike, ShardingLike
from onax._native.array import Array
from onax._prims.placement import with_out_sharding
from onax.numpy._creation import asarray, broadcast_to
from onax.numpy._gathering import take_in_bounds
from onax.numpy._promotion import canonical_axis, check_arraylike, ensure_arraylike, indexed_axis
from onax.numpy._shaping import ravel


def repeat(
    a: ArrayLike,
    repeats: ArrayLike,
    axis: int | None = None,
    *,
    total_repeat_length: int | None = None,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Returns each slice along an axis several times in a row.

    Args:
      a: array.
      repeats: int, or vector with one int for each slice.
      axis: int; default: the elements of the flattened array.
      total_repeat_length: int, the length of the result, needed where `repeats` is traced: it is cut off, or filled
        with the last slice.
      out_sharding: a sharding for the result; default: decided by the operands.

    Returns:
      Array of the dtype of `a`, longer along the axis.

    Raises:
      IndexError: the axis is out of bounds, and `repeats` is an array.
      ValueError: the number of repeats does not fit.
      TypeError: `repeats` is not of integers.

    Examples:
      >>> jnp.repeat(jnp.array([1, 2, 3]), jnp.array([1, 0, 2]))
      Array([1, 3, 3], dtype=int32)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, repeat, a, repeats, axis, total_repeat_length=total_repeat_length)
    check_arraylike("repeat", a, 0 if isinstance(repeats, (dims.SymbolicDim, np.ndarray)) else repeats)
    a = ensure_arraylike("repeat", a)
    aval = typeof(a)
    if is_split(aval) and mesh_of_specs().explicit_axes and (axis is None or split_by(aval, axis) is not None):
        raise ValueError("Please pass sharding to `jnp.repeat` via `out_sharding` parameter.")
    if axis is None:
        a, axis = ravel(a), 0
    find_axis = canonical_axis if np.ndim(repeats) == 0 else indexed_axis
    axis = find_axis(axis, a.ndim) if a.ndim else 0
    if a.ndim == 0:
        a = lax.expand_dims(a, (0,))
    if isinstance(repeats, dims.SymbolicDim) or (total_repeat_length is None and np.ndim(repeats) == 0):
        if isinstance(repeats, dims.SymbolicDim) and total_repeat_length is not None:
            raise ValueError(
                "jnp.repeat with a non-constant `repeats` is supported only when `total_repeat_length` is None. "
                f"(repeats={repeats} total_repeat_length={total_repeat_length})"
            )
        if not isinstance(repeats, dims.SymbolicDim):
            repeats = concrete_or_error(operator.index, repeats, _REPEAT_HINT)
        return _repeat_each(a, repeats, axis)
    if total_repeat_length is None:
        repeats = np.asarray(concrete_or_error(None, repeats, _REPEAT_HINT))
        if repeats.size == 1:
            return _repeat_each(a, operator.index(repeats.item()), axis)
        if repeats.size != a.shape[axis]:
            raise ValueError(
                "operands could not be broadcast together with remapped shapes [original->remapped]: "
                f"({repeats.size},)  and requested shape ({a.shape[axis]},)"
            )
        if repeats.dtype.kind not in "biu":
            raise TypeError(f"repeat: repeats must be integers, got {repeats.dtype}")
        return take_in_bounds(a, np.repeat(np.arange(repeats.size), repeats.ravel()), axis)
    return _repeat_to_length(a, repeats, axis, total_repeat_length)


_REPEAT_HINT = (
    "When jit-compiling jnp.repeat, the total number of repeats must be static. To fix this, either specify a static "
    "value for `repeats`, or pass a static value to `total_repeat_length`."
)


def _repeat_each(a, repeats, axis):
    """Repeats each slice the same number of times: broadcasts along a new axis and merges it."""
    shape = list(a.shape)
    wide = lax.broadcast_in_dim(
        a, [*shape[: axis + 1], repeats, *shape[axis + 1 :]], tuple(i for i in range(a.ndim + 1) if i != axis + 1)
    )
    shape[axis] = shape[axis] * repeats
    return lax.reshape(wide, tuple(shape))


def _repeat_to_length(a, repeats, axis, length):
    """Repeats to a known length: a slice's number is how many slices after the first begin up to a position."""
    length, n = operator.index(length), a.shape[axis]
    repeats = broadcast_to(asarray(repeats), (n,))
    if repeats.dtype == bool:
        repeats = lax.convert_element_type(repeats, np.int32)
    starts = lax.sub(lax.cumsum(repeats), repeats)
    begun = lax.full((length,), 0, np.int32).at[starts].add(1)
    return take_in_bounds(a, lax.sub(lax.cumsum(begun), np.int32(1)), axis)
