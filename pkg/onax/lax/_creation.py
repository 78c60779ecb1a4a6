"""Creation with placement: lax.full and lax.full_like; shapes as arrays."""

import numpy as np

from onax._core.trace import as_array
from onax._ground import dims, dtypes
from onax._native.array import ArrayImpl
from onax._prims import shaping
from onax._prims.convert import convert_element_type
from onax._prims.slicing import concatenate
from onax._transforms.transfer import device_put


def place_on_device(x, device):
    """Puts x on a Device or Sharding, committed; returns x itself for None."""
    return x if device is None else device_put(x, device)


def _sharding_like(x, shape, dtype):
    """The sharding of an array made like x: that of a committed x, if the rank is the same; None otherwise."""
    if type(x) is not ArrayImpl or not x.committed or (dtype is None and x.weak_type):
        return None
    return x.sharding if shape is None or len(shape) == x.ndim else None


def full(shape, fill_value, dtype=None, *, sharding=None):
    """An array of the given shape whose every element is fill_value, placed by `sharding` if given.

    dtype defaults to that of fill_value (weakly typed for a Python scalar).  Raises TypeError when fill_value is not a
    scalar.
    """
    return place_on_device(shaping.full(shape, fill_value, dtype), sharding)


def full_like(x, fill_value, dtype=None, shape=None, sharding=None):
    """An array like x (its shape, dtype and weak type unless given) whose every element is fill_value.

    x may be anything with a shape and a dtype; `sharding` places the result, else a committed x does.
    """
    like = _sharding_like(x, shape, dtype) if sharding is None else sharding
    return place_on_device(shaping.full_like(x, fill_value, dtype, shape), like)


def empty(shape, dtype, *, out_sharding=None):
    """An array of the given shape and dtype, for values that do not matter; here they are zeros."""
    return place_on_device(shaping.full(shape, 0, dtype), out_sharding)


def broadcast_like(arr, like_arr):
    """arr repeated to the shape of like_arr, aligned at the last axes as NumPy does; arr keeps its dtype.

    Raises ValueError when the shapes do not fit.
    """
    have, shape = shaping.shape_of(arr), shaping.shape_of(like_arr)
    if len(have) > len(shape) or shaping.broadcast_shapes(have, shape) != shape:
        raise ValueError(f"Incompatible shapes for broadcasting: {have} and requested shape {shape}")
    return shaping.broadcast_in_dim(arr, shape, tuple(range(len(shape) - len(have), len(shape))))


def shape_as_value(shape):
    """The sizes of a shape as integers of shape (rank,): an ndarray, or an array if some sizes are symbolic.

    The dtype is int32; int64 if 64 bits are on and a size does not fit into 32.
    """
    wide = any(dims.is_constant(d) and d > np.iinfo(np.int32).max for d in shape)
    dtype = dtypes.canonicalize_dtype(np.int64 if wide else np.int32)
    if not shape:
        return shaping.full((0,), 0, dtype)
    if dims.is_constant_shape(shape):
        return np.asarray(shape, dtype)
    return concatenate([shaping.reshape(convert_element_type(as_array(d), dtype), (1,)) for d in shape], 0)
