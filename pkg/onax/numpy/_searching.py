"""Searching: nonzero and its relatives, extract, compress; argmax, argmin; searchsorted, digitize.

The number of nonzero elements is not a static shape: under `jit` these functions need `size=`, which cuts off or
fills up.

Sorted arrays are searched by NumPy when evaluating.  In a program few pairs of an element and a query are all compared,
which is one pass of elementwise work; for many pairs each query bisects the sorted array.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Literal, overload

import numpy as np

from onax import lax
from onax._control.jit_call import staged
from onax._control.while_loop import fori_loop
from onax._core.trace import concrete_or_error, is_concrete
from onax._ground import dims, dtypes
from onax._ground.typing import ArrayLike
from onax._native.array import Array, make_array
from onax.lax._creation import place_on_device as on_device
from onax.lax._creation import replicated_sharding
from onax.numpy._cumulative import cumsum
from onax.numpy._gathering import take, take_in_bounds
from onax.numpy._promotion import (
    can_use_numpy,
    check_arraylike,
    ensure_arraylike,
    ensure_arraylikes,
    indexed_axis,
    no_out,
    promote_dtypes,
    to_dtype,
)
from onax.numpy._reductions import all as _all
from onax.numpy._reductions import any as _any
from onax.numpy._shaping import moveaxis, ravel
from onax.numpy._ufuncs import as_bool, greater_equal
from onax.numpy._where import where as _choose


@overload
def where(
    condition: ArrayLike,
    x: None = None,
    y: None = None,
    /,
    *,
    size: int | None = None,
    fill_value: ArrayLike | tuple[ArrayLike, ...] | None = None,
) -> tuple[Array, ...]: ...


@overload
def where(
    condition: ArrayLike, x: ArrayLike, y: ArrayLike, /, *, size: None = None, fill_value: None = None
) -> Array: ...


def where(
    condition: ArrayLike,
    x: ArrayLike | None = None,
    y: ArrayLike | None = None,
    /,
    *,
    size: int | None = None,
    fill_value: ArrayLike | tuple[ArrayLike, ...] | None = None,
) -> Array | tuple[Array, ...]:
    """Returns elements of `x` where the condition is true, and of `y` elsewhere.

    The derivative of the side that is not chosen is 0, but an infinite or NaN derivative there makes the gradient NaN:
    choose safe arguments before the function that overflows, not only afterwards.

    Args:
      condition: an array of any dtype; nonzero is true.
      x, y: arrays or scalars that broadcast with the condition, or both None: then the indices of the nonzero elements
        of the condition are returned, as `nonzero` returns them.
      size, fill_value: only with the condition alone; see `nonzero`.

    Returns:
      Array of the broadcast shape and of the common dtype of `x` and `y`.

    Raises:
      TypeError: only one of `x` and `y` is None.
      ConcretizationTypeError: the condition is traced and alone, without `size`.
      ValueError: one of `x` and `y` alone, or both together with `size` or `fill_value`.

    Examples:
      >>> jnp.where(jnp.array([True, False, True]), jnp.array([1, 2, 3]), 0)
      Array([1, 0, 3], dtype=int32)
    """
    if x is None and y is None:
        (condition,) = check_arraylike("where", condition)
        if fill_value is not None and np.ndim(fill_value) == 0:
            (fill_value,) = check_arraylike("where", fill_value)
        return nonzero(condition, size=size, fill_value=fill_value)
    condition, x, y = check_arraylike("where", condition, x, y)
    if size is not None or fill_value is not None:
        raise ValueError("size and fill_value arguments cannot be used in three-term where function.")
    if x is None or y is None:
        raise ValueError("Either both or neither of the x and y arguments should be provided to jax.numpy.where.")
    return _choose(condition, x, y)


def nonzero(
    a: ArrayLike, *, size: int | None = None, fill_value: ArrayLike | tuple[ArrayLike, ...] | None = None
) -> tuple[Array, ...]:
    """Returns the indices of the nonzero elements, in row-major order.

    Args:
      a: an array of rank 1 or more.
      size: the number of indices to return, an int.  It is needed under `jit`, where the number of nonzero elements is
        not known; further ones are cut off.
      fill_value: the index that stands for missing ones, a scalar or a tuple with one for each axis; 0 by default.

    Returns:
      Tuple with one vector of the default integer for each axis of `a`.

    Raises:
      ValueError: `a` has rank 0.
      ConcretizationTypeError: `a` is traced and there is no `size`.
      TypeError: `size` is negative.

    Examples:
      >>> jnp.nonzero(jnp.array([0, 5, 0, 7]), size=3, fill_value=-1)
      (Array([ 1,  3, -1], dtype=int32),)
    """
    a = ensure_arraylike("nonzero", a)
    if not a.ndim:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use jnp.atleast_1d(scalar).nonzero() instead.")
    if fill_value is not None and not isinstance(fill_value, tuple):
        if np.ndim(fill_value):
            raise ValueError(f"fill_value must be a scalar or a tuple of length {a.ndim}; got {fill_value}")
        (fill_value,) = check_arraylike("nonzero", fill_value)
    mask = as_bool(a)
    index = dtypes.scalar_dtype(int)
    if size is None:
        if not is_concrete(mask):
            concrete_or_error(operator.index, count_true(ravel(mask)), _SIZE_HINT)  # raises the error
        concrete = concrete_or_error(None, mask, _SIZE_HINT)
        found = [make_array(i.astype(index)) for i in np.asarray(concrete).nonzero()]
        return tuple(on_device(i, replicated_sharding(concrete)) for i in found)
    size = concrete_or_error(dims.as_dim, size, _SIZE_HINT)
    flat = ravel(mask)
    indices = _first_true_indices(flat, size, index)
    out = _unravel(indices, a.shape, index)
    if fill_value is None or not size:
        missing: Sequence[ArrayLike] = [0] * len(out)
    elif isinstance(fill_value, tuple):
        if len(fill_value) != len(out):
            raise ValueError(f"fill_value must be a scalar or a tuple of length {len(out)}; got {fill_value}")
        missing = fill_value
    else:
        missing = [fill_value] * len(out)
    is_valid = lax.lt(lax.iota(index, size), count_true(flat))
    return tuple(_choose(is_valid, part, to_dtype(fill, index)) for part, fill in zip(out, missing))


_SIZE_HINT = (
    "The size argument of jnp.nonzero must be statically specified to use jnp.nonzero within JAX transformations."
)


def count_true(mask):
    """The number of True elements of a vector, in the default integer dtype."""
    return lax.reduce_sum(lax.convert_element_type(mask, dtypes.scalar_dtype(int)), (0,))


def _first_true_indices(mask, size, index):
    """The indices of the first `size` True elements of a vector; missing ones are arbitrary but in bounds.

    The k-th index is the number of prefixes that hold at most k True elements; a scatter-add counts the prefixes.
    """
    n = mask.shape[0]
    if dims.equal(size, 0) or dims.definitely_empty((n,)):
        return lax.full((size,), 0, index)
    counts = lax.full((size,), 0, index).at[cumsum(mask)].add(lax.full((), 1, index), mode="drop")
    return lax.min(cumsum(counts), to_dtype(n - 1, index))


def _unravel(indices, shape, index):
    out = []
    for n in shape[::-1]:
        length = to_dtype(dims.max_dim(n, 1), index)
        out.append(lax.rem(indices, length))
        indices = lax.div(indices, length)
    return out[::-1]


def flatnonzero(
    a: ArrayLike, *, size: int | None = None, fill_value: ArrayLike | tuple[ArrayLike, ...] | None = None
) -> Array:
    """Returns the indices of the nonzero elements of the flattened array.

    Args:
      a: array.
      size: the static length of the result; needed under `jit`.  A longer result is cut off, a shorter one filled up.
      fill_value: the index that fills up to `size`; default: 0.

    Returns:
      Integer array of rank 1.

    Examples:
      >>> jnp.flatnonzero(jnp.array([[0, 5], [7, 0]]))
      Array([1, 2], dtype=int32)
    """
    return nonzero(ravel(a), size=size, fill_value=fill_value)[0]


def argwhere(a: ArrayLike, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Array:
    """Returns the indices of the nonzero elements, one per row.

    Args:
      a: array of rank r.
      size: int, the number of rows; needed under `jit`.
      fill_value: the index that fills up to `size`; default: 0.

    Returns:
      Integer array of shape (number of nonzero elements, r).

    Examples:
      >>> jnp.argwhere(jnp.array([[0, 5], [7, 0]]))
      Array([[0, 1],
             [1, 0]], dtype=int32)
    """
    a = ensure_arraylike("argwhere", a)
    indices = nonzero(a if a.ndim else ravel(a), size=size, fill_value=fill_value)
    if a.ndim == 0:
        return lax.full((indices[0].shape[0], 0), 0, dtypes.scalar_dtype(int))
    return lax.stack(list(indices), 1)


def extract(condition: ArrayLike, arr: ArrayLike, *, size: int | None = None, fill_value: ArrayLike = 0) -> Array:
    """Returns the elements where a condition is nonzero, as a vector.

    Args:
      condition: array with as many elements as `arr`.
      arr: array.
      size: the static length of the result; needed under `jit`.  A longer result is cut off, a shorter one filled up.
      fill_value: the value that fills up to `size`.

    Returns:
      Array of rank 1, of the dtype of `arr`.

    Examples:
      >>> jnp.extract(jnp.array([True, False, True]), jnp.array([1, 2, 3]))
      Array([1, 3], dtype=int32)
    """
    return compress(ravel(condition), ravel(arr), size=size, fill_value=fill_value)


def compress(
    condition: ArrayLike,
    a: ArrayLike,
    axis: int | None = None,
    *,
    size: int | None = None,
    fill_value: ArrayLike = 0,
    out: None = None,
) -> Array:
    """Returns the slices along an axis where a condition holds.

    Args:
      condition: bool vector; where it is shorter than the axis, the rest counts as False.
      a: array.
      axis: int; default: the elements of the flattened array.
      size: int, the number of slices; needed under `jit`.
      fill_value: the value that fills up to `size`.
      out: must be None.

    Returns:
      Array of the dtype and rank of `a` (rank 1 without an axis).

    Raises:
      ValueError: the condition is no vector.
      NotImplementedError: `out` is given.

    Examples:
      >>> jnp.compress(jnp.array([True, False, True]), jnp.array([[1, 2, 3], [4, 5, 6]]), axis=1)
      Array([[1, 3],
             [4, 6]], dtype=int32)
    """
    if out is not None:
        raise NotImplementedError("The 'out' argument to jnp.compress is not supported.")
    condition, a, fill_value = check_arraylike("compress", condition, a, fill_value)
    condition = lax.convert_element_type(ensure_arraylike("compress", condition), np.bool_)
    if condition.ndim != 1:
        raise ValueError("condition must be a 1D array")
    a = ensure_arraylike("compress", a)
    a = ravel(a) if axis is None else moveaxis(a, axis, 0)
    rest, n = condition.shape[0] - a.shape[0], a.shape[0]
    if rest > 0:
        extra = lax.slice(condition, (n,), (n + rest,))
        if concrete_or_error(bool, _any(extra), "condition of jnp.compress"):
            raise ValueError("condition contains entries that are out of bounds")
        condition = lax.slice(condition, (0,), (n,))
    elif rest < 0:
        a = lax.slice_in_dim(a, 0, condition.shape[0], axis=0)
    if size is not None and not 0 <= size <= a.shape[0]:
        raise ValueError(
            "size must be positive and not greater than the size of the array axis; got "
            f"size={size} for a.shape[axis]={a.shape[0]}"
        )
    if size is None and not is_concrete(condition):
        bool(_any(condition))  # raises the error
    (indices,) = nonzero(condition, size=size)
    rows = take_in_bounds(a, indices, 0)
    if size is not None:
        is_valid = lax.lt(lax.iota(indices.dtype, size), count_true(condition))
        is_valid = lax.broadcast_in_dim(is_valid, rows.shape, (0,))
        rows = _choose(is_valid, rows, to_dtype(fill_value, rows.dtype))
    return moveaxis(rows, 0, 0 if axis is None else axis)


def _sorts_before(x, y):
    """Whether x sorts before y; nan comes last."""
    if dtypes.is_complex(x.dtype):  # by real parts, then by imaginary parts
        real_x, real_y = lax.real(x), lax.real(y)
        imag = _sorts_before(lax.imag(x), lax.imag(y))
        equal_real = lax.bitwise_not(_sorts_before(real_y, real_x))
        return lax.bitwise_or(_sorts_before(real_x, real_y), lax.bitwise_and(equal_real, imag))
    if not dtypes.is_inexact(x.dtype):
        return lax.lt(x, y)
    return lax.bitwise_or(lax.lt(x, y), lax.bitwise_and(lax.eq(x, x), lax.ne(y, y)))


@staged("searchsorted", static_argnames=("side", "method"))
def searchsorted(
    a: ArrayLike, v: ArrayLike, side: str = "left", sorter: ArrayLike | None = None, *, method: str = "scan"
) -> Array:
    """Returns where elements would have to be inserted into a sorted array to keep it sorted.

    Args:
      a: a vector (n,) in ascending order, or in any order if `sorter` is given; NaN sorts last, and complex numbers are
        ordered by real, then imaginary part.
      v: an array of any shape.
      side: "left" gives the index before elements of `a` that are equal, "right" the one after them.
      sorter: the indices that sort `a`, such as `argsort` returns.
      method: "scan", "scan_unrolled", "sort" or "compare_all"; it is checked, and has no influence on the result.

    Returns:
      int32 array of the shape of `v` with numbers from 0 to n (int64 where n needs it).

    Raises:
      ValueError: `a` has another rank, or an option is unknown.
      OverflowError: n does not fit into int32 while 64-bit types are off.

    Examples:
      >>> jnp.searchsorted(jnp.array([1, 2, 2, 5]), jnp.array([2, 6]), side="right")
      Array([3, 4], dtype=int32)
    """
    a, v = check_arraylike("searchsorted", a, v)
    if side not in ("left", "right"):
        raise ValueError(f"invalid argument {side=}, expected 'left' or 'right'")
    methods = ["compare_all", "scan", "scan_unrolled", "sort"]
    if method not in methods:
        raise ValueError(f"invalid argument {method=}, expected one of {methods}")
    a, v = promote_dtypes(a, v)
    if a.ndim != 1:
        raise ValueError("a should be 1-dimensional")
    if sorter is not None:
        a = take(a, sorter)
    out_dtype = dtypes.check_user_dtype(dtypes.int_dtype_for_dim(a.shape[0]))
    if isinstance(a.shape[0], int) and a.shape[0] > np.iinfo(out_dtype).max:
        raise OverflowError(f"Python integer {a.shape[0]} out of bounds for {out_dtype.name}")
    if can_use_numpy(a, v):
        numpy_side: Literal["left", "right"] = "left" if side == "left" else "right"
        found = np.searchsorted(_as_sortable(a), _as_sortable(v), numpy_side)
        return make_array(np.asarray(found).astype(out_dtype))
    if has_many_pairs(a, v):
        return _binary_search(a, v, side)
    elements = lax.broadcast_in_dim(a, (*(1,) * v.ndim, a.shape[0]), (v.ndim,))
    queries = lax.expand_dims(v, (v.ndim,))
    smaller = _sorts_before(elements, queries) if side == "left" else lax.bitwise_not(_sorts_before(queries, elements))
    return lax.reduce_sum(lax.convert_element_type(smaller, out_dtype), (v.ndim,))


_FEW_PAIRS = 4096  # up to this number of pairs, comparing all is quicker than binary search


def has_many_pairs(a, v):
    """Whether binary search is quicker than comparing all pairs; False for unknown lengths."""
    return dims.is_constant_shape((*a.shape, *v.shape)) and a.size * v.size > _FEW_PAIRS and a.size > 1


def _as_sortable(x):
    """The ndarray of a concrete array, in a dtype that NumPy can sort."""
    value = x._value
    return value if value.dtype.kind in "biufc" and value.dtype.isbuiltin == 1 else value.astype(np.float32)


@staged("_binary_search", static_argnames=("side",), compiled_from=None)
def _binary_search(a, v, side):
    """Binary search for all elements of v at once; on a tape one instruction, which does the same."""
    index = dtypes.int_dtype_for_dim(a.shape[0])
    last, one = index.type(a.shape[0] - 1), index.type(1)

    def halve(_, span):
        low, high = span
        middle = lax.add(low, lax.div(lax.sub(high, low), index.type(2)))
        there = take(a, lax.min(middle, last), mode="clip")
        right = _sorts_before(there, v) if side == "left" else lax.bitwise_not(_sorts_before(v, there))
        open_ = lax.lt(low, high)
        right, left = lax.bitwise_and(open_, right), lax.bitwise_and(open_, lax.bitwise_not(right))
        return lax.select(right, lax.add(middle, one), low), lax.select(left, middle, high)

    span = lax.full(v.shape, 0, index), lax.full(v.shape, a.shape[0], index)
    low, _ = fori_loop(0, a.shape[0].bit_length(), halve, span)
    return low


@staged("digitize", ("right", "method"), compiled_from=None)
def digitize(x: ArrayLike, bins: ArrayLike, right: bool = False, *, method: str | None = None) -> Array:
    """Returns the index of the bin into which each element falls.

    Args:
      x: array of real numbers.
      bins: vector of edges that increase or decrease.
      right: whether bins include their right edge instead of their left one.
      method: how to search, as for `searchsorted`; the result is the same.

    Returns:
      Integer array of the shape of `x`, from 0 to len(bins).

    Raises:
      ValueError: `bins` is no vector.

    Examples:
      >>> jnp.digitize(jnp.array([0.5, 1.0, 3.5]), jnp.array([1.0, 2.0, 3.0]))
      Array([0, 1, 3], dtype=int32)
    """
    x, bins = ensure_arraylikes("digitize", x, bins)
    if bins.ndim != 1:
        raise ValueError(f"digitize: bins must be a 1-dimensional array; got {bins.shape=}")
    n = bins.shape[0]
    if n == 0:
        return lax.full(x.shape, 0, np.int32)
    side = "left" if right else "right"
    how = {} if method is None else {"method": method}
    rising = searchsorted(bins, x, side, **how)
    falling = lax.sub(lax.full_like(rising, n), searchsorted(lax.rev(bins, (0,)), x, side, **how))
    first = lax.squeeze(lax.slice(bins, (0,), (1,)), (0,))
    last = lax.squeeze(lax.slice(bins, (n - 1,), (n,)), (0,))
    return where(greater_equal(last, first), rising, falling)


def _arg_extreme(name, a, axis, out, keepdims, op):
    no_out(name, out)
    a = ensure_arraylike(name, a)
    ndim = a.ndim
    flat = axis is None
    if flat:
        a, axis = lax.reshape(a, (dims.prod(a.shape),)) if ndim != 1 else a, 0
    else:
        axis = indexed_axis(axis, ndim)
    if type(a.shape[axis]) is int and a.shape[axis] == 0:
        raise ValueError(f"attempt to get {name} of an empty sequence")
    result = op(a, axis, dtypes.scalar_dtype(int))
    if not keepdims:
        return result
    return lax.expand_dims(result, tuple(range(ndim)) if flat else (axis,))


def argmax(a: ArrayLike, axis: int | None = None, out: None = None, keepdims: bool | None = None) -> Array:
    """Returns the index of the first largest element along an axis.

    Args:
      a: an array of real numbers or bools; the first NaN counts as the largest element.
      axis: an int, or None for the flattened array.
      out: must be None.
      keepdims: whether the axis stays, with length 1.

    Returns:
      Array of the default integer.

    Raises:
      IndexError: the axis is out of bounds.
      ValueError: the axis is empty.

    Examples:
      >>> jnp.argmax(jnp.array([[3, 7, 1], [0, 5, 9]]), axis=1)
      Array([1, 2], dtype=int32)
    """
    return _arg_extreme("argmax", a, axis, out, keepdims, lax.argmax)


def argmin(a: ArrayLike, axis: int | None = None, out: None = None, keepdims: bool | None = None) -> Array:
    """Returns the index of the first smallest element along an axis.

    Args:
      a: an array of real numbers or bools; the first NaN counts as the smallest element.
      axis: an int, or None for the flattened array.
      out: must be None.
      keepdims: whether the axis stays, with length 1.

    Returns:
      Array of the default integer.

    Raises:
      IndexError: the axis is out of bounds.
      ValueError: the axis is empty.

    Examples:
      >>> jnp.argmin(jnp.array([[3, 7, 1], [0, 5, 9]]), axis=1)
      Array([2, 0], dtype=int32)
    """
    return _arg_extreme("argmin", a, axis, out, keepdims, lax.argmin)


def nanargmax(a: ArrayLike, axis: int | None = None, out: None = None, keepdims: bool | None = None) -> Array:
    """Returns the index of the first largest element that is not NaN.

    Unlike NumPy, which raises, the index is -1 where all elements are NaN.

    Args:
      a: array of real numbers.
      axis: int; default: the flattened array.
      out: must be None.
      keepdims: whether the axis stays, with length 1.

    Returns:
      Integer array without the axis.

    Raises:
      IndexError: the axis is out of bounds.
      ValueError: there is no such axis.

    Examples:
      >>> jnp.nanargmax(jnp.array([1.0, jnp.nan, 3.0]))
      Array(2, dtype=int32)
    """
    no_out("nanargmax", out)
    return _nanargmax(a, None if axis is None else operator.index(axis), bool(keepdims))


def nanargmin(a: ArrayLike, axis: int | None = None, out: None = None, keepdims: bool | None = None) -> Array:
    """Returns the index of the first smallest element that is not NaN.

    Unlike NumPy, which raises, the index is -1 where all elements are NaN.

    Args:
      a: array of real numbers.
      axis: int; default: the flattened array.
      out: must be None.
      keepdims: whether the axis stays, with length 1.

    Returns:
      Integer array without the axis.

    Raises:
      IndexError: the axis is out of bounds.
      ValueError: there is no such axis.

    Examples:
      >>> jnp.nanargmin(jnp.array([jnp.nan, 3.0, 1.0]))
      Array(2, dtype=int32)
    """
    no_out("nanargmin", out)
    return _nanargmin(a, None if axis is None else operator.index(axis), bool(keepdims))


@staged("_nanargmax", static_argnames=("axis", "keepdims"))
def _nanargmax(a, axis, keepdims):
    return _nan_arg_extreme("nanargmax", a, axis, keepdims, argmax, -np.inf)


@staged("_nanargmin", static_argnames=("axis", "keepdims"))
def _nanargmin(a, axis, keepdims):
    return _nan_arg_extreme("nanargmin", a, axis, keepdims, argmin, np.inf)


def _nan_arg_extreme(name, a, axis, keepdims, arg_reduce, replacement):
    a = ensure_arraylike(name, a)
    if not dtypes.is_inexact(a.dtype):
        return arg_reduce(a, axis=axis, keepdims=keepdims)
    is_nan = lax.ne(a, a)
    index = arg_reduce(_choose(is_nan, replacement, a), axis=axis, keepdims=keepdims)
    return _choose(_all(is_nan, axis=axis, keepdims=keepdims), -1, index)
