"""Creation with placement: lax.full and lax.full_like; shapes as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from onax._core.meshes import PartitionSpec, concrete_mesh
from onax._core.sharding import (
    NamedSharding,
    Sharding,
    incompatible_devices_error,
    is_abstract,
    over_devices,
    placed_argument,
)
from onax._core.trace import Tracer, as_array
from onax._core.transfer_guards import report_new_array
from onax._ground import dims, dtypes
from onax._ground.config import guard_state
from onax._ground.devices import Device
from onax._ground.typing import ArrayLike, DimSize, DTypeLike, ShardingLike
from onax._native import context
from onax._native.array import Array, ArrayImpl
from onax._prims import creation, shaping
from onax._prims.convert import convert_element_type
from onax._prims.slicing import concatenate
from onax._transforms.transfer import place_new
from onax.lax._sharding import with_sharding_constraint


def place_on_device(x, device):
    """Puts x on a Device or Sharding, committed; returns x itself for None."""
    return x if device is None else place_new(x, device)


def lay_out_converted(x, device):
    """As `place_on_device`, for the result of a conversion.

    As in JAX that is a constraint: a traced value gets the sharding inside of the program, and an array that is
    committed to other devices raises ValueError.
    """
    if isinstance(x, Tracer):
        if isinstance(device, NamedSharding) and not device.mesh.empty and device.mesh.are_all_axes_auto:
            return with_sharding_constraint(x, device)
    elif (
        isinstance(device, (Device, Sharding))
        and not is_abstract(device)
        and x.committed
        and not dtypes.is_extended(x.dtype)
    ):
        devices = (device,) if isinstance(device, Device) else device._ordered_devices()
        if x.sharding._ordered_devices() != devices:
            given = placed_argument([x], 0, "convert_element_type")
            raise incompatible_devices_error(given, ("sharding_constraint inside jit", devices))
    return place_on_device(x, device)


def replicated_sharding(x):
    """The sharding over the devices of a committed array with all of a value on each; None for any other array."""
    if type(x) is not ArrayImpl or not x.committed:
        return None
    sharding = x.sharding
    return sharding if sharding.is_fully_replicated else NamedSharding(sharding.mesh, PartitionSpec())


def _sharding_like(x, shape, dtype):
    """The sharding of an array made like x: that of a committed x, if the shape is the same or all devices have all.

    Objects with a shape and a dtype may state one too, which holds where nothing is being traced; one over an
    AbstractMesh is over the mesh in context, of which it has to be.
    """
    if type(x) is ArrayImpl:
        if not x.committed or (dtype is None and x.weak_type):
            return None
        sharding = x.sharding
    elif isinstance(x, Tracer) or context.get_trace() is not None:
        return None
    else:
        sharding = _over_context_devices(getattr(x, "sharding", None))
        if sharding is None:
            return None
    return sharding if shape is None or tuple(shape) == x.shape or sharding.is_fully_replicated else None


def _over_context_devices(sharding):
    """A sharding, over the devices of the mesh in context if it is over an AbstractMesh; None if there are none."""
    if is_abstract(sharding):
        return None if concrete_mesh().empty else over_devices(sharding, concrete_mesh())
    return sharding if isinstance(sharding, Sharding) else None


def full(
    shape: Sequence[DimSize], fill_value: ArrayLike, dtype: DTypeLike | None = None, *, sharding: ShardingLike = None
) -> Array:
    """Returns an array filled with a scalar.

    Args:
      shape: ints.
      fill_value: scalar.
      dtype: dtype; default: that of fill_value, weakly typed for a Python scalar.
      sharding: a sharding on which the result is placed.

    Returns:
      Array of the shape and dtype.

    Raises:
      TypeError: fill_value is no scalar.

    Examples:
      >>> lax.full((2, 2), 7.0)
      Array([[7., 7.],
             [7., 7.]], dtype=float32, weak_type=True)
    """
    if guard_state.used:
        report_new_array(fill_value, fill_value)
    return place_on_device(creation.full(shape, fill_value, dtype), sharding)


def full_like(
    x: Any,
    fill_value: ArrayLike,
    dtype: DTypeLike | None = None,
    shape: Sequence[DimSize] | None = None,
    sharding: ShardingLike = None,
) -> Array:
    """Returns an array of the shape and dtype of another one, filled with a scalar.

    Args:
      x: array, or anything that has a shape and a dtype.
      fill_value: scalar.
      dtype: dtype that replaces that of `x`.
      shape: shape that replaces that of `x`.
      sharding: a sharding on which the result is placed; default: that of a committed `x`, or which `x` states.

    Returns:
      Array of the shape and dtype; weakly typed if `x` is.

    Examples:
      >>> lax.full_like(jnp.array([1.0, 2.0]), 7)
      Array([7., 7.], dtype=float32)
    """
    like = _sharding_like(x, shape, dtype) if sharding is None else sharding
    if guard_state.used:
        report_new_array(fill_value, fill_value)
    return place_on_device(creation.full_like(x, fill_value, dtype, shape), like)


def empty(shape: Sequence[DimSize], dtype: DTypeLike, *, out_sharding: ShardingLike = None) -> Array:
    """Returns an array for values that do not matter; here they are zeros.

    Args:
      shape: ints.
      dtype: dtype.
      out_sharding: a sharding for the result; default: decided by the operands.

    Returns:
      Array of the shape and dtype.

    Examples:
      >>> lax.empty((2,), jnp.int32)
      Array([0, 0], dtype=int32)
    """
    return place_on_device(creation.full(shape, 0, dtype), out_sharding)


def broadcast_like(arr: ArrayLike, like_arr: ArrayLike) -> Array:
    """Returns an array repeated to the shape of another one, aligned at the last axes.

    Args:
      arr: array.
      like_arr: array, of which only the shape counts.

    Returns:
      Array of the shape of `like_arr` and the dtype of `arr`.

    Raises:
      ValueError: the shapes do not fit.

    Examples:
      >>> lax.broadcast_like(jnp.array([1, 2]), jnp.zeros((2, 2)))
      Array([[1, 2],
             [1, 2]], dtype=int32)
    """
    have, shape = shaping.shape_of(arr), shaping.shape_of(like_arr)
    if len(have) > len(shape) or shaping.broadcast_shapes(have, shape) != shape:
        raise ValueError(f"Incompatible shapes for broadcasting: {have} and requested shape {shape}")
    return shaping.broadcast_in_dim(arr, shape, tuple(range(len(shape) - len(have), len(shape))))


def shape_as_value(shape: Sequence[DimSize]) -> Array | np.ndarray:
    """Returns the sizes of a shape as a vector of integers.

    Args:
      shape: ints or symbolic sizes.

    Returns:
      np.ndarray of shape (rank,), or an array if sizes are symbolic; int32, or int64 where x64 is on and a size needs
      it.

    Examples:
      >>> lax.shape_as_value((2, 3))
      array([2, 3], dtype=int32)
    """
    wide = any(dims.is_constant(d) and d > np.iinfo(np.int32).max for d in shape)
    dtype = dtypes.canonicalize_dtype(np.int64 if wide else np.int32)
    if not shape:
        return creation.full((0,), 0, dtype)
    if dims.is_constant_shape(shape):
        return np.asarray(shape, dtype)
    return concatenate([shaping.reshape(convert_element_type(as_array(d), dtype), (1,)) for d in shape], 0)
