"""Arrays of indices: of diagonals, triangles, masks and grids, and between flat and multi-dimensional indices."""

import operator

import numpy as np

from onax import lax
from onax._core.trace import concrete_or_error
from onax._ground import dtypes
from onax.numpy._arithmetic import clip, divmod, mod
from onax.numpy._promotion import check_arraylike, ensure_arraylike
from onax.numpy._searching import nonzero
from onax.numpy._ufuncs import add
from onax.numpy._where import where as _choose


def diag_indices(n, ndim=2):
    """Index arrays of the main diagonal of an array with `ndim` axes of length n: a tuple."""
    n = concrete_or_error(operator.index, n, "'n' argument of jnp.diag_indices()")
    ndim = concrete_or_error(operator.index, ndim, "'ndim' argument of jnp.diag_indices()")
    if n < 0:
        raise ValueError(f"n argument to diag_indices must be nonnegative, got {n}")
    if ndim < 0:
        raise ValueError(f"ndim argument to diag_indices must be nonnegative, got {ndim}")
    return (lax.iota(dtypes.scalar_dtype(int), n),) * ndim


def diag_indices_from(arr):
    """`diag_indices` for an array whose axes have one length."""
    arr = ensure_arraylike("diag_indices_from", arr)
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    if len(set(arr.shape)) != 1:
        raise ValueError("All dimensions of input must be equal")
    return diag_indices(arr.shape[0], ndim=arr.ndim)


def _triangle_indices(rows, k, columns, lower):
    """The row and column indices of a triangle, computed by NumPy from known sizes."""
    for n in (rows, columns):
        if n is not None and n < 0:
            raise TypeError(f"triangle shape must have every element be nonnegative, got ({rows}, {columns}).")
    mask = np.tri(rows, rows if columns is None else columns, k if lower else k - 1, dtype=bool)
    indices = np.nonzero(mask if lower else ~mask)
    return tuple(ensure_arraylike("tril_indices", i.astype(dtypes.scalar_dtype(int))) for i in indices)


def tril_indices(n, k=0, m=None):
    """Row and column numbers of the (n, m) matrix on and below the k-th diagonal."""
    return _triangle_indices(operator.index(n), operator.index(k), m, True)


def triu_indices(n, k=0, m=None):
    """Row and column numbers of the (n, m) matrix on and above the k-th diagonal."""
    return _triangle_indices(operator.index(n), operator.index(k), m, False)


def _matrix_shape(name, arr):
    if not isinstance(arr, np.ndarray):
        check_arraylike(name, arr)
    if len(np.shape(arr)) != 2:
        raise ValueError("Only 2-D inputs are accepted")
    check_arraylike(name, arr)
    return np.shape(arr)


def tril_indices_from(arr, k=0):
    """`tril_indices` for a matrix."""
    rows, columns = _matrix_shape("tril_indices_from", arr)
    return tril_indices(rows, k=k, m=columns)


def triu_indices_from(arr, k=0):
    """`triu_indices` for a matrix."""
    rows, columns = _matrix_shape("triu_indices_from", arr)
    return triu_indices(rows, k=k, m=columns)


def ix_(*args):
    """Index arrays that select the grid of the given rank-1 index arrays: a tuple."""
    n = len(args)
    out = []
    check_arraylike("ix_", *args)
    for i, x in enumerate(args):
        x = ensure_arraylike("ix_", x)
        if x.ndim != 1:
            raise ValueError(f"Arguments to jax.numpy.ix_ must be 1-dimensional, got shape {x.shape}")
        if x.dtype == np.bool_:
            raise NotImplementedError("Boolean arguments to jax.numpy.ix_ are not implemented")
        out.append(lax.broadcast_in_dim(x, tuple(x.shape[0] if j == i else 1 for j in range(n)), (i,)))
    return tuple(out)


def mask_indices(n, mask_func, k=0, *, size=None):
    """The indices where `mask_func(ones((n, n)), k)` is nonzero."""
    ones = lax.full((n, n), 1, dtypes.scalar_dtype(float))
    return nonzero(mask_func(ones, k), size=size)


def unravel_index(indices, shape):
    """The index tuple of each flat index into an array of this shape.  Indices out of bounds are clamped."""
    check_arraylike("unravel_index", indices)
    indices = ensure_arraylike("unravel_index", indices)
    if np.ndim(shape) > 1:
        raise ValueError("unravel_index: shape should be a scalar or 1D sequence.")
    shape = tuple(shape) if np.ndim(shape) else (shape,)
    if not dtypes.is_integer(indices.dtype):
        raise TypeError("only int indices permitted")
    out = []
    positions = indices
    for n in shape[::-1]:
        positions, part = divmod(positions, n)
        out.append(part)
    too_far = lax.gt(positions, positions.dtype.type(0))
    too_early = np.bool_(False) if dtypes.is_unsigned(positions.dtype) else lax.lt(positions, positions.dtype.type(-1))
    out = [_choose(too_early, 0, _choose(too_far, n - 1, part)) for part, n in zip(out[::-1], shape)]
    return tuple(out)


def ravel_multi_index(multi_index, dims, mode="raise", order="C", *, dtype=None):
    """The index into the flattened array for each index tuple.  mode: "raise" (concrete only), "wrap" or "clip"."""
    if len(multi_index) != len(dims):
        raise ValueError(f"len(multi_index)={len(multi_index)} != len(dims)={len(dims)}")
    dims = tuple(operator.index(d) for d in dims)
    check_arraylike("ravel_multi_index", *multi_index)
    parts = [ensure_arraylike("ravel_multi_index", i) for i in multi_index]
    for part in parts:
        if mode == "raise":
            concrete_or_error(
                None, part, "The error occurred because ravel_multi_index was jit-compiled with mode='raise'. "
                "Use mode='wrap' or mode='clip' instead.",
            )  # fmt: skip
        if not dtypes.is_integer(part.dtype):
            raise ValueError(f"ravel_multi_index: dtype={part.dtype!r} is not an integer type.")
    if mode == "raise":
        if any(((np.asarray(i) < 0) | (np.asarray(i) >= d)).any() for i, d in zip(parts, dims)):
            raise ValueError("invalid entry in coordinates array")
    elif mode == "clip":
        parts = [clip(i, 0, d - 1) for i, d in zip(parts, dims)]
    elif mode == "wrap":
        parts = [mod(i, d) for i, d in zip(parts, dims)]
    else:
        raise ValueError(f"invalid mode={mode!r}. Expected 'raise', 'wrap', or 'clip'")
    if order not in ("C", "F"):
        raise ValueError(f"invalid order={order!r}. Expected 'C' or 'F'")
    index = dtypes.result_type(int, *parts) if dtype is None else dtypes.check_user_dtype(dtype, "ravel_multi_index")
    steps = np.cumprod([1, *(dims[:-1] if order == "F" else dims[:0:-1])], dtype=np.int64)
    out = lax.full((), 0, index)
    for part, step in zip(parts, steps if order == "F" else steps[::-1]):
        out = add(out, lax.mul(lax.convert_element_type(part, index), index.type(step)))
    return out
