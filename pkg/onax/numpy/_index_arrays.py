"""Arrays of indices: of diagonals, triangles, masks and grids, and between flat and multi-dimensional indices."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from onax import lax
from onax._core.trace import concrete_or_error
from onax._ground import dims, dtypes
from onax._ground.typing import ArrayLike, DimSize, DTypeLike
from onax._native.array import Array
from onax.numpy._arithmetic import clip, divmod, mod
from onax.numpy._promotion import check_arraylike, ensure_arraylike
from onax.numpy._ranges import tri
from onax.numpy._searching import nonzero
from onax.numpy._ufuncs import add
from onax.numpy._where import where as _choose


def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """Returns index arrays of the main diagonal.

    Args:
      n: int, the length of each axis.
      ndim: int, the number of axes.

    Returns:
      Tuple of ndim integer arrays of shape (n,).

    Raises:
      ValueError: a number is negative.

    Examples:
      >>> jnp.zeros((2, 2)).at[jnp.diag_indices(2)].set(1.0)
      Array([[1., 0.],
             [0., 1.]], dtype=float32)
    """
    n = concrete_or_error(operator.index, n, "'n' argument of jnp.diag_indices()")
    ndim = concrete_or_error(operator.index, ndim, "'ndim' argument of jnp.diag_indices()")
    if n < 0:
        raise ValueError(f"n argument to diag_indices must be nonnegative, got {n}")
    if ndim < 0:
        raise ValueError(f"ndim argument to diag_indices must be nonnegative, got {ndim}")
    return (lax.iota(dtypes.scalar_dtype(int), n),) * ndim


def diag_indices_from(arr: ArrayLike) -> tuple[Array, ...]:
    """Returns index arrays of the main diagonal of an array.

    Args:
      arr: array of rank 2 or more whose axes have one length n.

    Returns:
      Tuple of arr.ndim integer arrays of shape (n,).

    Raises:
      ValueError: the rank is below 2, or lengths differ.

    Examples:
      >>> jnp.diag_indices_from(jnp.ones((2, 2)))
      (Array([0, 1], dtype=int32), Array([0, 1], dtype=int32))
    """
    arr = ensure_arraylike("diag_indices_from", arr)
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    if len(set(arr.shape)) != 1:
        raise ValueError("All dimensions of input must be equal")
    return diag_indices(arr.shape[0], ndim=arr.ndim)


def _triangle_indices(rows, k, columns, lower):
    """The row and column indices of a triangle; where sizes are known NumPy computes them."""
    columns = rows if columns is None else columns
    k = operator.index(k)
    if not (dims.is_constant(rows) and dims.is_constant(columns)):
        mask = tri(rows, columns, k if lower else k - 1, dtype=bool)
        count = _count_above(columns, rows, -k) if lower else _count_above(rows, columns, k)
        return nonzero(mask if lower else lax.bitwise_not(mask), size=count)
    rows, columns = operator.index(rows), operator.index(columns)
    if min(rows, columns) < 0:
        raise TypeError(f"triangle shape must have every element be nonnegative, got ({rows}, {columns}).")
    mask = np.tri(rows, columns, k if lower else k - 1, dtype=bool)
    indices = np.nonzero(mask if lower else ~mask)
    return tuple(ensure_arraylike("tril_indices", i.astype(dtypes.scalar_dtype(int))) for i in indices)


def _count_above(rows, columns, k):
    """The number of elements on and above diagonal k: a triangle and the rectangle on its right."""
    if k < 0:
        return rows * columns - _count_above(columns, rows, 1 - k)
    width = dims.max_dim(columns - k, 0)
    height = dims.min_dim(rows, width)
    return height * (height + 1) // 2 + height * (width - height)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
    """Returns row and column indices on and below a diagonal.

    Args:
      n: int, the number of rows.
      k: int, the diagonal; above the main one where positive.
      m: int, the number of columns; default: n.

    Returns:
      Tuple of two integer arrays of rank 1.

    Examples:
      >>> jnp.tril_indices(2)
      (Array([0, 1, 1], dtype=int32), Array([0, 0, 1], dtype=int32))
    """
    return _triangle_indices(n, k, m, True)


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
    """Returns row and column indices on and above a diagonal.

    Args:
      n: int, the number of rows.
      k: int, the diagonal; above the main one where positive.
      m: int, the number of columns; default: n.

    Returns:
      Tuple of two integer arrays of rank 1.

    Examples:
      >>> jnp.triu_indices(2)
      (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    return _triangle_indices(n, k, m, False)


def _matrix_shape(name, arr):
    if not isinstance(arr, np.ndarray):
        (arr,) = check_arraylike(name, arr)
    if len(np.shape(arr)) != 2:
        raise ValueError("Only 2-D inputs are accepted")
    (arr,) = check_arraylike(name, arr)
    return np.shape(arr)


def tril_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Array, Array]:
    """Returns row and column indices on and below a diagonal of a matrix.

    Args:
      arr: array of rank 2.
      k: int, the diagonal; above the main one where positive.

    Returns:
      Tuple of two integer arrays of rank 1.

    Raises:
      ValueError: the rank is not 2.

    Examples:
      >>> jnp.tril_indices_from(jnp.ones((2, 2)), k=-1)
      (Array([1], dtype=int32), Array([0], dtype=int32))
    """
    rows, columns = _matrix_shape("tril_indices_from", arr)
    return tril_indices(rows, k=k, m=columns)


def triu_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Array, Array]:
    """Returns row and column indices on and above a diagonal of a matrix.

    Args:
      arr: array of rank 2.
      k: int, the diagonal; above the main one where positive.

    Returns:
      Tuple of two integer arrays of rank 1.

    Raises:
      ValueError: the rank is not 2.

    Examples:
      >>> jnp.triu_indices_from(jnp.ones((2, 2)), k=1)
      (Array([0], dtype=int32), Array([1], dtype=int32))
    """
    rows, columns = _matrix_shape("triu_indices_from", arr)
    return triu_indices(rows, k=k, m=columns)


def ix_(*args: ArrayLike) -> tuple[Array, ...]:
    """Returns index arrays that select the grid spanned by vectors of indices.

    Args:
      *args: integer or bool arrays of rank 1; bool ones must be concrete.

    Returns:
      Tuple of integer arrays, one per vector, of a rank that is the number of vectors.

    Raises:
      ValueError: an array has another rank.
      NotImplementedError: an argument is an array of bools.

    Examples:
      >>> jnp.arange(6).reshape(2, 3)[jnp.ix_(jnp.array([0, 1]), jnp.array([0, 2]))]
      Array([[0, 2],
             [3, 5]], dtype=int32)
    """
    n = len(args)
    out = []
    args = check_arraylike("ix_", *args)
    for i, x in enumerate(args):
        x = ensure_arraylike("ix_", x)
        if x.ndim != 1:
            raise ValueError(f"Arguments to jax.numpy.ix_ must be 1-dimensional, got shape {x.shape}")
        if x.dtype == np.bool_:
            raise NotImplementedError("Boolean arguments to jax.numpy.ix_ are not implemented")
        out.append(lax.broadcast_in_dim(x, tuple(x.shape[0] if j == i else 1 for j in range(n)), (i,)))
    return tuple(out)


def mask_indices(n: int, mask_func: Callable[..., Any], k: int = 0, *, size: int | None = None) -> tuple[Array, Array]:
    """Returns the indices that a function such as `triu` leaves nonzero in a square matrix.

    Args:
      n: int, the number of rows and columns.
      mask_func: function of an (n, n) array and `k`.
      k: the second argument of mask_func.
      size: int, the number of indices; needed under `jit`.

    Returns:
      Tuple of two integer arrays of rank 1.

    Examples:
      >>> jnp.mask_indices(2, jnp.triu)
      (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    ones = lax.full((n, n), 1, dtypes.scalar_dtype(float))
    rows, columns = nonzero(mask_func(ones, k), size=size)
    return rows, columns


def unravel_index(indices: ArrayLike, shape: DimSize | Sequence[DimSize]) -> tuple[Array, ...]:
    """Returns the index tuples of indices into a flattened array.

    Unlike NumPy, which raises, indices out of bounds are clamped.

    Args:
      indices: integer array.
      shape: sequence of ints, the shape of the array.

    Returns:
      Tuple of len(shape) integer arrays of the shape of `indices`.

    Raises:
      TypeError: the indices are not integers.
      ValueError: `shape` has more than one axis.

    Examples:
      >>> jnp.unravel_index(jnp.array([1, 5]), (2, 3))
      (Array([0, 1], dtype=int32), Array([1, 2], dtype=int32))
    """
    (indices,) = check_arraylike("unravel_index", indices)
    indices = ensure_arraylike("unravel_index", indices)
    given: Any = shape
    try:
        lengths = tuple(given)
    except TypeError:
        lengths = (given,)
    if any(np.ndim(n) for n in lengths):
        raise ValueError("unravel_index: shape should be a scalar or 1D sequence.")
    out = []
    positions = indices
    for n in lengths[::-1]:
        positions, part = divmod(positions, n)
        out.append(part)
    too_far = lax.gt(positions, positions.dtype.type(0))
    too_early = np.bool_(False) if dtypes.is_unsigned(positions.dtype) else lax.lt(positions, positions.dtype.type(-1))
    out = [_choose(too_early, 0, _choose(too_far, n - 1, part)) for part, n in zip(out[::-1], lengths)]
    return tuple(out)


def ravel_multi_index(
    multi_index: Sequence[ArrayLike],
    dims: Sequence[int],
    mode: str = "raise",
    order: str = "C",
    *,
    dtype: DTypeLike | None = None,
) -> Array:
    """Returns indices into a flattened array for index tuples.

    Args:
      multi_index: sequence of len(dims) integer arrays that broadcast.
      dims: sequence of ints, the shape of the array.
      mode: for indices out of bounds: "raise" (default; they must be concrete), "wrap", "clip" or "ignore", which
        computes with them as they are.
      order: "C" for row-major, "F" for column-major.
      dtype: integer dtype of the result; default: that of the indices.

    Returns:
      Integer array of the broadcast shape.

    Raises:
      ValueError: an index is out of bounds in mode "raise", the dtype is no integer's or too small for the indices of
        such an array, or mode or order is unknown.
      TypeError: indices are not integers.

    Examples:
      >>> jnp.ravel_multi_index((jnp.array([0, 1]), jnp.array([1, 2])), (2, 3))
      Array([1, 5], dtype=int32)
    """
    if len(multi_index) != len(dims):
        raise ValueError(f"len(multi_index)={len(multi_index)} != len(dims)={len(dims)}")
    dims = tuple(operator.index(d) for d in dims)
    multi_index = check_arraylike("ravel_multi_index", *multi_index)
    parts = [ensure_arraylike("ravel_multi_index", i) for i in multi_index]
    index = dtypes.result_type(int, *parts) if dtype is None else dtypes.check_user_dtype(dtype, "ravel_multi_index")
    if not dtypes.is_integer(index):
        raise ValueError(f"dtype={index!r} is not an integer type.")
    if math.prod(dims) - 1 > np.iinfo(index).max:
        raise ValueError(
            f"jnp.ravel_multi_index: dtype={index!r} not large enough to hold flattened index for {dims=}. "
            "Use the dtype argument to pass a suitable dtype (e.g. dtype=np.min_scalar_type(prod(dims)))."
        )
    for part in parts:
        if mode == "raise":
            concrete_or_error(
                None, part, "The error occurred because ravel_multi_index was jit-compiled with mode='raise'. "
                "Use mode='wrap' or mode='clip' instead.",
            )  # fmt: skip
        if not dtypes.is_integer(part.dtype):
            raise TypeError("only int indices permitted")
    if mode == "raise":
        if any(((np.asarray(i) < 0) | (np.asarray(i) >= d)).any() for i, d in zip(parts, dims)):
            raise ValueError("invalid entry in coordinates array")
    elif mode == "clip":
        parts = [clip(i, 0, d - 1) for i, d in zip(parts, dims)]
    elif mode == "wrap":
        parts = [mod(i, d) for i, d in zip(parts, dims)]
    elif mode != "ignore":
        raise ValueError(f"invalid mode={mode!r}. Expected 'raise', 'wrap', 'clip', or 'ignore'.")
    if order not in ("C", "F"):
        raise ValueError(f"invalid order={order!r}. Expected 'C' or 'F'")
    steps = np.cumprod([1, *(dims[:-1] if order == "F" else dims[:0:-1])], dtype=np.int64)
    out = lax.full((), 0, index)
    for part, step in zip(parts, steps if order == "F" else steps[::-1]):
        out = add(out, lax.mul(lax.convert_element_type(part, index), index.type(step)))
    return out
