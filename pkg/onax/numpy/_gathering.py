"""Elements at given indices: take, take_along_axis, choose; diagonals and triangles."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from onax import lax
from onax._control.jit_call import staged
from onax._core.api_functions import static_argnames
from onax._core.trace import concrete_or_error
from onax._ground import dims, dtypes
from onax._ground.typing import ArrayLike, DTypeLike
from onax._native.array import Array, make_array
from onax._prims import slicing
from onax.numpy._arithmetic import remainder
from onax.numpy._creation import broadcast_to
from onax.numpy._index_expressions import widen
from onax.numpy._promotion import (
    can_use_numpy,
    canonical_axis,
    check_arraylike,
    ensure_arraylike,
    promote_dtypes,
    to_dtype,
)
from onax.numpy._ranges import lower_mask
from onax.numpy._reductions import sum as _sum
from onax.numpy._shaping import ravel, reshape
from onax.numpy._where import where

_IN_BOUNDS = lax.GatherScatterMode.PROMISE_IN_BOUNDS
_FILL = lax.GatherScatterMode.FILL_OR_DROP
_CLIP = lax.GatherScatterMode.CLIP


@static_argnames("mode", "fill_value")
def take(
    a: ArrayLike,
    indices: ArrayLike,
    axis: int | None = None,
    out: None = None,
    mode: str | None = None,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    fill_value: ArrayLike | None = None,
) -> Array:
    """Returns the slices of an array at the given indices along an axis.

    Unlike NumPy, which raises IndexError, indices out of bounds give `fill_value`.

    Args:
      a: an array.
      indices: an integer array of any shape; negative indices count from the end of the axis.
      axis: an int; None takes elements of the flattened array.
      out: must be None.
      mode: what an index out of bounds gives: None or "fill" gives `fill_value`, "clip" the nearest slice (negative
        indices then give the first one), "wrap" the slice at the index modulo the length of the axis.
      unique_indices, indices_are_sorted: promises about the indices that make gradients quicker; wrong ones make the
        result undefined.
      fill_value: for out-of-bounds indices, by default NaN, the largest unsigned or the smallest signed integer.

    Returns:
      Array of the shape of `a` with the axis replaced by the axes of `indices`.

    Raises:
      NotImplementedError: `out` is given.
      ValueError: there is no such axis, or no such mode.

    Examples:
      >>> jnp.take(jnp.array([10.0, 20.0, 30.0]), jnp.array([2, -3, 5]))
      Array([30., 10., nan], dtype=float32)
    """
    if out is not None:
        raise NotImplementedError("The 'out' argument to jnp.take is not supported.")
    a, indices = check_arraylike("take", a, indices)
    return _take(
        a, indices, None if axis is None else operator.index(axis), mode, unique_indices, indices_are_sorted, fill_value
    )


@staged("_take", static_argnames=("axis", "mode", "unique_indices", "indices_are_sorted", "fill_value"))
def _take(a, indices, axis, mode, unique_indices, indices_are_sorted, fill_value):
    a, indices = ensure_arraylike("take", a), ensure_arraylike("take", indices)
    if axis is None:
        a, axis = ravel(a), 0
    axis = canonical_axis(axis, a.ndim)
    if not dtypes.is_integer(indices.dtype):
        if indices.dtype != np.bool_ and indices.size:
            raise ValueError("indices must have an integer type")
        indices = lax.convert_element_type(indices, dtypes.scalar_dtype(int))
    length = a.shape[axis]
    if type(length) is int and length == 0 and indices.size:
        raise IndexError("Cannot do a non-empty jnp.take() from an empty axis.")
    if length and mode in (None, "fill", "clip") and can_use_numpy(a, indices):
        out = _take_concrete(a, indices, axis, mode)
        if out is not None:
            return out
    if mode is None or mode == "fill":
        gather_mode = _FILL
        indices = widen(indices, length)
        indices = where(
            lax.lt(indices, _scalar_like(indices, 0)), lax.add(indices, _scalar_like(indices, length)), indices
        )
    elif mode == "wrap":
        gather_mode = _IN_BOUNDS
        indices = remainder(indices, _scalar_like(indices, length))
    elif mode == "clip":
        gather_mode = _CLIP
    elif mode == "raise":
        raise NotImplementedError("The 'raise' mode to jnp.take is not supported.")
    else:
        raise ValueError(f"Invalid mode '{mode}' for np.take")
    return _gather_slices(a, indices, axis, gather_mode, unique_indices, indices_are_sorted, fill_value)


def _take_concrete(a, indices, axis, mode):
    """The result of NumPy's `take`; None if an index is out of bounds, because NumPy has no fill mode."""
    value, positions = a._value, indices._value
    if mode != "clip" and positions.size:
        length = value.shape[axis]
        if int(positions.max()) >= length or int(positions.min()) < -length:
            return None
    return make_array(np.asarray(value.take(positions, axis, mode="clip" if mode == "clip" else "raise")),
                      weak_type=a.weak_type)  # fmt: skip


def _scalar_like(like, value):
    """value converted to the dtype and weak type of `like`."""
    return to_dtype(value, like.dtype, like.weak_type)


def _gather_slices(a, indices, axis, mode, unique=False, is_sorted=False, fill_value=None):
    """Gathers slices along one axis with a single gather."""
    index_rank = indices.ndim
    numbers = lax.GatherDimensionNumbers(
        offset_dims=(*range(axis), *range(axis + index_rank, a.ndim + index_rank - 1)),
        collapsed_slice_dims=(axis,),
        start_index_map=(axis,),
    )
    sizes = tuple((1 if a.shape[axis] else 0) if i == axis else d for i, d in enumerate(a.shape))
    return lax.gather(
        a, lax.expand_dims(indices, (index_rank,)), dimension_numbers=numbers, slice_sizes=sizes,
        unique_indices=unique, indices_are_sorted=is_sorted, mode=mode, fill_value=fill_value,
    )  # fmt: skip


def take_in_bounds(a, indices, axis):
    """Takes slices at non-negative indices that are known to be in bounds."""
    return _gather_slices(a, ensure_arraylike("take", indices), axis, _IN_BOUNDS)


@staged("take_along_axis", static_argnames=("axis", "mode", "fill_value", "wrap_negative_indices"))
def take_along_axis(
    arr: ArrayLike,
    indices: ArrayLike,
    axis: int | None = -1,
    mode: Any = None,
    fill_value: ArrayLike | None = None,
    *,
    wrap_negative_indices: bool | None = None,
) -> Array:
    """Returns the elements at indices along an axis, one index for each element.

    Args:
      arr: array.
      indices: integer array of the rank of `arr`; the other axes broadcast.  Negative ones count from the end.
      axis: int; None flattens `arr`.
      mode: "fill" (default: out-of-bounds gives NaN or the lowest integer), "clip", "promise_in_bounds", "one_hot"
        (out-of-bounds gives 0; in JAX a product with one-hot vectors) or a `GatherScatterMode`.
      fill_value: the value for indices out of bounds in mode "fill".
      wrap_negative_indices: whether negative indices count from the end; default: True.

    Returns:
      Array of the dtype of `arr` and the broadcast shape of both.

    Raises:
      ValueError: the ranks differ.
      TypeError: the indices are not integers.

    Examples:
      >>> x = jnp.array([[3, 1, 2], [6, 5, 4]])
      >>> jnp.take_along_axis(x, jnp.argsort(x, axis=1), axis=1)
      Array([[1, 2, 3],
             [4, 5, 6]], dtype=int32)
    """
    a, indices = ensure_arraylike("take_along_axis", arr), ensure_arraylike("take_along_axis", indices)
    if not dtypes.is_integer(indices.dtype):
        raise TypeError(f"take_along_axis indices must be of integer type, got {indices.dtype}")
    if axis is None:
        if indices.ndim != 1:
            raise ValueError(f"take_along_axis indices must be 1D if axis=None, got shape {indices.shape}")
        a, axis = ravel(a), 0
    if indices.ndim != a.ndim:
        raise ValueError(f"indices and arr must have the same number of dimensions; {indices.ndim} vs. {a.ndim}")
    axis = canonical_axis(axis, a.ndim)
    if mode == "one_hot":
        mode, fill_value = "fill", 0
    if mode not in (None, "fill", "clip", "promise_in_bounds") and not isinstance(mode, lax.GatherScatterMode):
        raise ValueError(f"Invalid mode {mode!r} for take_along_axis")
    indices = lax.convert_element_type(indices, np.dtype(np.int64 if _needs_int64_indices(a.shape) else np.int32))
    if wrap_negative_indices is None or wrap_negative_indices:
        indices = slicing.wrap_negative_indices(indices, a.shape[axis])
    return _gather_along(a, indices, axis, _FILL if mode is None else lax.GatherScatterMode.from_any(mode), fill_value)


def _needs_int64_indices(shape):
    """Whether some axis has more elements than int32 can number."""
    return any(dims.is_constant(d) and d >= 2**31 for d in shape)


def _gather_along(a, indices, axis, mode, fill_value):
    """`take_along_axis` as one gather: other axes are batching axes, or windows where only `indices` has length 1."""
    rank = a.ndim
    shape = lax.broadcast_shapes(
        tuple(1 if i == axis else d for i, d in enumerate(a.shape)),
        tuple(1 if i == axis else d for i, d in enumerate(indices.shape)),
    )
    batching, offsets, collapsed, sizes, index_axes = [], [], [], [], []
    for i in range(rank):
        if i == axis:
            collapsed.append(i)
            sizes.append(1 if a.shape[i] else 0)
            index_axes.append(i)
        elif a.shape[i] == 1 and indices.shape[i] != 1:
            collapsed.append(i)  # one slice of a serves all indices
            sizes.append(1)
            index_axes.append(i)
        elif indices.shape[i] == 1 and a.shape[i] != 1:
            offsets.append(i)  # the whole axis of a, for each index
            sizes.append(a.shape[i])
        else:
            batching.append(i)
            sizes.append(1)
            index_axes.append(i)
    gathered = reshape(indices, tuple(indices.shape[i] for i in index_axes) + (1,))
    numbers = lax.GatherDimensionNumbers(
        offset_dims=tuple(offsets),
        collapsed_slice_dims=tuple(collapsed),
        start_index_map=(axis,),
        operand_batching_dims=tuple(batching),
        start_indices_batching_dims=tuple(index_axes.index(i) for i in batching),
    )
    out = lax.gather(a, gathered, dimension_numbers=numbers, slice_sizes=tuple(sizes), mode=mode, fill_value=fill_value)
    result_shape = tuple(indices.shape[axis] if i == axis else d for i, d in enumerate(shape))
    return out if out.shape == result_shape else reshape(out, result_shape)


# --- diagonals and triangles --------------------------------------------------------------------------------------


@staged("diagonal", static_argnames=("offset", "axis1", "axis2"))
def diagonal(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """Returns the diagonals of two axes as a new last axis.

    Args:
      a: array of rank 2 or more.
      offset: int; above the main diagonal where positive.
      axis1, axis2: ints, the two axes.

    Returns:
      Array of the other axes and one of the length of the diagonal; a copy, unlike NumPy's.

    Raises:
      ValueError: `a` has less than 2 axes.

    Examples:
      >>> jnp.diagonal(jnp.array([[1, 2], [3, 4]]))
      Array([1, 4], dtype=int32)
    """
    a = ensure_arraylike("diagonal", a)
    if a.ndim < 2:
        raise ValueError("diagonal requires an array of at least two dimensions.")
    offset = concrete_or_error(operator.index, offset, "'offset' argument of jnp.diagonal()")
    first, second = canonical_axis(axis1, a.ndim), canonical_axis(axis2, a.ndim)
    a = lax.transpose(a, [*(i for i in range(a.ndim) if i not in (first, second)), first, second])
    rows, columns = a.shape[-2:]
    if a.ndim == 2 and offset == 0 and a.dtype != np.bool_ and dims.equal(rows, columns):
        a = lax.convert_element_type(a, a.dtype)  # not weakly typed there, as one of JAX's two ways multiplies by eye
    length = dims.max_dim(0, dims.min_dim(rows + min(offset, 0), columns - max(offset, 0)))
    if dims.equal(length, 0):
        return lax.full((*a.shape[:-2], 0), 0, a.dtype)
    i = j = lax.iota(dtypes.scalar_dtype(int), length)
    j = lax.iota(i.dtype, length)
    if offset > 0:
        j = lax.add(_scalar_like(j, offset), j)
    elif offset < 0:
        i = lax.add(_scalar_like(i, -offset), i)
    return _gather_pairs(a, slicing.wrap_negative_indices(i, rows), slicing.wrap_negative_indices(j, columns))


def _gather_pairs(a, i, j):
    """a[..., i, j] for index vectors."""
    lead = a.ndim - 2
    numbers = lax.GatherDimensionNumbers(
        offset_dims=tuple(range(lead)),
        collapsed_slice_dims=(lead, lead + 1),
        start_index_map=(lead, lead + 1),
    )
    pairs = lax.concatenate([lax.expand_dims(i, (1,)), lax.expand_dims(j, (1,))], 1)
    return lax.gather(a, pairs, dimension_numbers=numbers, slice_sizes=(*a.shape[:-2], 1, 1), mode=_IN_BOUNDS)


def diag(v: ArrayLike, k: int = 0) -> Array:
    """Returns a diagonal of a matrix, or the matrix that has a vector as its diagonal.

    Args:
      v: array of rank 1 or 2.
      k: int, the diagonal; above the main one where positive.

    Returns:
      Array of rank 2 for a vector, of rank 1 for a matrix.

    Raises:
      ValueError: `v` has another rank.

    Examples:
      >>> jnp.diag(jnp.array([1, 2]))
      Array([[1, 0],
             [0, 2]], dtype=int32)
      >>> jnp.diag(jnp.array([[1, 2], [3, 4]]), k=1)
      Array([2], dtype=int32)
    """
    return _diag(v, operator.index(k))


@staged("_diag", static_argnames=("k",))
def _diag(v, k):
    v = ensure_arraylike("diag", v)
    if v.ndim == 1:
        zero = _scalar_like(v, 0)
        n = v.shape[0] + abs(k)
        v = lax.pad(v, zero, [(max(0, -k), max(0, k), 0)])
        index = dtypes.scalar_dtype(int)
        i, j = lax.broadcasted_iota(index, (n, n), 0), lax.broadcasted_iota(index, (n, n), 1)
        on_diagonal = lax.eq(lax.add(i, index.type(k)), j)
        return where(on_diagonal, lax.expand_dims(v, (1,)), zero)
    if v.ndim == 2:
        return diagonal(v, offset=k)
    raise ValueError("diag input must be 1d or 2d")


def diagflat(v: ArrayLike, k: int = 0) -> Array:
    """Returns the matrix that has the elements of an array as its diagonal.

    Args:
      v: array of n elements, which is flattened.
      k: int, the diagonal; above the main one where positive.

    Returns:
      Array of shape (n + |k|, n + |k|).

    Examples:
      >>> jnp.diagflat(jnp.array([[1, 2]]), k=1)
      Array([[0, 1, 0],
             [0, 0, 2],
             [0, 0, 0]], dtype=int32)
    """
    v = ensure_arraylike("diagflat", v)
    return diag(lax.convert_element_type(ravel(v), v.dtype), k)


def _triangle(name, m, k, keep_lower):
    m = ensure_arraylike(name, m)
    if m.ndim < 2:
        raise ValueError(f"Argument to jax.numpy.{name} must be at least 2D")
    k = dims.as_dim(k)
    rows, columns = m.shape[-2:]
    mask = lower_mask(rows, columns, k if keep_lower else k - 1)
    zeros = lax.full_like(m, 0)
    mask = mask if m.ndim == 2 else lax.broadcast_in_dim(mask, m.shape, (m.ndim - 2, m.ndim - 1))
    return lax.select(mask, m, zeros) if keep_lower else lax.select(mask, zeros, m)


@staged("tril", static_argnames=("k",))
def tril(m: ArrayLike, k: int = 0) -> Array:
    """Returns matrices with zeros above a diagonal.

    Args:
      m: array of shape (..., n, k).
      k: int, the diagonal; above the main one where positive.

    Returns:
      Array of the shape and dtype of `m`.

    Raises:
      ValueError: the rank is below 2.
      OverflowError: the default integer dtype does not hold the offset of the mask.

    Examples:
      >>> jnp.tril(jnp.ones((3, 3)))
      Array([[1., 0., 0.],
             [1., 1., 0.],
             [1., 1., 1.]], dtype=float32)
    """
    return _triangle("tril", m, k, True)


@staged("triu", static_argnames=("k",))
def triu(m: ArrayLike, k: int = 0) -> Array:
    """Returns matrices with zeros below a diagonal.

    Args:
      m: array of shape (..., n, k).
      k: int, the diagonal; above the main one where positive.

    Returns:
      Array of the shape and dtype of `m`.

    Raises:
      ValueError: the rank is below 2.
      OverflowError: the default integer dtype does not hold the offset of the mask.

    Examples:
      >>> jnp.triu(jnp.ones((3, 3)), k=1)
      Array([[0., 1., 1.],
             [0., 0., 1.],
             [0., 0., 0.]], dtype=float32)
    """
    return _triangle("triu", m, k, False)


@staged("trace", static_argnames=("axis1", "axis2", "dtype"))
def trace(
    a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None, out: None = None
) -> Array:
    """Returns the sums of the diagonals of two axes.

    Args:
      a: array of rank 2 or more.
      offset: int; above the main diagonal where positive.
      axis1, axis2: ints, the two axes.
      dtype: dtype of the sum; default: as for `sum`.
      out: must be None.

    Returns:
      Array of the other axes.

    Raises:
      NotImplementedError: `out` is given.
      ValueError: `offset` is no integer, or both axes are the same.

    Examples:
      >>> jnp.trace(jnp.array([[1, 2], [3, 4]]))
      Array(5, dtype=int32)
    """
    a = ensure_arraylike("trace", a)
    if out is not None:
        raise NotImplementedError("The 'out' argument to jnp.trace is not supported.")
    a, offset = check_arraylike("trace", a, offset)
    if np.ndim(offset) or not dtypes.is_integer(dtypes.dtype(offset)):
        raise ValueError(f"trace: k must be a scalar integer; got {offset}")
    if canonical_axis(axis1, a.ndim) == canonical_axis(axis2, a.ndim):
        raise ValueError(f"axis1 and axis2 can not be same. axis1={axis1} and axis2={axis2}")
    first, second = canonical_axis(axis1, a.ndim), canonical_axis(axis2, a.ndim)
    given = None if dtype is None else dtypes.check_user_dtype(dtype, "trace")
    a = lax.transpose(a, [*(i for i in range(a.ndim) if i not in (first, second)), first, second])
    index = np.dtype(np.int32)
    i, j = (lax.broadcasted_iota(index, a.shape[-2:], axis) for axis in (0, 1))
    mask = lax.eq(lax.add(i, to_dtype(offset, index)), j)
    a = where(mask, a, lax.full_like(a, 0))
    return _sum(a, axis=(-2, -1), dtype=given)


@staged("choose", static_argnames=("mode",))
def _choose(a, choices, mode):
    choices = promote_dtypes(*choices)
    n = len(choices)
    if mode == "clip":
        a = lax.clamp(a.dtype.type(0), a, a.dtype.type(n - 1))
    elif mode == "wrap":
        a = remainder(a, a.dtype.type(n))
    shape = lax.broadcast_shapes(a.shape, *(c.shape for c in choices))
    a = lax.convert_element_type(broadcast_to(a, shape), np.int32)
    return lax.select_n(a, *(broadcast_to(c, shape) for c in choices))


def choose(a: ArrayLike, choices: ArrayLike | Sequence[ArrayLike], out: None = None, mode: str = "raise") -> Array:
    """Returns, for each element k of a, the element of choices[k].

    Args:
      a: integer array.
      choices: sequence of n arrays, or an array whose slices they are; all broadcast against `a`.
      out: must be None.
      mode: for numbers outside of 0 to n - 1: "raise" (default; `a` must be concrete), "wrap" or "clip".

    Returns:
      Array of the broadcast shape, of the promoted dtype of the choices.

    Raises:
      ValueError: a number is out of range in mode "raise", or the mode is unknown.
      NotImplementedError: `out` is given.

    Examples:
      >>> jnp.choose(jnp.array([0, 1, 0]), [jnp.array([1, 2, 3]), jnp.array([10, 20, 30])])
      Array([ 1, 20,  3], dtype=int32)
    """
    if out is not None:
        raise NotImplementedError("The 'out' argument to jnp.choose is not supported.")
    choices = list(choices)
    a, *choices = check_arraylike("choose", a, *choices)
    a = ensure_arraylike("choose", a)
    if not dtypes.is_integer(a.dtype) and a.dtype != np.bool_:
        raise ValueError("`a` array must be integer typed")
    if mode == "raise":
        concrete = np.asarray(concrete_or_error(None, a, (
            "The error occurred because jnp.choose was jit-compiled with mode='raise'. Use mode='wrap' or mode='clip' "
            "instead."
        )))  # fmt: skip
        if ((concrete < 0) | (concrete >= len(choices))).any():
            raise ValueError("invalid entry in choice array")
    elif mode not in ("wrap", "clip"):
        raise ValueError(f"mode={mode!r} not understood. Must be 'raise', 'wrap', or 'clip'")
    return _choose(a, choices, mode)
