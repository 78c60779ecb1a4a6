"""Dynamic slices and updates along one axis."""

from __future__ import annotations

import numpy as np

from onax._control.jit_call import staged
from onax._core.trace import as_array, typeof
from onax._ground import dims
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax._prims.convert import convert
from onax._prims.shaping import broadcast_in_dim, canonical_axis, shape_of, squeeze
from onax._prims.slicing import dynamic_slice, dynamic_update_slice


def _start_indices(operand, index, axis):
    """Returns start indices (0 except along one axis, of the index's dtype) and the canonical axis."""
    shape = shape_of(operand)
    axis = canonical_axis(axis, len(shape))
    static = isinstance(index, (int, np.integer))
    zero = type(index)(0) if static else np.zeros((), typeof(index).dtype)[()]
    indices = [zero] * len(shape)
    indices[axis] = index
    return indices, axis


def _check_int(index):
    """Raises OverflowError for a Python int that does not fit the default dtype of integers."""
    if type(index) is int:
        as_array(index)


def dynamic_slice_in_dim(
    operand: ArrayLike, start_index: ArrayLike, slice_size: int, axis: int = 0, *, allow_negative_indices: bool = True
) -> Array:
    """Returns consecutive elements along one axis, from an index that may be traced.

    Args:
      operand: array.
      start_index: integer scalar, treated as in `dynamic_slice`.
      slice_size: int, the number of elements.
      axis: int.
      allow_negative_indices: whether a negative index counts from the end.

    Returns:
      Array with length slice_size along the axis.

    Examples:
      >>> lax.dynamic_slice_in_dim(jnp.arange(6), 2, 3)
      Array([2, 3, 4], dtype=int32)
    """
    indices, axis = _start_indices(operand, start_index, axis)
    sizes = list(shape_of(operand))
    sizes[axis] = dims.as_dim(slice_size)
    return dynamic_slice(operand, indices, sizes, allow_negative_indices=allow_negative_indices)


@staged("dynamic_index_in_dim", static_argnames=("axis", "keepdims", "allow_negative_indices"))
def dynamic_index_in_dim(
    operand: ArrayLike, index: ArrayLike, axis: int = 0, keepdims: bool = True, *, allow_negative_indices: bool = True
) -> Array:
    """Returns the slice at one index of an axis, which may be traced.

    Args:
      operand: array.
      index: integer scalar; it is clamped into range.
      axis: int.
      keepdims: whether the axis stays, with length 1.
      allow_negative_indices: whether a negative index counts from the end.

    Returns:
      Array of the dtype of the operand.

    Raises:
      OverflowError: a Python int that does not fit the default dtype of integers.

    Examples:
      >>> lax.dynamic_index_in_dim(jnp.array([[1, 2], [3, 4]]), 1, keepdims=False)
      Array([3, 4], dtype=int32)
    """
    _check_int(index)
    out = dynamic_slice_in_dim(operand, index, 1, axis, allow_negative_indices=allow_negative_indices)
    return out if keepdims else squeeze(out, (axis,))


def dynamic_update_slice_in_dim(
    operand: ArrayLike, update: ArrayLike, start_index: ArrayLike, axis: int, *, allow_negative_indices: bool = True
) -> Array:
    """Returns an array with a part replaced along one axis.

    Args:
      operand: array.
      update: array of the rank and dtype of the operand.
      start_index: integer scalar, treated as in `dynamic_slice`.
      axis: int.
      allow_negative_indices: whether a negative index counts from the end.

    Returns:
      Array of the shape and dtype of the operand.

    Examples:
      >>> lax.dynamic_update_slice_in_dim(jnp.zeros(4), jnp.ones(2), 1, 0)
      Array([0., 1., 1., 0.], dtype=float32)
    """
    indices, _ = _start_indices(operand, start_index, axis)
    return dynamic_update_slice(operand, update, indices, allow_negative_indices=allow_negative_indices)


@staged("dynamic_update_index_in_dim", static_argnames=("axis", "allow_negative_indices"))
def dynamic_update_index_in_dim(
    operand: ArrayLike, update: ArrayLike, index: ArrayLike, axis: int, *, allow_negative_indices: bool = True
) -> Array:
    """Returns an array with the slice at one index of an axis replaced.

    Args:
      operand: array.
      update: array of the dtype of the operand, which may lack the axis or have length 1 there.
      index: integer scalar; it is clamped into range.
      axis: int.
      allow_negative_indices: whether a negative index counts from the end.

    Returns:
      Array of the shape and dtype of the operand.

    Raises:
      OverflowError: a Python int that does not fit the default dtype of integers.
      TypeError: the update has neither the rank of the operand nor one less.

    Examples:
      >>> lax.dynamic_update_index_in_dim(jnp.zeros(4), 7.0, 2, 0)
      Array([0., 0., 7., 0.], dtype=float32)
    """
    _check_int(index)
    shape = shape_of(operand)
    axis = canonical_axis(axis, len(shape))
    update = update if isinstance(update, Array) else convert(update, typeof(operand).dtype)
    if update.ndim != len(shape):
        if update.ndim + 1 != len(shape):
            raise TypeError(
                f"update must have the rank of operand, or one less; got update shape {update.shape} for operand "
                f"shape {shape}."
            )
        remaining = tuple(i for i in range(len(shape)) if i != axis)
        wide = (*update.shape[:axis], 1, *update.shape[axis:])
        update = broadcast_in_dim(update, wide, remaining)
    return dynamic_update_slice_in_dim(operand, update, index, axis, allow_negative_indices=allow_negative_indices)
