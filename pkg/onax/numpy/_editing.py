"""Arrays with some elements replaced, removed or inserted.  NumPy writes in place; these return new arrays."""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np

from onax import lax
from onax._control.jit_call import staged
from onax._core.trace import Tracer, concrete_or_error
from onax._ground import dims, dtypes
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax._prims import slicing
from onax.numpy._creation import asarray, broadcast_to
from onax.numpy._gathering import take_in_bounds
from onax.numpy._promotion import canonical_axis, check_arraylike, ensure_arraylike, from_jax_array, to_dtype
from onax.numpy._shaping import ravel, reshape
from onax.numpy._ufuncs import constant_like
from onax.numpy._where import where


def _refuse_in_place(name, inplace):
    if inplace:
        raise ValueError(
            f"jax.numpy.{name} cannot modify arrays in-place, because JAX arrays are immutable. Pass inplace=False to "
            "instead return an updated array."
        )


def fill_diagonal(a: ArrayLike, val: ArrayLike, wrap: bool = False, *, inplace: bool = True) -> Array:
    """Returns an array with values on its main diagonal.

    Unlike NumPy's, which writes to `a`, this function returns the new array: inplace=False is required.

    Args:
      a: array of rank 2 or more whose axes have one length, where the rank is above 2.
      val: scalar, or array whose elements are repeated as needed.
      wrap: whether the diagonal begins anew below, in a tall matrix.
      inplace: must be False.

    Returns:
      Array of the shape and dtype of `a`.

    Raises:
      NotImplementedError: inplace is True.
      ValueError: the rank is below 2, or lengths of more than two axes differ.

    Examples:
      >>> jnp.fill_diagonal(jnp.zeros((2, 2)), 5.0, inplace=False)
      Array([[5., 0.],
             [0., 5.]], dtype=float32)
    """
    if inplace:
        raise NotImplementedError("JAX arrays are immutable, must use inplace=False")
    if wrap:
        raise NotImplementedError("wrap=True is not implemented, must use wrap=False")
    a, val = check_arraylike("fill_diagonal", a, val)
    a, val = ensure_arraylike("fill_diagonal", a), ensure_arraylike("fill_diagonal", val)
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim > 2 and len(set(a.shape)) != 1:
        raise ValueError("All dimensions of input must be equal length")
    n = min(a.shape)
    i = lax.iota(dtypes.scalar_dtype(int), n)
    if val.ndim == 0:
        return a.at[(i,) * a.ndim].set(lax.convert_element_type(val, a.dtype))
    flat = ravel(val)
    times = -(-n // flat.shape[0])
    values = lax.slice(lax.tile(flat, (times,)), (0,), (n,))
    return a.at[(i,) * a.ndim].set(lax.convert_element_type(values, a.dtype))


def put(a: ArrayLike, ind: ArrayLike, v: ArrayLike, mode: str | None = None, *, inplace: bool = True) -> Array:
    """Returns an array with values at indices into the flattened array.

    Unlike NumPy's, which writes to `a`, this function returns the new array: inplace=False is required.

    Args:
      a: array.
      ind: integers.
      v: values, repeated as needed.
      mode: for indices out of bounds: None clamps them, where negative ones count from the end, "clip" clamps all of
        them to [0, size), "wrap" takes them modulo the size.
      inplace: must be False.

    Returns:
      Array of the shape and dtype of `a`.

    Raises:
      ValueError: inplace is True, or the mode is unknown.
      NotImplementedError: the mode is "raise".

    Examples:
      >>> jnp.put(jnp.zeros(4), jnp.array([0, 2]), jnp.array([5.0, 7.0]), inplace=False)
      Array([5., 0., 7., 0.], dtype=float32)
    """
    _refuse_in_place("put", inplace)
    a, ind, v = check_arraylike("put", a, ind, v)
    a, ind, v = ensure_arraylike("put", a), ravel(ensure_arraylike("put", ind)), ravel(ensure_arraylike("put", v))
    if not a.size or not ind.size or not v.size:
        return a
    v = lax.slice(lax.tile(v, (-(-ind.size // v.size),)), (0,), (ind.size,))
    if mode == "raise":
        raise NotImplementedError("The 'raise' mode to jnp.put is not supported.")
    if mode not in (None, "clip", "wrap"):
        raise ValueError(f"mode should be one of 'wrap' or 'clip'; got {mode=}")
    if dtypes.itemsize_bits(ind.dtype) < 32:
        ind = lax.convert_element_type(ind, np.int32)  # which holds the size, too
    n = ind.dtype.type(a.size)
    if mode == "wrap":
        ind = lax.rem(lax.add(lax.rem(ind, n), n), n)
    else:
        lowest = -a.size if mode is None and not dtypes.is_unsigned(ind.dtype) else 0
        ind = lax.clamp(ind.dtype.type(lowest), ind, ind.dtype.type(a.size - 1))
    flat = ravel(a).at[ind].set(lax.convert_element_type(v, a.dtype), mode="promise_in_bounds")
    return reshape(flat, a.shape)


@staged("put_along_axis", static_argnames=("axis", "inplace", "mode"))
def put_along_axis(
    arr: ArrayLike,
    indices: ArrayLike,
    values: ArrayLike,
    axis: int | None,
    inplace: bool = True,
    *,
    mode: str | None = None,
) -> Array:
    """Returns an array with values written at indices along an axis.

    Unlike NumPy's, which writes to `arr`, this function returns the new array: inplace=False is required.

    Args:
      arr: array.
      indices: integer array of the rank of `arr`; the other axes broadcast.
      values: array that broadcasts to the shape of the indices.
      axis: int; None flattens `arr`.
      inplace: must be False.
      mode: for indices out of bounds, as for `arr.at[...]`: "drop" (default), "clip" or "promise_in_bounds".

    Returns:
      Array of the shape and dtype of `arr`.

    Raises:
      ValueError: inplace is True, or ranks do not fit.

    Examples:
      >>> x = jnp.zeros((2, 3))
      >>> jnp.put_along_axis(x, jnp.array([[0], [2]]), jnp.array([[1.0], [2.0]]), axis=1, inplace=False)
      Array([[1., 0., 0.],
             [0., 0., 2.]], dtype=float32)
    """
    _refuse_in_place("put_along_axis", inplace)
    arr, indices, values = (ensure_arraylike("put_along_axis", x) for x in (arr, indices, values))
    shape = arr.shape
    if axis is None:
        arr, axis = ravel(arr), 0
        indices = ravel(indices)
    if arr.ndim != indices.ndim:
        raise ValueError("put_along_axis arguments 'arr' and 'indices' must have same ndim. Got "
                         f"{arr.ndim=} and {indices.ndim=}.")  # fmt: skip
    axis = canonical_axis(axis, arr.ndim)
    wide = list(lax.broadcast_shapes(
        tuple(1 if i == axis else d for i, d in enumerate(arr.shape)),
        tuple(1 if i == axis else d for i, d in enumerate(indices.shape)),
    ))  # fmt: skip
    wide[axis] = indices.shape[axis]
    indices = broadcast_to(indices, tuple(wide))
    values = broadcast_to(lax.convert_element_type(values, arr.dtype), tuple(wide))
    index = tuple(
        indices if i == axis else lax.broadcasted_iota(indices.dtype, tuple(wide), i) for i in range(arr.ndim)
    )
    return reshape(arr.at[index].set(values, mode=mode), shape)


def place(arr: ArrayLike, mask: ArrayLike, vals: ArrayLike, *, inplace: bool = True) -> Array:
    """Returns an array with values in order where a mask holds.

    Unlike NumPy's, which writes to `arr`, this function returns the new array: inplace=False is required.

    Args:
      arr: array.
      mask: bool array of the size of `arr`.
      vals: values, repeated as needed.
      inplace: must be False.

    Returns:
      Array of the shape and dtype of `arr`.

    Raises:
      ValueError: inplace is True, the sizes differ, or there are no values.

    Examples:
      >>> jnp.place(jnp.zeros(4), jnp.array([True, False, True, True]), jnp.array([1.0, 2.0]), inplace=False)
      Array([1., 0., 2., 1.], dtype=float32)
    """
    _refuse_in_place("place", inplace)
    arr, mask, vals = check_arraylike("place", arr, mask, vals)
    arr, mask, vals = (ensure_arraylike("place", x) for x in (arr, mask, vals))
    vals = ravel(vals)
    if arr.size != mask.size:
        raise ValueError("place: arr and mask must be the same size")
    if not vals.size:
        raise ValueError("Cannot place values from an empty array")
    if not arr.size:
        return arr
    holds = lax.ne(ravel(mask), constant_like(mask, 0))
    count = lax.cumsum(lax.convert_element_type(holds, np.int32), 0)
    which = lax.rem(lax.max(lax.sub(count, np.int32(1)), np.int32(0)), np.int32(vals.size))
    chosen = take_in_bounds(vals, which, 0)
    flat = lax.select(holds, lax.convert_element_type(chosen, arr.dtype), ravel(arr))
    return reshape(flat, arr.shape)


def _static_indices(obj, n, axis):
    """The indices that `obj` (a slice, integers or a mask) selects, as an ndarray."""
    if isinstance(obj, slice):
        return np.arange(n)[obj]
    indices = np.asarray(concrete_or_error(None, obj, "the 'obj' argument of jnp.delete"))
    if indices.dtype == bool:
        if indices.shape != (n,):
            raise ValueError(
                "np.delete(arr, obj): for boolean indices, obj must be one-dimensional with length matching specified "
                "axis."
            )
        return np.flatnonzero(indices)
    return indices


def delete(
    arr: ArrayLike, obj: ArrayLike | slice, axis: int | None = None, *, assume_unique_indices: bool = False
) -> Array:
    """Returns an array without the slices at indices along an axis.

    Args:
      arr: array.
      obj: int, slice, or array of ints or bools; arrays that are not unique ints must be concrete.
      axis: int; default: the elements of the flattened array.
      assume_unique_indices: whether the indices are known to be distinct; they may be traced then.

    Returns:
      Array of the dtype of `arr`, shorter along the axis.

    Raises:
      ValueError: `obj` is neither a slice nor of integers or bools.
      IndexError: an index is out of bounds.

    Examples:
      >>> jnp.delete(jnp.array([1, 2, 3, 4]), jnp.array([0, 2]))
      Array([2, 4], dtype=int32)
    """
    obj = from_jax_array(obj)
    check_arraylike("delete", arr, 0 if isinstance(obj, slice) else obj)
    if not isinstance(obj, slice):
        kind = dtypes.dtype(obj)
        if not (dtypes.is_integer(kind) or kind == np.bool_):
            raise ValueError(f"np.delete(arr, obj): got obj.dtype={kind.name}; must be integer or bool.")
    arr = ensure_arraylike("delete", arr)
    if axis is None:
        arr, axis = ravel(arr), 0
    axis = canonical_axis(axis, arr.ndim)
    n = arr.shape[axis]
    mask = isinstance(obj, (np.ndarray, Array)) and obj.dtype == np.bool_
    if assume_unique_indices and not isinstance(obj, (slice, int)) and not mask:
        return _delete_unique(arr, ravel(ensure_arraylike("delete", obj)), axis)
    if not isinstance(obj, slice) and np.ndim(obj) == 0 and not mask:
        i = canonical_axis(concrete_or_error(operator.index, obj, "the 'obj' argument of jnp.delete"), n) if n else 0
        before = lax.slice_in_dim(arr, 0, i, axis=axis)
        return lax.concatenate([before, lax.slice_in_dim(arr, i + 1, n, axis=axis)], axis)
    indices = _static_indices(obj, n, axis)
    outside = indices[(indices < -n) | (indices >= n)]
    if outside.size:
        raise IndexError(f"index {outside[0]} is out of bounds for axis {axis} with size {n}")
    keep = np.ones(n, bool)
    keep[indices] = False
    return take_in_bounds(arr, np.flatnonzero(keep).astype(np.int32), axis)


def _delete_unique(arr, indices, axis):
    """The slices that are not at distinct indices, whose values need not be known: the i-th one that stays is as far
    behind place i as there are removed ones before it."""
    n = arr.shape[axis]
    indices = lax.clamp(indices.dtype.type(0), slicing.wrap_negative_indices(indices, n), indices.dtype.type(n))
    removed = lax.sub(lax.sort(indices), lax.iota(indices.dtype, indices.size))
    stay = lax.iota(indices.dtype, n - indices.size)
    shape = indices.size, stay.size
    before = lax.le(lax.broadcast_in_dim(removed, shape, (0,)), lax.broadcast_in_dim(stay, shape, (1,)))
    skipped = lax.reduce_sum(lax.convert_element_type(before, stay.dtype), (0,))
    return take_in_bounds(arr, lax.add(stay, skipped), axis)


def insert(arr: ArrayLike, obj: ArrayLike | slice, values: ArrayLike, axis: int | None = None) -> Array:
    """Returns an array with values inserted before indices along an axis.

    Args:
      arr: array.
      obj: int, slice, or array of ints.
      values: what to insert; broadcasts against the slices.
      axis: int; default: the flattened array.

    Returns:
      Array of the dtype of `arr`, longer along the axis.

    Raises:
      ValueError: `obj` has more than one axis or is not of integers; `values` do not broadcast.

    Examples:
      >>> jnp.insert(jnp.array([1, 2, 3]), 1, 9)
      Array([1, 9, 2, 3], dtype=int32)
    """
    obj = from_jax_array(obj)
    check_arraylike("insert", arr, 0 if isinstance(obj, slice) else obj, values)
    arr, values = ensure_arraylike("insert", arr), ensure_arraylike("insert", values)
    if axis is None:
        arr, axis = ravel(arr), 0
    axis = canonical_axis(axis, arr.ndim)
    n = arr.shape[axis]
    indices = np.arange(n)[obj] if isinstance(obj, slice) else ensure_arraylike("insert", obj)
    if indices.ndim > 1:
        raise ValueError(f"jnp.insert(): obj must be a slice, a one-dimensional array, or a scalar; got {obj}")
    if not dtypes.is_integer(indices.dtype):
        if indices.size:
            raise ValueError(f"jnp.insert(): index array must be integer typed; got {obj}")
        indices = indices.astype(int)
    values = lax.broadcast_to_rank(lax.convert_element_type(values, arr.dtype), arr.ndim)
    one = indices.size == 1
    if not indices.ndim and values.ndim:
        values = lax.transpose(values, [*range(1, axis + 1), 0, *range(axis + 1, values.ndim)])
    length = values.shape[axis] if values.ndim else 1
    count = length if one else lax.broadcast_shapes(indices.shape, (length,))[0]
    values = broadcast_to(values, tuple(count if i == axis else d for i, d in enumerate(arr.shape)))
    values = to_dtype(values, arr.dtype, arr.weak_type)
    if isinstance(indices, Tracer) or not all(map(dims.is_constant, (n, count))):
        indices = lax.convert_element_type(indices, np.int32)
        indices = slicing.wrap_negative_indices(indices, n)
        indices = lax.clamp(np.int32(0), indices, slicing.dim_value(n, np.int32))
        source = _source_of_one(reshape(indices, ()), n, count) if one else _source_of_many(indices, n)
    else:
        source = _known_source(np.asarray(indices), n, count)
    return take_in_bounds(lax.concatenate([arr, values], axis), source, axis)


def _known_source(indices, n, count):
    """For each place of the result of `insert` where it comes from, among n elements and the `count` inserted ones."""
    indices = np.clip(np.where(indices < 0, indices + n, indices), 0, n)
    indices = np.broadcast_to(indices, (count,))
    order = np.argsort(indices, kind="stable")
    targets = np.empty(count, np.int64)
    targets[order] = indices[order] + np.arange(count)
    source = np.empty(n + count, np.int32)
    is_new = np.zeros(n + count, bool)
    is_new[targets] = True
    source[~is_new] = np.arange(n)
    source[targets] = n + np.arange(count)
    return source


def _source_of_one(index, n, count):
    """The same, before one index whose value or whose sizes are not known."""
    place = lax.iota(np.int32, n + count)
    behind = lax.sub(place, index)
    count, length = slicing.dim_value(count, np.int32), slicing.dim_value(n, np.int32)
    source = where(lax.lt(behind, count), lax.add(behind, length), lax.sub(place, count))
    return where(lax.lt(behind, np.int32(0)), place, source)


def _source_of_many(indices, n):
    """The same, before several such indices: a place is an inserted one's if it is the i-th sorted index plus i."""
    (count,) = indices.shape
    numbers = lax.iota(np.int32, count)
    targets, order = lax.sort_key_val(indices, numbers)
    targets = lax.add(targets, numbers)
    shape = n + count, count
    targets, order = (lax.broadcast_in_dim(x, shape, (1,)) for x in (targets, order))
    place = lax.iota(np.int32, n + count)
    places = lax.broadcast_in_dim(place, shape, (0,))
    before = lax.reduce_sum(lax.convert_element_type(lax.lt(targets, places), np.int32), (1,))
    is_this = lax.eq(targets, places)
    inserted = lax.reduce_sum(lax.select(is_this, order, lax.full_like(order, 0)), (1,))
    inserted = lax.add(inserted, slicing.dim_value(n, np.int32))
    return where(lax.reduce_or(is_this, (1,)), inserted, lax.sub(place, before))


def _canonical_trim_axes(axis, ndim):
    if axis is None:
        return range(ndim)
    if np.ndim(axis) and isinstance(axis, (np.ndarray, Array)):
        raise TypeError(f"trim_zeros: axis must be an integer or a tuple of integers, got {axis!r}")
    axes = [canonical_axis(a, ndim) for a in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    if len(set(axes)) != len(axes):
        raise ValueError(f"repeated axis: {axis}")
    return axes


def trim_zeros(filt: ArrayLike, trim: str = "fb", axis: int | Sequence[int] | None = None) -> Array:
    """Returns an array without zeros at its ends.

    Args:
      filt: array; it must be concrete.
      trim: "f" for the front, "b" for the back, "fb" for both.
      axis: int or ints to trim; default: all axes.

    Returns:
      Array of the dtype of `filt`.

    Raises:
      TypeError: `trim` is no str.
      ValueError: there is no such axis.

    Examples:
      >>> jnp.trim_zeros(jnp.array([0, 0, 1, 2, 0]))
      Array([1, 2], dtype=int32)
    """
    (filt,) = check_arraylike("trim_zeros", filt)
    if not isinstance(trim, str):
        raise TypeError(f"trim_zeros: trim must be a string of 'f' and 'b', got {trim!r}")
    concrete = np.asarray(concrete_or_error(None, filt, "Error arose in the `filt` argument of trim_zeros()"))
    filt = asarray(filt)
    nonzero = np.argwhere(concrete)
    axes = _canonical_trim_axes(axis, filt.ndim)
    starts, stops = [0] * filt.ndim, list(filt.shape)
    for a in axes:
        low = int(nonzero[:, a].min()) if len(nonzero) else filt.shape[a]
        high = int(nonzero[:, a].max()) + 1 if len(nonzero) else filt.shape[a] if "f" in trim.lower() else 0
        starts[a] = low if "f" in trim.lower() else 0
        stops[a] = high if "b" in trim.lower() else filt.shape[a]
    return lax.slice(filt, starts, stops)
