"""Raw random bits, and the argument checks that the distributions share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onax._ground import dims, dtypes
from onax._ground.errors import TypePromotionError
from onax._ground.typing import ArrayLike, DimSize, DTypeLike, ShardingLike
from onax._native.array import Array
from onax._prims.placement import with_out_sharding
from onax._prims.random import draw_bits
from onax._prims.shaping import broadcast_shapes, canonical_shape
from onax.numpy._creation import broadcast_to
from onax.numpy._promotion import ensure_arraylike, ensure_arraylikes
from onax.random._keys import check_single_key


def float_dtype(name, dtype, complex_too=False):
    """The floating dtype that `dtype=` means, or complex dtype where these are allowed; ValueError for another kind."""
    canonical = dtypes.check_user_dtype(float if dtype is None else dtype)
    if not dtypes.issubdtype(canonical, np.inexact if complex_too else np.floating):
        kinds = "a float or complex dtype" if complex_too else "a float dtype"
        raise ValueError(f"dtype argument to `{name}` must be {kinds}, got {canonical}")
    return canonical


def check_shape(name, shape, *param_shapes):
    """Returns `shape`, to which the parameters must broadcast; their common shape for None."""
    if shape is None:
        return _broadcast_shapes(param_shapes)
    shape = canonical_shape(shape)
    if any(isinstance(d, int) and d < 0 for d in shape):
        raise TypeError(
            f"Only non-negative indices are allowed when broadcasting static shapes, but got shape {shape}."
        )
    out = _broadcast_shapes((shape, *param_shapes))
    if out != shape:
        raise ValueError(
            f"{name} parameter shapes must be broadcast-compatible with shape argument, and the result of "
            f"broadcasting the shapes must equal the shape argument, but got result {out} for shape argument {shape}."
        )
    return shape


def _broadcast_shapes(shapes):
    try:
        if all(map(dims.is_constant_shape, shapes)):
            return np.broadcast_shapes(*shapes)
        return broadcast_shapes(*shapes)
    except ValueError:
        raise ValueError(f"Incompatible shapes for broadcasting: shapes={[tuple(s) for s in shapes]}") from None


def check_arguments(name, key, dtype, shape, *parameters):
    """Returns (key, floating dtype, shape of the result) of a distribution with parameters, or raises."""
    key, dtype = check_single_key(name, key), float_dtype(name, dtype)
    shape = check_shape(name, shape, *map(np.shape, parameters))
    check_safe_to_cast(name, dtype, *parameters)
    return key, dtype, shape


def check_safe_to_cast(name, dtype, *parameters):
    """Raises TypePromotionError for a parameter that promotion would not convert to the dtype of the result."""
    for x in ensure_arraylikes(name, *parameters):
        if x.dtype != dtype and dtypes.result_type(x, dtype) != dtype:
            raise TypePromotionError(
                f"In arguments to {name}, cannot safely cast argument of type {x.dtype} to {dtype}"
            )


def broadcast_parameter(name, x, dtype, shape=None):
    """Converts a distribution's parameter to an array of a dtype and broadcasts it to a shape if one is given."""
    x = ensure_arraylike(name, x).astype(dtype)
    return x if shape is None else broadcast_to(x, shape)


def bits(
    key: ArrayLike,
    shape: Sequence[DimSize] = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Draws unsigned integers every bit of which is random.

    Args:
      key: one key, from `onax.random.key`.
      shape: the shape of the result, a tuple of ints; default ``()``.
      dtype: uint8, uint16, uint32 or uint64; default uint32, with 64 bits enabled uint64.  uint4 and uint2 make uint8.
      out_sharding: where the result lies: a NamedSharding, or a PartitionSpec over the mesh in context; default None.

    Returns:
      Array of shape `shape` and dtype `dtype`.

    Raises:
      ValueError: another dtype, or an array of keys (use `onax.vmap`).
      TypeError: `key` is not a key.

    Examples:
      >>> onax.random.bits(onax.random.key(0), (2,), jnp.uint8)
      Array([167, 146], dtype=uint8)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, bits, key, shape, dtype)
    key = check_single_key("bits", key)
    canonical = dtypes.check_user_dtype(_default_unsigned() if dtype is None else dtype)
    if not dtypes.issubdtype(canonical, np.unsignedinteger):
        raise ValueError(f"dtype argument to `bits` must be an unsigned int dtype, got {canonical}")
    return draw_bits(key, 8 * canonical.itemsize, canonical_shape(shape))


def _default_unsigned():
    return dtypes.canonicalize_dtype(np.uint64)
