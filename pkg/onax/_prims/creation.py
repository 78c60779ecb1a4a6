"""Arrays from nothing: iota, empty, full and their like, and copies.

Dimensions may be symbolic; rules compute with them only by `_ground/dims.py` and by Python's arithmetic operators.
"""

import enum
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from onax._core.facts import BRINGS_VALUES, LINEAR_MOVEMENT
from onax._core.rules import defjvp_zero, deflinear
from onax._core.trace import as_array, typeof
from onax._core.zeros import Zero
from onax._ground import dtypes
from onax._ground.typing import DimSize, DTypeLike, ShardingLike
from onax._native.array import Array, make_array
from onax._native.avals import ShapedArray
from onax._native.dispatch import NEVER, Primitive
from onax._prims.convert import convert
from onax._prims.placement import with_out_sharding
from onax._prims.shaping import broadcast, broadcast_in_dim_p, broadcast_typed, canonical_shape, shape_of
from onax._prims.varying import vary_as

# ---- iota ----


def _iota_kernel(*, dtype, shape, dimension, sharding=None):
    """Counts in int64 and converts, so that narrow integers wrap as JAX's do."""
    size = shape[dimension]
    count = np.arange(size, dtype=dtype) if dtype.itemsize >= 4 else np.arange(size).astype(dtype)
    if len(shape) == 1:
        return count
    out = np.empty(shape, dtype)
    out[...] = count.reshape([-1 if i == dimension else 1 for i in range(len(shape))])
    return out


def _iota_abstract(*, dtype, shape, dimension, sharding=None):
    if not dtypes.issubdtype(dtype, np.number):
        raise TypeError(
            f"iota does not accept dtype {dtype}. Accepted dtypes are subtypes of integer, floating, complexfloating."
        )
    if any(type(d) is int and d < 0 for d in shape):
        raise TypeError(f"iota shape must have every element be nonnegative, got {shape}.")
    if not 0 <= dimension < len(shape):
        raise ValueError(
            f"iota dimension must be between 0 and len(shape), got dimension={dimension} for shape={shape}"
        )
    return ShapedArray(shape, dtype)


iota_p = Primitive(
    "iota",
    kernel=_iota_kernel,
    abstract_eval=_iota_abstract,
    weak=NEVER,
)
defjvp_zero(iota_p)


def broadcasted_iota(
    dtype: DTypeLike, shape: Sequence[DimSize], dimension: int, *, out_sharding: ShardingLike = None
) -> Array:
    """Returns an array whose elements are their index along one axis.

    Args:
      dtype: the dtype of the result: integer, floating or complex.
      shape: the shape of the result.
      dimension: the axis that is counted, from 0.
      out_sharding: a sharding for the result; default: one device.

    Returns:
      Array of shape `shape`; where a number does not fit, integers wrap.

    Raises:
      TypeError: the dtype is bool, or a size is negative.
      ValueError: `dimension` is out of bounds.

    Examples:
      >>> lax.broadcasted_iota(np.int32, (2, 3), 1)
      Array([[0, 1, 2],
             [0, 1, 2]], dtype=int32)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, broadcasted_iota, dtype, shape, dimension)
    dtype, shape, dimension = dtypes.check_user_dtype(dtype, "iota"), canonical_shape(shape), operator.index(dimension)
    params = {"dtype": dtype, "shape": shape, "dimension": dimension, "sharding": None}
    if (
        dtypes.is_extended(dtype)
        or dtype.kind == "b"
        or not 0 <= dimension < len(shape)
        or any(type(d) is int and d < 0 for d in shape)
    ):
        _iota_abstract(**params)
    return iota_p.bind(**params)


def iota(dtype: DTypeLike, size: DimSize) -> Array:
    """Returns the numbers 0, 1, ..., size - 1.

    Args:
      dtype: the dtype of the result: integer, floating or complex; integers wrap.
      size: how many numbers, a nonnegative int.

    Returns:
      Array of shape (size,).

    Raises:
      TypeError: the dtype is bool, or the size is negative.

    Examples:
      >>> lax.iota(np.float32, 3)
      Array([0., 1., 2.], dtype=float32)
    """
    return broadcasted_iota(dtype, (size,), 0)


# ---- empty arrays ----


class MemorySpace(enum.Enum):
    """The kinds of memory that can hold a value."""

    Device = 0

    def __str__(self):
        return f"MemorySpace.{self.name}"


empty2_p = Primitive(
    "empty2",
    kernel=lambda *, dtype, memory_space: np.zeros((), getattr(dtype, "storage", dtype)),
    abstract_eval=lambda *, dtype, memory_space: ShapedArray((), dtype),
    weak=NEVER,
)
defjvp_zero(empty2_p)


def empty_like_aval(aval):
    """An array of a type whose values are never read, or a value of another type, made of such."""
    if aval.is_high:
        return aval.raise_val(*map(empty_like_aval, aval.lo_ty()))
    if not isinstance(aval.dtype, np.dtype):
        return instantiate_zeros(Zero(aval))
    one = empty2_p.bind(dtype=aval.dtype, memory_space=MemorySpace.Device)
    return broadcast(one, aval.shape) if aval.shape else one


# ---- copy ----

copy_p = Primitive(
    "copy",
    kernel=lambda x: x.copy(),
    abstract_eval=lambda x: x,
    batch=lambda axis_data, operands, mapped: (copy_p.bind(*operands), mapped[0]),
    facts=LINEAR_MOVEMENT | {BRINGS_VALUES},
)
deflinear(copy_p, lambda ct, x: [copy_p.bind(ct)])


def copy(x):
    """A copy of x in new memory."""
    return copy_p.bind(x)


# ---- creation by filling ----


def full(shape, fill_value, dtype=None):
    """An array of the given shape whose every element is fill_value.

    dtype defaults to that of fill_value (weakly typed for a Python scalar).  Raises TypeError when fill_value is not a
    scalar.
    """
    kind = type(fill_value)
    is_scalar = dtypes.is_scalar_type(kind)
    if not is_scalar and len(shape_of(fill_value)):
        raise TypeError(f"full must be called with scalar fill_value, got fill_value.shape {shape_of(fill_value)}.")
    if dtype is not None:
        value = _scalar_of_dtype(fill_value, dtypes.check_user_dtype(dtype, "full"))
    elif is_scalar:
        value = convert(fill_value, dtypes.scalar_dtype(kind), kind is not bool)
    else:
        value = as_array(fill_value)
    return _broadcast_scalar(value, canonical_shape(shape))


def _scalar_of_dtype(value, dtype, weak_type=False):
    """Makes a scalar of a dtype; for a dtype of keys, a key all of whose words are this number."""
    if dtypes.is_extended(dtype) and not isinstance(value, Array):
        words = np.full(dtype.element_shape, value, dtype.element_dtype)
        return make_array(words.reshape(-1).view(dtype.storage).reshape(()), dtype)
    return convert(value, dtype, weak_type)


def _broadcast_scalar(value, shape):
    """A scalar repeated to a shape."""
    if not shape:
        return value
    return broadcast_in_dim_p.bind(value, shape=shape, broadcast_dimensions=(), sharding=None)


def full_like(x, fill_value, dtype=None, shape=None):
    """An array like x (its shape, dtype and weak type unless given) whose every element is fill_value.

    x may be anything with a shape and a dtype.
    """
    if not isinstance(x, (Array, ShapedArray)):
        x = _duck_aval(x)
    if np.ndim(fill_value):
        raise TypeError(f"full must be called with scalar fill_value, got fill_value.shape {np.shape(fill_value)}.")
    if dtype is None:
        value = _scalar_of_dtype(fill_value, x.dtype, x.weak_type)
    else:
        value = _scalar_of_dtype(fill_value, _named_dtype(dtype))
    aval = x if isinstance(x, ShapedArray) else x.aval
    if shape is not None:
        return vary_as(_broadcast_scalar(value, canonical_shape(shape)), aval)
    typed = broadcast_typed(value, aval)
    return vary_as(_broadcast_scalar(value, x.shape) if typed is None else typed, aval)


def _named_dtype(dtype):
    """Converts the argument `dtype` of full_like, which may also be an array or a number, as in JAX."""
    if isinstance(dtype, (Array, np.ndarray, int, float, complex)):
        return typeof(dtype).dtype
    return dtypes.check_user_dtype(dtype, "full_like")


def _duck_aval(x):
    """The aval of a value, or of any object with a shape and a dtype."""
    if hasattr(x, "shape") and hasattr(x, "dtype") and not isinstance(x, (np.ndarray, np.generic)):
        return ShapedArray(x.shape, x.dtype, manual_axis_type=getattr(x, "manual_axis_type", None))
    return typeof(x)


def zeros_like_aval(aval):
    """An array of zeros of the aval's shape and dtype (weak if it is), or the zero of another type of tangents."""
    if aval.is_high:
        return aval.vspace_zero()
    if aval.dtype == dtypes.float0:
        return as_array(np.zeros(aval.shape, dtypes.float0))
    zero = convert(False if aval.dtype.kind == "b" else 0, aval.dtype, aval.weak_type)
    typed = broadcast_typed(zero, aval)
    zeros = broadcast(zero, aval.shape) if typed is None else typed
    return vary_as(zeros, aval)


def instantiate_zeros(tangent: Any) -> Array:
    """Returns an array of zeros for a symbolic zero, and any other value as it is.

    Args:
      tangent: an array or a Zero.

    Returns:
      Array.

    Examples:
      >>> onax.interpreters.ad.instantiate_zeros(onax.interpreters.ad.Zero(onax.typeof(jnp.ones(2))))
      Array([0., 0.], dtype=float32)
    """
    return zeros_like_aval(tangent.aval) if type(tangent) is Zero else tangent
