"""Sets: unique and its array API forms, union1d, intersect1d, setdiff1d, setxor1d.

How many elements a set has is not a static shape: under `jit` these functions need `size=`, which cuts off or fills up.
Values come sorted; NaN counts as one value unless equal_nan is False.
"""

from __future__ import annotations

import operator
from typing import Literal, NamedTuple, overload

import numpy as np

from onax import lax
from onax._core.api_functions import static_argnames
from onax._core.trace import concrete_or_error
from onax._ground import dims, dtypes
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.numpy._cumulative import cumsum
from onax.numpy._gathering import take, take_in_bounds
from onax.numpy._joining import concatenate
from onax.numpy._promotion import (
    canonical_axis,
    check_arraylike,
    ensure_arraylike,
    ensure_arraylikes,
    promote_dtypes,
    to_dtype,
)
from onax.numpy._reductions import max as max_
from onax.numpy._reductions import min as min_
from onax.numpy._searching import count_true, has_many_pairs, nonzero, searchsorted
from onax.numpy._shaping import (
    moveaxis,
    ravel,
    reshape,
)
from onax.numpy._sorting import lexsort
from onax.numpy._where import where

_HINT = (
    "To make jnp.unique() compatible with JIT and other transforms, you can specify a concrete value for the size "
    "argument, which will determine the output size."
)
_FIRST = f"The error arose for the first argument of jnp.unique(). {_HINT}"


def _prefix_mask(size, count):
    """A mask of length `size` whose first `count` elements are True."""
    index = dtypes.scalar_dtype(int)
    return lax.lt(lax.iota(index, size), lax.convert_element_type(count, index))


# --- unique -------------------------------------------------------------------------------------------------------


@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False] = False,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
    sorted: bool = True,
) -> Array: ...


@overload
def unique(
    ar: ArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
    sorted: bool = True,
) -> tuple[Array, ...]: ...


def unique(
    ar: ArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
    sorted: bool = True,
) -> Array | tuple[Array, ...]:
    """Returns the sorted distinct elements of an array, or its distinct slices along an axis.

    Under `jit` the number of results must be fixed by `size`.

    Args:
      ar: array.
      return_index: whether the indices of first occurrences are returned too.
      return_inverse: whether the indices are returned that rebuild `ar` from the distinct values.
      return_counts: whether the number of occurrences is returned too.
      axis: int, along which slices are compared; default: the elements of the flattened array.
      equal_nan: whether all NaN count as one value.
      size: int, the number of values to return; default: as many as there are, for which `ar` must be concrete.
      fill_value: the value that fills up to `size`; default: the smallest one.
      sorted: accepted as in NumPy; the result is sorted always.

    Returns:
      Array of values, or a named tuple of values and what was asked for, in the order of the parameters.

    Raises:
      ValueError: there is no such axis.

    Examples:
      >>> jnp.unique(jnp.array([3, 1, 3]))
      Array([1, 3], dtype=int32)
      >>> jnp.unique(jnp.array([3, 1, 3]), size=3, return_counts=True)
      (Array([1, 3, 1], dtype=int32), Array([1, 2, 0], dtype=int32))
    """
    a = ensure_arraylike("unique", ar)
    if size is None:
        a = ensure_arraylike("unique", concrete_or_error(None, a, _FIRST))
    else:
        size = concrete_or_error(
            operator.index, size, f"The error arose for the size argument of jnp.unique(). {_HINT}"
        )
    shape = a.shape
    flat, axis_at = (ravel(a), 0) if axis is None else (a, canonical_axis(axis, a.ndim))
    values, first, inverse, counts, _ = _unique(flat, axis_at, equal_nan, size, fill_value)
    out = [values]
    if return_index:
        out.append(first())
    if return_inverse:
        out.append(reshape(inverse(), shape) if axis is None else inverse())
    if return_counts:
        out.append(counts())
    return out[0] if len(out) == 1 else tuple(out)


def _unique(a, axis, equal_nan, size, fill_value):
    """Returns the values, functions that compute the other results, and the number of distinct values."""
    n, index = a.shape[axis], dtypes.scalar_dtype(int)
    if n == 0 and size and fill_value is None:
        raise ValueError("jnp.unique: for zero-sized input with nonzero size argument, fill_value must be specified")
    rows, starts, order = _sort_and_mark_runs(a, axis, equal_nan)
    if not rows.size:
        return _unique_of_empty_slices(rows, axis, n, order, size, fill_value, index)
    (indices,) = nonzero(starts, size=size)
    values = take_in_bounds(rows, indices, 0)
    if size is not None and fill_value is not None:
        is_valid = _prefix_mask(size, count_true(starts))
        is_valid = lax.broadcast_in_dim(is_valid, values.shape, (0,))
        values = where(is_valid, values, to_dtype(fill_value, values.dtype))

    def first():
        return take_in_bounds(order, indices, 0)

    def inverse():
        ordinal = lax.sub(cumsum(starts), lax.full((), 1, index))
        return lax.full((n,), 0, index).at[order].set(ordinal)

    def counts():
        if size is None:
            ends = concatenate([indices, lax.full((1,), n, index)])
        else:
            (ends,) = nonzero(starts, size=size + 1, fill_value=n)
        return lax.sub(lax.slice_in_dim(ends, 1, None), lax.slice_in_dim(ends, 0, ends.shape[0] - 1))

    return moveaxis(values, 0, axis), first, inverse, counts, count_true(starts)


def _sort_and_mark_runs(a, axis, equal_nan):
    """Returns the sorted slices (axis first), a mask of where a new value starts, and the sorting permutation."""
    rows = moveaxis(a, axis, 0)
    n, *rest = rows.shape
    if not rows.size:
        return rows, None, lax.full((1 if n else 0,), 0, dtypes.scalar_dtype(int))
    if dtypes.is_complex(rows.dtype):
        rows = where(lax.ne(rows, rows), to_dtype(np.nan, rows.dtype), rows)
    width = dims.prod(tuple(rest))
    flat = reshape(rows, (n, width))
    keys = [lax.squeeze(lax.slice_in_dim(flat, i, i + 1, axis=1), (1,)) for i in range(width)]
    order = lexsort(keys[::-1])
    rows = take_in_bounds(rows, order, 0)
    after, before = lax.slice_in_dim(rows, 1, n), lax.slice_in_dim(rows, 0, n - 1)
    differ = lax.ne(after, before)
    if equal_nan and dtypes.is_inexact(rows.dtype):
        both = lax.bitwise_and(lax.ne(after, after), lax.ne(before, before))
        differ = lax.bitwise_and(differ, lax.bitwise_not(both))
    differ = lax.reduce_or(differ, tuple(range(1, rows.ndim)))
    return rows, lax.concatenate([lax.full((1,), True, np.bool_), differ], 0), order


def _unique_of_empty_slices(rows, axis, n, order, size, fill_value, index):
    """`unique` of slices without elements, which are all equal."""
    count = min(n, 1)
    length = count if size is None else size
    values = lax.full((length, *rows.shape[1:]), 0 if fill_value is None else fill_value, rows.dtype)
    return (
        moveaxis(values, 0, axis),
        lambda: order,
        lambda: lax.full((n,), 0, index),
        lambda: lax.full((count,), n, index),
        lax.full((), count, index),
    )


# They print under the names that JAX gives them.
class _UniqueAllResult(NamedTuple):
    """Distinct values, indices of first occurrences, indices that rebuild the array, and numbers of occurrences."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class _UniqueCountsResult(NamedTuple):
    """Distinct values and numbers of occurrences."""

    values: Array
    counts: Array


class _UniqueInverseResult(NamedTuple):
    """Distinct values and indices that rebuild the array."""

    values: Array
    inverse_indices: Array


def unique_all(x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None) -> _UniqueAllResult:
    """Returns distinct values, indices of first occurrences, inverse indices and counts.

    Args:
      x: array, which is flattened; every NaN is a value of its own.
      size: int, the number of values to return; needed under `jit`.
      fill_value: the value that fills up to `size`; default: the smallest one.

    Returns:
      Named tuple (values, indices, inverse_indices, counts); inverse_indices has the shape of `x`.

    Examples:
      >>> jnp.unique_all(jnp.array([3, 1, 3])).inverse_indices
      Array([1, 0, 1], dtype=int32)
    """
    results = unique(
        ensure_arraylike("unique_all", x), True, True, True, equal_nan=False, size=size, fill_value=fill_value
    )  # fmt: skip
    return _UniqueAllResult(*results)


def unique_counts(
    x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None
) -> _UniqueCountsResult:
    """Returns distinct values and how often each occurs.

    Args:
      x: array, which is flattened; every NaN is a value of its own.
      size: int, the number of values to return; needed under `jit`.
      fill_value: the value that fills up to `size`; default: the smallest one.

    Returns:
      Named tuple (values, counts).

    Examples:
      >>> jnp.unique_counts(jnp.array([3, 1, 3])).counts
      Array([1, 2], dtype=int32)
    """
    x = ensure_arraylike("unique_counts", x)
    return _UniqueCountsResult(*unique(x, return_counts=True, equal_nan=False, size=size, fill_value=fill_value))


def unique_inverse(
    x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None
) -> _UniqueInverseResult:
    """Returns distinct values and the indices that rebuild the array from them.

    Args:
      x: array, which is flattened; every NaN is a value of its own.
      size: int, the number of values to return; needed under `jit`.
      fill_value: the value that fills up to `size`; default: the smallest one.

    Returns:
      Named tuple (values, inverse_indices), the second of the shape of `x`.

    Examples:
      >>> jnp.unique_inverse(jnp.array([3, 1, 3])).inverse_indices
      Array([1, 0, 1], dtype=int32)
    """
    x = ensure_arraylike("unique_inverse", x)
    return _UniqueInverseResult(*unique(x, return_inverse=True, equal_nan=False, size=size, fill_value=fill_value))


def unique_values(x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Array:
    """Returns the distinct values of an array, sorted.

    Args:
      x: array, which is flattened; every NaN is a value of its own.
      size: int, the number of values to return; needed under `jit`.
      fill_value: the value that fills up to `size`; default: the smallest one.

    Returns:
      Array of shape (number of values,) or (size,), of the dtype of `x`.

    Examples:
      >>> jnp.unique_values(jnp.array([3, 1, 3]))
      Array([1, 3], dtype=int32)
    """
    return unique(ensure_arraylike("unique_values", x), equal_nan=False, size=size, fill_value=fill_value)


# --- two sets -----------------------------------------------------------------------------------------------------


def _require_static(message, size, *operands):
    """Returns the size as an int and the operands; without a size the operands must be concrete."""
    if size is not None:
        return concrete_or_error(operator.index, size, message), *operands
    return None, *(ensure_arraylike("unique", concrete_or_error(None, x, message)) for x in operands)


def union1d(ar1: ArrayLike, ar2: ArrayLike, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Array:
    """Returns the sorted distinct values that occur in either array.

    Args:
      ar1, ar2: arrays, which are flattened.
      size: int, the number of values to return; needed under `jit`.
      fill_value: the value that fills up to `size`; default: the smallest one.

    Returns:
      Array of rank 1, of the promoted dtype.

    Examples:
      >>> jnp.union1d(jnp.array([1, 2]), jnp.array([2, 3]))
      Array([1, 2, 3], dtype=int32)
    """
    ar1, ar2 = ensure_arraylikes("union1d", ar1, ar2)
    size, ar1, ar2 = _require_static("The error arose in union1d()", size, ar1, ar2)
    return unique(concatenate([ar1, ar2], axis=None), size=size, fill_value=fill_value)


def setdiff1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
) -> Array:
    """Returns the sorted distinct values of ar1 that do not occur in ar2.

    Args:
      ar1, ar2: arrays, which are flattened.
      assume_unique: whether the values of each array are known to be distinct; then the order of ar1 stays.
      size: int, the number of values to return; needed under `jit`.
      fill_value: the value that fills up to `size`; default: 0.

    Returns:
      Array of rank 1, of the dtype of ar1.

    Examples:
      >>> jnp.setdiff1d(jnp.array([1, 2, 3]), jnp.array([2]))
      Array([1, 3], dtype=int32)
    """
    ar1, ar2 = ensure_arraylikes("setdiff1d", ar1, ar2)
    size, ar1 = _require_static("The error arose in setdiff1d()", size, ar1)
    a, b = ravel(ar1), ravel(ar2)
    fill = to_dtype(0 if fill_value is None else fill_value, a.dtype, a.weak_type)
    if a.size == 0:
        return lax.full((size or 0,), fill, a.dtype)
    count = lax.full((), a.size, dtypes.scalar_dtype(int))
    if not assume_unique:
        a, *_, count = _unique(a, 0, True, None if size is None else a.size, None)
    mask = lax.bitwise_and(isin(a, b, invert=True), _prefix_mask(a.size, count))
    return _select_masked(a, mask, size, fill)


def _select_masked(a, mask, size, fill):
    """The elements where the mask is True: all of them, or `size` elements padded with `fill`."""
    (indices,) = nonzero(mask, size=size)
    values = take_in_bounds(a, indices, 0) if a.size else lax.full((size or 0,), 0, a.dtype)
    return values if size is None else where(_prefix_mask(size, count_true(mask)), values, fill)


def _default_fill_value(a, mask, size):
    """The default fill value: the smallest of the first `size` elements under the mask."""
    values = _select_masked(a, mask, size, to_dtype(0, a.dtype))
    if not values.size:
        return values
    is_valid = _prefix_mask(size, count_true(mask))
    values = where(is_valid, values, max_(values))
    return where(is_valid, values, min_(values))


@static_argnames("size")
def setxor1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
) -> Array:
    """Returns the sorted distinct values that occur in exactly one of two arrays.

    Args:
      ar1, ar2: arrays, which are flattened.
      assume_unique: whether the values of each array are known to be distinct.
      size: int, the number of values to return; needed under `jit`.
      fill_value: the value that fills up to `size`; default: the smallest one.

    Returns:
      Array of rank 1, of the promoted dtype.

    Examples:
      >>> jnp.setxor1d(jnp.array([1, 2]), jnp.array([2, 3]))
      Array([1, 3], dtype=int32)
    """
    a, b = promote_dtypes(*map(ravel, ensure_arraylikes("setxor1d", ar1, ar2)))
    size, a, b = _require_static(_FIRST, size, a, b)
    values, present, _ = _merge_sorted(a, b, assume_unique)
    n = values.shape[0]
    if n == 0:
        return lax.full((size or 0,), 0 if fill_value is None else fill_value, values.dtype)
    ends = lax.full((1,), True, np.bool_)
    differ = _neighbours_differ(values, present)
    alone = lax.bitwise_and(lax.concatenate([ends, differ], 0), lax.concatenate([differ, ends], 0))
    alone = lax.bitwise_and(alone, present)
    if size is not None and fill_value is None:
        return _default_fill_value(values, alone, size)
    return _select_masked(values, alone, size, None if size is None else to_dtype(fill_value, values.dtype))


def _merge_sorted(a, b, assume_unique):
    """Merges the distinct elements of a and b: sorted values, a mask of valid ones, and their indices in (a, b)."""
    index = dtypes.scalar_dtype(int)
    parts, indices, present = [], [], []
    offset = 0
    for x in (a, b):
        n = x.shape[0]
        if assume_unique or not n:
            first, count = lax.iota(index, n), lax.full((), n, index)
        else:
            x, first, _, _, count = _unique(x, 0, True, n, None)
            first = first()
        parts.append(x)
        indices.append(lax.add(first, lax.full((n,), offset, index)))
        present.append(_prefix_mask(n, count))
        offset += n
    values, indices, missing = (lax.concatenate(p, 0) for p in (parts, indices, present))
    missing, values, indices = lax.sort([lax.bitwise_not(missing), values, indices], 0, num_keys=2)
    return values, lax.bitwise_not(missing), indices


def _neighbours_differ(values, present):
    n = values.shape[0]
    differ = lax.ne(lax.slice_in_dim(values, 1, n), lax.slice_in_dim(values, 0, n - 1))
    return lax.bitwise_or(differ, lax.bitwise_not(lax.slice_in_dim(present, 1, n)))


@overload
def intersect1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    return_indices: Literal[False] = False,
    *,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
) -> Array: ...


@overload
def intersect1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    *,
    return_indices: Literal[True],
    size: int | None = None,
    fill_value: ArrayLike | None = None,
) -> tuple[Array, Array, Array]: ...


@overload
def intersect1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    return_indices: bool = False,
    *,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
) -> Array | tuple[Array, Array, Array]: ...


@static_argnames("size")
def intersect1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    return_indices: bool = False,
    *,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
) -> Array | tuple[Array, Array, Array]:
    """Returns the sorted distinct values that occur in both arrays.

    Args:
      ar1, ar2: arrays, which are flattened.
      assume_unique: whether the values of each array are known to be distinct.
      return_indices: whether the indices of first occurrences in both arrays are returned too.
      size: int, the number of values to return; needed under `jit`.
      fill_value: the value that fills up to `size`; default: the smallest one.

    Returns:
      Array of rank 1, of the promoted dtype, or a tuple (values, indices in ar1, indices in ar2).  Indices that fill up
      are the sizes of the arrays.

    Examples:
      >>> jnp.intersect1d(jnp.array([1, 2, 3]), jnp.array([3, 2, 5]))
      Array([2, 3], dtype=int32)
    """
    a, b = promote_dtypes(*map(ravel, ensure_arraylikes("intersect1d", ar1, ar2)))
    size, a, b = _require_static(_FIRST, size, a, b)
    values, present, indices = _merge_sorted(a, b, assume_unique)
    n = values.shape[0]
    twice = (
        lax.bitwise_not(_neighbours_differ(values, present)) if n > 1 else lax.full((max(n - 1, 0),), False, np.bool_)
    )
    first = lax.slice_in_dim(values, 0, max(n - 1, 0))
    if size is not None and fill_value is None:
        result = _default_fill_value(first, twice, size)
    else:
        result = _select_masked(first, twice, size, None if size is None else to_dtype(fill_value, values.dtype))
    if not return_indices:
        return result
    index = indices.dtype
    from_a = lax.slice_in_dim(indices, 0, max(n - 1, 0))
    from_b = lax.sub(lax.slice_in_dim(indices, min(n, 1), n), lax.full(from_a.shape, a.shape[0], index))
    limits = [lax.full((), x.shape[0], index) for x in (a, b)]
    return result, _select_masked(from_a, twice, size, limits[0]), _select_masked(from_b, twice, size, limits[1])


@static_argnames("assume_unique", "invert", "method")
def isin(
    element: ArrayLike,
    test_elements: ArrayLike,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    method: str = "auto",
) -> Array:
    """Returns whether each element occurs among the test elements.

    Args:
      element: array.
      test_elements: array, which is flattened.
      assume_unique: accepted as in NumPy, without effect.
      invert: whether the answer is negated.
      method: "auto", "compare_all", "binary_search" or "sort", with the same results.

    Returns:
      bool array of the shape of `element`.

    Raises:
      ValueError: `method` is unknown.

    Examples:
      >>> jnp.isin(jnp.array([1, 2, 3]), jnp.array([2, 5]))
      Array([False,  True, False], dtype=bool)
    """
    element, test_elements = check_arraylike("isin", element, test_elements)
    if method not in ("auto", "compare_all", "binary_search", "sort"):
        raise ValueError(f"{method=} not understood. Expected 'auto', 'compare_all', 'binary_search', 'sort'.")
    element, tests = promote_dtypes(element, test_elements)
    tests = ravel(tests)
    if has_many_pairs(tests, element) and not dtypes.is_complex(tests.dtype):
        tests = lax.sort(tests)
        indices = searchsorted(tests, element)
        indices = lax.min(indices, indices.dtype.type(tests.shape[0] - 1))
        result = lax.eq(take(tests, indices, mode="clip"), element)
        return lax.bitwise_not(result) if invert else result
    wide = lax.broadcast_in_dim(tests, (*(1,) * element.ndim, tests.shape[0]), (element.ndim,))
    result = lax.reduce_or(lax.eq(lax.expand_dims(element, (element.ndim,)), wide), (element.ndim,))
    return lax.bitwise_not(result) if invert else result
