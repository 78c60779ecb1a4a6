"""Sorting: sort, argsort, lexsort, partition, argpartition, sort_complex, top_k.

Sorts are stable by default; NaN comes last; complex numbers are compared by real, then by imaginary part.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onax import lax
from onax._control.jit_call import staged
from onax._ground import dtypes
from onax._ground.typing import ArrayLike, DTypeLike
from onax._native.array import Array
from onax.numpy._promotion import canonical_axis, ensure_arraylike, ensure_arraylikes
from onax.numpy._shaping import ravel, swapaxes
from onax.numpy._ufuncs import negative


def _check_operand(name, a, axis, kind, order):
    """Returns the array (flattened if axis is None) and the axis; refuses `kind` and `order`."""
    a = ensure_arraylike(name, a)
    if kind is not None:
        raise TypeError(
            f"'kind' argument to {name} is not supported. Use stable=True or stable=False to specify sort stability."
        )
    if order is not None:
        raise TypeError(f"'order' argument to {name} is not supported.")
    return (ravel(a), 0) if axis is None else (a, canonical_axis(axis, a.ndim))


@staged("sort", ("axis", "kind", "order", "stable", "descending"), compiled_from=None)
def sort(
    a: ArrayLike,
    axis: int | None = -1,
    *,
    kind: None = None,
    order: None = None,
    stable: bool = True,
    descending: bool = False,
) -> Array:
    """Returns an array with the elements along an axis in ascending order.

    Args:
      a: an array; NaN sorts last, complex numbers by real, then imaginary part.
      axis: an int; None sorts the flattened array.
      kind, order: NumPy's parameters; they must be None.
      stable: whether equal elements keep their order; sorting is stable in any case.
      descending: whether the order is reversed, NaN first.

    Returns:
      Array of the shape and dtype of `a`, or a vector without an axis.

    Raises:
      TypeError: kind or order is given.
      ValueError: there is no such axis.

    Examples:
      >>> jnp.sort(jnp.array([3.0, 1.0, 2.0]))
      Array([1., 2., 3.], dtype=float32)
    """
    a, axis = _check_operand("sort", a, axis, kind, order)
    out = lax.sort(a, axis, bool(stable))
    return lax.rev(out, (axis,)) if descending else out


@staged("argsort", static_argnames=("axis", "kind", "order", "stable", "descending", "dtype"))
def argsort(
    a: ArrayLike,
    axis: int | None = -1,
    *,
    kind: None = None,
    order: None = None,
    stable: bool = True,
    descending: bool = False,
    dtype: DTypeLike | None = None,
) -> Array:
    """Returns the indices that sort an array along an axis.

    Args:
      a: an array; NaN sorts last.
      axis: an int; None sorts the flattened array.
      kind, order: NumPy's parameters; they must be None.
      stable: whether equal elements keep their order; sorting is stable by default.
      descending: whether the largest element comes first.
      dtype: the dtype of the indices, by default the default integer.

    Returns:
      Integer array of the shape of `a`.

    Raises:
      TypeError: kind or order is given.
      ValueError: there is no such axis.

    Examples:
      >>> jnp.argsort(jnp.array([3.0, 1.0, 2.0]))
      Array([1, 2, 0], dtype=int32)
    """
    a, axis = _check_operand("argsort", a, axis, kind, order)
    dtype = dtypes.scalar_dtype(int) if dtype is None else dtypes.check_user_dtype(dtype, "argsort")
    indices = lax.broadcasted_iota(dtype, a.shape, axis)
    if descending and stable:  # reversing twice keeps the order of equal elements
        a, indices = lax.rev(a, (axis,)), lax.rev(indices, (axis,))
    _, indices = lax.sort_key_val(a, indices, axis, bool(stable))
    return lax.rev(indices, (axis,)) if descending else indices


@staged("lexsort", static_argnames=("axis",))
def lexsort(keys: ArrayLike | Sequence[ArrayLike], axis: int = -1) -> Array:
    """Returns the indices that sort by several keys, the last of which is the primary one.

    Args:
      keys: sequence of arrays of one shape, or an array whose slices are the keys.
      axis: int, the axis of a key along which indices sort.

    Returns:
      Integer array of the shape of a key.

    Raises:
      TypeError: there are no keys.
      ValueError: shapes of keys differ.

    Examples:
      >>> jnp.lexsort((jnp.array([3, 1, 2]), jnp.array([1, 1, 0])))
      Array([2, 1, 0], dtype=int32)
    """
    keys = ensure_arraylikes("lexsort", *keys)
    if not keys:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    shape = keys[0].shape
    if any(key.shape != shape for key in keys):
        raise ValueError("all keys need to be the same shape")
    index = dtypes.scalar_dtype(int)
    if not shape:
        return lax.full((), 0, index)
    axis = canonical_axis(axis, len(shape))
    indices = lax.broadcasted_iota(index, shape, axis)
    return lax.sort((*keys[::-1], indices), axis, num_keys=len(keys))[-1]


@staged("sort_complex")
def sort_complex(a: ArrayLike) -> Array:
    """Returns an array sorted along its last axis, as complex numbers.

    Args:
      a: array of numbers; complex ones are ordered by real part, then by imaginary part.

    Returns:
      Complex array of the shape of `a`.

    Examples:
      >>> jnp.sort_complex(jnp.array([2.0, 1.0]))
      Array([1.+0.j, 2.+0.j], dtype=complex64)
    """
    out = lax.sort(ensure_arraylike("sort_complex", a))
    return lax.convert_element_type(out, dtypes.to_complex_dtype(out.dtype))


# --- partitions ---------------------------------------------------------------------------------------------------


def _smallest_k(a, count):
    """The smallest elements along the last axis and their indices, by top_k of an order-reversing map."""
    if dtypes.is_unsigned(a.dtype):
        one = a.dtype.type(1)
        values, indices = lax.top_k(negative(lax.add(a, one)), count)  # 0 becomes the largest number
        return lax.sub(negative(values), one), indices
    values, indices = lax.top_k(negative(a), count)
    return negative(values), indices


def _prepare_partition(name, a, kth, axis):
    """Returns the array with the axis last, and the axis and kth as non-negative numbers."""
    a = ensure_arraylike("partition", a)
    if dtypes.is_complex(a.dtype):
        raise NotImplementedError(f"jnp.{name} for complex dtype is not implemented.")
    axis = canonical_axis(axis, a.ndim)
    return swapaxes(a, axis, -1), axis, canonical_axis(kth, a.shape[axis])


@staged("partition", static_argnames=("kth", "axis"))
def partition(a: ArrayLike, kth: int, axis: int = -1) -> Array:
    """Returns an array in which the kth smallest element along an axis stands in its place.

    Unlike NumPy, `kth` is one int; the smaller elements stand before it and the larger ones behind it, in unspecified
    order.

    Args:
      a: array of real numbers.
      kth: int, an index along the axis.
      axis: int.

    Returns:
      Array of the shape and dtype of `a`.

    Raises:
      NotImplementedError: `a` is complex.
      ValueError: there is no such axis, or `kth` lies outside of it.

    Examples:
      >>> jnp.partition(jnp.array([4, 1, 3, 2]), 1)[1]
      Array(2, dtype=int32)
    """
    a, axis, kth = _prepare_partition("partition", a, kth, axis)
    bottom, _ = _smallest_k(a, kth + 1)
    top, _ = lax.top_k(a, a.shape[-1] - kth - 1)
    return swapaxes(lax.concatenate([bottom, top], a.ndim - 1), -1, axis)


@staged("argpartition", static_argnames=("kth", "axis"))
def argpartition(a: ArrayLike, kth: int, axis: int = -1) -> Array:
    """Returns the indices of the elements of `partition(a, kth, axis)`.

    Args:
      a: array of real numbers.
      kth: int, an index along the axis.
      axis: int.

    Returns:
      Integer array of the shape of `a`, which holds each index along the axis once.

    Raises:
      NotImplementedError: `a` is complex.

    Examples:
      >>> jnp.argpartition(jnp.array([4, 1, 3, 2]), 1)[1]
      Array(3, dtype=int32)
    """
    a, axis, kth = _prepare_partition("argpartition", a, kth, axis)
    _, bottom = _smallest_k(a, kth + 1)
    grids = [lax.broadcasted_iota(np.int32, bottom.shape, i) for i in range(a.ndim - 1)]
    ones = lax.full(a.shape, 1, dtypes.scalar_dtype(float))
    rest = ones.at[(*grids, bottom)].set(0)  # ties: an element that is not in bottom is in top
    _, top = lax.top_k(rest, a.shape[-1] - kth - 1)
    return swapaxes(lax.concatenate([bottom, top], a.ndim - 1), -1, axis)


@staged("top_k", static_argnames=("k", "axis", "mode", "sorted"))
def top_k(
    a: ArrayLike, k: int, /, *, axis: int = -1, mode: str = "largest", sorted: bool = True
) -> tuple[Array, Array]:
    """Returns the k largest or smallest elements along an axis, the most extreme first, and their indices.

    Args:
      a: an array of real numbers or bool.
      k: how many; an int between 0 and the length of the axis.
      axis: an int.
      mode: "largest" or "smallest".
      sorted: whether the elements must be in order; they are in any case.

    Returns:
      `(values, indices)`: `values` of the dtype of `a`, `indices` int32, both of the shape of `a` with length k along
      the axis; of equal elements the first comes first.

    Raises:
      ValueError: `a` is complex, the mode is unknown, or k is out of bounds.

    Examples:
      >>> jnp.top_k(jnp.array([3.0, 1.0, 2.0]), 2)
      (Array([3., 2.], dtype=float32), Array([0, 2], dtype=int32))
    """
    a = ensure_arraylike("top_k", a)
    if dtypes.is_complex(a.dtype):
        raise ValueError("top_k is not compatible with complex inputs.")
    if mode not in ("largest", "smallest"):
        raise ValueError(f"mode must be 'largest' or 'smallest', got {mode!r}")
    axis = canonical_axis(axis, a.ndim)
    if mode == "largest":
        values, indices = lax.top_k(a, k, axis=axis)
        return values, indices
    reverse = lax.neg if dtypes.is_float(a.dtype) else lax.bitwise_not  # both are their own inverse
    values, indices = lax.top_k(reverse(a), k, axis=axis)
    return reverse(values), indices
