"""Sorting along an axis: sort of several operands by the first of them, and top_k.

sort is always stable.  Its order puts NaN last, treats -0 and 0 as equal, and compares complex numbers by real part,
then by imaginary part.  top_k uses the total order of bits: NaN first, 0 above -0, NaN with the sign bit last.
"""

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from onax._core.rules import InvalidOperands, tangent_zero
from onax._core.trace import as_array, typeof
from onax._core.zeros import Zero
from onax._ground import dims, dtypes
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax._native.avals import ShapedArray
from onax._native.dispatch import Primitive
from onax._native.tape import TYPES, instruction_tape
from onax._prims.convert import cast
from onax._prims.creation import broadcasted_iota
from onax._prims.indexing import GatherDimensionNumbers, GatherScatterMode, gather
from onax._prims.shaping import (
    broadcast_in_dim,
    canonical_axis,
    canonical_shape,
    expand_dims,
    moveaxis,
    reshape,
    shape_of,
)

_NUMPY_SORTED = frozenset(map(np.dtype, "? i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split()))
_LARGEST_INDEX = 2**31
_LONG_AXIS = 1024


def _to_sortable(x):
    """Converts x to a dtype that NumPy sorts as JAX does."""
    dtype = x.dtype
    if dtype in _NUMPY_SORTED:
        return x
    if dtypes.is_integer(dtype):
        return x.astype(np.int32)
    return x.astype(np.float32)


# ---- sort ----


def _sort_kernel(*operands, dimension, is_stable, num_keys):
    first = operands[0]
    if not 0 <= dimension < first.ndim or any(x.shape != first.shape for x in operands[1:]):
        raise InvalidOperands
    if len(operands) == 1 and first.dtype.kind != "c":  # of which NumPy orders those with NaN in another way
        return [_sort_single(first, dimension)]
    keys = []
    for x in map(_to_sortable, operands[:num_keys]):
        keys.extend((x.real, x.imag) if x.dtype.kind == "c" else (x,))
    if len(keys) == 1:
        order = _stable_argsort(keys[0], dimension)
    else:
        order = np.lexsort(keys[::-1], dimension)
    return [np.take_along_axis(x, order, dimension) for x in operands]


def _sort_single(x, axis):
    """Sorts one array; only zeros of both signs, the equal values that differ, need the slower stable sort."""
    wide = _to_sortable(x)
    stable = wide.dtype.kind == "f" and bool((np.signbit(wide) & (wide == 0)).any())
    out = np.sort(wide, axis, kind="stable" if stable else None)
    return out if wide is x else cast(out, x.dtype)


def _stable_argsort(x, axis):
    """The stable argsort; long axes are sorted as 64-bit integers, which NumPy sorts about ten times as fast."""
    if x.shape[axis] < _LONG_AXIS or x.dtype.itemsize > 4:
        return np.argsort(x, axis, kind="stable")
    key = np.ascontiguousarray(np.moveaxis(x, axis, -1))
    if key.dtype.kind == "f":
        zero, unordered = key == 0, np.isnan(key)
        key = _to_signed_key(np.where(zero, key.dtype.type(0), key))
        key[unordered] = np.iinfo(key.dtype).max
    else:
        key = _to_signed_key(key)
    return np.moveaxis(_argsort_smallest(key, key.shape[-1]), -1, axis)


def _to_signed_key(x):
    """Converts x to signed integers of the same order; floats in the total order of their bits."""
    dtype = x.dtype
    if dtype.kind == "b":
        return x.view(np.int8)
    if dtype.kind == "i":
        return x
    if dtype.kind == "u":
        return (x ^ dtype.type(1 << (8 * dtype.itemsize - 1))).view(f"i{dtype.itemsize}")
    bits = x.view(f"i{dtype.itemsize}")
    return np.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)


def _argsort_smallest(key, k):
    """The indices of the k smallest keys in order; key and index form one 64-bit number, so that no two are equal."""
    both = (key.astype(np.int64) << 32) | np.arange(key.shape[-1])
    if 0 < k < key.shape[-1]:
        both = np.partition(both, k - 1, -1)[..., :k]
    return np.sort(both, -1)[..., :k] & 0xFFFFFFFF


def _sort_abstract(*avals, dimension, is_stable, num_keys):
    shape = avals[0].shape
    if not all(dims.equal_shapes(a.shape, shape) for a in avals[1:]):
        shapes = " ".join(str(a.shape) for a in avals)
        raise TypeError(f"Arguments to sort must have equal shapes, got: {shapes}")
    for a in avals[:num_keys]:
        if dtypes.is_extended(a.dtype):
            raise TypeError(f"sort does not compare dtype {a.dtype}; its keys are numbers or bools.")
    canonical_axis(dimension, len(shape))
    return [ShapedArray(a.shape, a.dtype, a.weak_type) for a in avals]


def _take_along(indices, axis, x):
    """Takes elements of x at indices along the axis; indices have an additional last axis of length 1."""
    rank = len(shape_of(x))
    if dims.definitely_empty(shape_of(x)):  # a window of one element would not fit
        return np.zeros(shape_of(indices)[:-1], x.dtype)
    others = tuple(i for i in range(rank) if i != axis)
    numbers = GatherDimensionNumbers(
        offset_dims=(),
        collapsed_slice_dims=(axis,),
        start_index_map=(axis,),
        operand_batching_dims=others,
        start_indices_batching_dims=others,
    )
    return gather(x, indices, numbers, (1,) * rank, mode=GatherScatterMode.PROMISE_IN_BOUNDS)


def _sort_jvp(primals, tangents, *, dimension, **params):
    if all(type(g) is Zero for g in tangents):
        out = sort_p.bind(*primals, dimension=dimension, **params)
        return out, tangent_zero(out)
    shape = shape_of(primals[0])
    if type(shape[dimension]) is int and shape[dimension] == 0:
        return sort_p.bind(*primals, dimension=dimension, **params), list(tangents)
    indices = broadcasted_iota(np.uint32, shape, dimension)
    *out, indices = sort_p.bind(*primals, indices, dimension=dimension, **params)
    indices = expand_dims(indices, (len(shape),))
    return out, [g if type(g) is Zero else _take_along(indices, dimension, g) for g in tangents]


def _sort_batch(axis_data, operands, mapped, *, dimension, **params):
    like, d = next((x, d) for x, d in zip(operands, mapped) if d is not None)
    shape = shape_of(like)
    others = tuple(i for i in range(len(shape)) if i != d)
    full = [
        broadcast_in_dim(x, shape, others) if own is None else moveaxis(x, own, d) for x, own in zip(operands, mapped)
    ]
    return sort_p.bind(*full, dimension=dimension + (d <= dimension), **params), [d] * len(full)


sort_p = Primitive(
    "sort",
    multiple_results=True,
    kernel=_sort_kernel,
    abstract_eval=_sort_abstract,
    jvp=_sort_jvp,
    batch=_sort_batch,
    weak=lambda flags, params: flags,
)


def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """Returns an array sorted along an axis, ascending, or several arrays reordered together.

    Args:
      operand: array, or sequence of arrays of one shape; NaN comes last, and -0 equals 0.
      dimension: int, the axis.
      is_stable: accepted as in JAX; equal elements keep their order in any case.
      num_keys: int, by how many of the arrays to sort, the first above all.

    Returns:
      Array, or tuple of arrays.

    Raises:
      TypeError: there are no arrays, or shapes differ.
      ValueError: num_keys or the axis is out of range.

    Examples:
      >>> lax.sort((jnp.array([3, 1, 2]), jnp.array([10, 20, 30])))
      (Array([1, 2, 3], dtype=int32), Array([20, 30, 10], dtype=int32))
    """
    if isinstance(operand, (list, tuple)):
        operands = operand
        if not operands:
            raise TypeError("Sort requires at least one operand")
        if not 1 <= num_keys <= len(operands):
            raise ValueError(f"num_keys={num_keys} must be between 1 and len(operand)={len(operands)}")
        dimension = canonical_axis(dimension, len(typeof(operands[0]).shape))
        return tuple(sort_p.bind(*operands, dimension=dimension, is_stable=is_stable, num_keys=num_keys))
    if num_keys != 1:
        raise ValueError(f"num_keys={num_keys} must equal 1 for a single operand.")
    dimension = canonical_axis(dimension, len(typeof(operand).shape))
    return sort_p.bind(operand, dimension=dimension, is_stable=is_stable, num_keys=1)[0]


def sort_key_val(
    keys: ArrayLike, values: ArrayLike, dimension: int = -1, is_stable: bool = True
) -> tuple[Array, Array]:
    """Returns keys sorted along an axis, and values reordered in the same way.

    Args:
      keys: array.
      values: array of the shape of `keys`.
      dimension: int, the axis.
      is_stable: accepted as in JAX; equal keys keep their order in any case.

    Returns:
      Tuple (keys, values).

    Examples:
      >>> lax.sort_key_val(jnp.array([3, 1, 2]), jnp.array([10, 20, 30]))
      (Array([1, 2, 3], dtype=int32), Array([20, 30, 10], dtype=int32))
    """
    dimension = canonical_axis(dimension, len(typeof(keys).shape))
    return tuple(sort_p.bind(keys, values, dimension=dimension, is_stable=is_stable, num_keys=1))


# ---- top_k ----


_SHORT_ROW = 4096
_SELECTED = frozenset(map(np.dtype, (np.float32, np.int32, np.uint32)))


def is_quicker_in_c(x, *, k, axis):
    """Whether the kernel in C is quickest: for short rows, or if k is small compared with the row."""
    if x.dtype not in _SELECTED or axis != x.ndim - 1 or not dims.is_constant_shape(x.shape) or not x.size:
        return False
    return 16 * k < x.shape[axis] or x.shape[axis] <= _SHORT_ROW


@lru_cache(maxsize=1024)
def _top_k_tape(dtype, shape, k):
    """The Tape of the instruction top_k along the last axis."""
    out = (*shape[:-1], k)
    numbers = TYPES[dtype], prod(shape[:-1]), shape[-1], 1, k
    return instruction_tape("top_k", [(shape, dtype)], [(out, dtype), (out, np.dtype(np.int32))], numbers)


def _top_k_kernel(x, *, k, axis):
    if not (0 <= axis < x.ndim and 0 <= k <= x.shape[axis]):
        raise InvalidOperands
    if is_quicker_in_c(x, k=k, axis=axis):
        return _top_k_tape(x.dtype, x.shape, k)([x])
    wide = np.ascontiguousarray(np.moveaxis(_to_sortable(x), axis, -1))
    key = ~_to_signed_key(wide)
    if key.dtype.itemsize <= 4:
        order = _argsort_smallest(key, k)
    else:
        order = np.argsort(key, -1, kind="stable")[..., :k]
    order = np.moveaxis(order, -1, axis)
    return [np.take_along_axis(x, order, axis), order.astype(np.int32)]


def _top_k_abstract(x, *, k, axis):
    if dtypes.is_extended(x.dtype):
        raise TypeError(f"top_k does not accept dtype {x.dtype}.")
    if dtypes.is_complex(x.dtype):
        raise ValueError("top_k is not compatible with complex inputs.")
    if dims.is_constant(k) and k < 0:
        raise ValueError(f"k argument to top_k must be nonnegative, got {k}")
    if x.ndim == 0:
        raise TypeError(f"top_k operand must have >= 1 dimension, got {x.shape}")
    if not 0 <= axis < x.ndim:
        raise ValueError(f"axis argument out of range: axis={axis} for operand.shape={x.shape}")
    shape = list(x.shape)
    if shape[axis] < k:
        raise ValueError(
            f"k argument to top_k must be no larger than size along axis; got k={k} with shape={shape} and axis={axis}"
        )
    if dims.is_constant(shape[axis]) and shape[axis] > _LARGEST_INDEX:
        raise ValueError(
            "top_k returns int32 indices, which will overflow for array dimensions larger than the maximum int32 "
            f"({_LARGEST_INDEX - 1}). Got operand.shape={x.shape}"
        )
    shape[axis] = k
    return [ShapedArray(tuple(shape), d, x.weak_type) for d in (x.dtype, np.dtype(np.int32))]


def _top_k_jvp(primals, tangents, *, k, axis):
    out = top_k_p.bind(*primals, k=k, axis=axis)
    (g,) = tangents
    zeros = tangent_zero(out)
    if type(g) is Zero:
        return out, zeros
    indices = out[1]
    return out, [_take_along(reshape(indices, (*shape_of(indices), 1)), axis, g), zeros[1]]


def _top_k_batch(axis_data, operands, mapped, *, k, axis):
    (x,), (d,) = operands, mapped
    return top_k_p.bind(x, k=k, axis=axis + (d <= axis)), [d, d]


top_k_p = Primitive(
    "top_k",
    multiple_results=True,
    kernel=_top_k_kernel,
    abstract_eval=_top_k_abstract,
    jvp=_top_k_jvp,
    batch=_top_k_batch,
)


def top_k(operand: ArrayLike, k: int, *, axis: int = -1) -> list[Array]:
    """Returns the k largest elements along an axis in descending order, and their indices.

    Args:
      operand: array of real numbers; NaN counts as largest, and 0 as larger than -0.
      k: int, at most the length of the axis.
      axis: int.

    Returns:
      List of two arrays, values and int32 indices; of equal elements the first comes first.

    Raises:
      ValueError: k or the axis is out of bounds, or the operand is complex.

    Examples:
      >>> lax.top_k(jnp.array([3.0, 1.0, 2.0]), 2)
      [Array([3., 2.], dtype=float32), Array([0, 2], dtype=int32)]
    """
    operand = operand if isinstance(operand, Array) else as_array(operand)
    (k,) = canonical_shape([k])
    return top_k_p.bind(operand, k=k, axis=canonical_axis(axis, operand.ndim))
