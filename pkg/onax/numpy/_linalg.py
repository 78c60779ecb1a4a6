"""Implementation of jnp.linalg: norms and products of matrices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onax import lax
from onax._control.jit_call import staged
from onax._core.api_functions import static_argnames
from onax._ground import dtypes
from onax._ground.typing import ArrayLike, Axis, DTypeLike, PrecisionLike, ShardingLike
from onax._native.array import Array
from onax.numpy import _gathering, _products
from onax.numpy._decompositions import svd
from onax.numpy._einsum import einsum
from onax.numpy._promotion import (
    canonical_axis,
    check_arraylike,
    ensure_arraylike,
    ensure_arraylikes,
    promote_args_inexact,
)
from onax.numpy._reductions import max as _max
from onax.numpy._reductions import min as _min
from onax.numpy._reductions import sum as _sum
from onax.numpy._shaping import moveaxis, ravel
from onax.numpy._ufuncs import constant_like, multiply, sqrt


@staged("norm", ("ord", "axis", "keepdims"), compiled_from=1)
def norm(x: ArrayLike, ord: float | str | None = None, axis: Axis = None, keepdims: bool = False) -> Array:
    """Returns a norm of vectors or matrices.

    Args:
      x: array of numbers; one axis or two are measured.
      ord: for vectors a number p, inf or -inf (default: 2); for matrices "fro" (default), "nuc", inf, -inf, 1, -1, 2 or
        -2.
      axis: int for vectors, two ints for matrices; default: the whole array, of rank 1 or 2 where `ord` is given.
      keepdims: whether the measured axes stay, with length 1.

    Returns:
      Array of a real floating dtype, without the measured axes.

    Raises:
      ValueError: `ord` is no norm of vectors (matrices), or there are more than two axes.

    Examples:
      >>> x = jnp.array([[3.0, 4.0], [6.0, 8.0]])
      >>> jnp.linalg.norm(x, axis=1)
      Array([ 5., 10.], dtype=float32)
      >>> jnp.linalg.norm(x, ord=jnp.inf)
      Array(14., dtype=float32)
    """
    (x,) = promote_args_inexact("jnp.linalg.norm", x)
    if axis is None:
        if ord is None:
            return _euclidean_norm(x, None, keepdims)
        axis = tuple(range(x.ndim))
    elif isinstance(axis, tuple):
        axis = tuple(canonical_axis(i, x.ndim) for i in axis)
    else:
        axis = (canonical_axis(axis, x.ndim),)
    if len(axis) == 1:
        return _vector_norm(x, ord, axis, keepdims)
    if len(axis) == 2:
        return _matrix_norm(x, ord, axis, keepdims)
    raise ValueError(
        f"Improper number of axes for norm: axis={axis}. Pass one axis to compute a vector-norm, or two axes to "
        "compute a matrix-norm."
    )


def _magnitude_squared(x):
    return lax.real(lax.mul(x, lax.conj(x))) if dtypes.is_complex(x.dtype) else multiply(x, x)


def _euclidean_norm(x, axis, keepdims):
    return sqrt(_sum(_magnitude_squared(x), axis=axis, keepdims=keepdims))


def _magnitude(x):
    return x if x.dtype.kind in "bu" else lax.abs(x)


def _vector_norm(x, order, axis, keepdims):
    if order is None or order == 2:
        return _euclidean_norm(x, axis, keepdims)
    if order == np.inf:
        return _max(_magnitude(x), axis=axis, keepdims=keepdims, initial=0)
    if order == -np.inf:
        return _min(_magnitude(x), axis=axis, keepdims=keepdims)
    if order == 0:
        nonzero = lax.convert_element_type(lax.ne(x, constant_like(x, 0)), dtypes.scalar_dtype(int))
        return _sum(nonzero, axis=axis, dtype=dtypes.real_dtype(x.dtype), keepdims=keepdims)
    if order == 1:
        return _sum(_magnitude(x), axis=axis, keepdims=keepdims)
    if isinstance(order, str):
        raise ValueError(f"Invalid order '{order}' for vector norm.")
    magnitude = lax.abs(x)
    powers = lax.pow(magnitude, constant_like(magnitude, order))
    total = _sum(powers, axis=axis, keepdims=keepdims)
    return lax.pow(total, constant_like(total, 1 / order))


def _matrix_norm(x, order, axis, keepdims):
    row, column = axis
    if order is None or order in ("f", "fro"):
        return _euclidean_norm(x, axis, keepdims)
    reductions = {
        1: (row, column, _max),
        -1: (row, column, _min),
        np.inf: (column, row, _max),
        -np.inf: (column, row, _min),
    }
    if order in reductions:
        first, second, reduce_ = reductions[order]
        if not keepdims and second > first:
            second -= 1
        options = {"initial": 0} if reduce_ is _max else {}
        return reduce_(_sum(lax.abs(x), axis=first, keepdims=keepdims), axis=second, keepdims=keepdims, **options)
    if order in ("nuc", 2, -2):
        return _norm_by_singular_values(x, order, axis, keepdims)
    raise ValueError(f"Invalid order '{order}' for matrix norm.")


def _norm_by_singular_values(x, order, axis, keepdims):
    s = svd(moveaxis(x, axis, (-2, -1)), compute_uv=False)
    out = _sum(s, axis=-1) if order == "nuc" else _max(s, axis=-1, initial=0) if order == 2 else _min(s, axis=-1)
    return lax.expand_dims(out, tuple(sorted(axis))) if keepdims else out


@static_argnames("keepdims", "ord")
def matrix_norm(x: ArrayLike, /, *, keepdims: bool = False, ord: str | int = "fro") -> Array:
    """Returns the norm of each matrix in the last two axes.

    Args:
      x: array of numbers of shape (..., m, n).
      keepdims: whether the last two axes stay, with length 1.
      ord: "fro" (default), "nuc", inf, -inf, 1, -1, 2 or -2.

    Returns:
      Array of shape (...), of a real floating dtype.

    Raises:
      ValueError: `ord` is no norm of matrices.

    Examples:
      >>> jnp.linalg.matrix_norm(jnp.array([[3.0, 0.0], [0.0, 4.0]]))
      Array(5., dtype=float32)
    """
    return norm(x, ord=ord, keepdims=keepdims, axis=(-2, -1))


@static_argnames("keepdims")
def vector_norm(
    x: ArrayLike, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False, ord: int | str = 2
) -> Array:
    """Returns the norm of the vectors along the axes.

    Args:
      x: array of numbers.
      axis: int or ints, which count as one axis together; default: all.
      keepdims: whether these axes stay, with length 1.
      ord: a number p, inf or -inf: the p-th root of the sum of |x|**p; 0 counts the elements that are not 0.

    Returns:
      Array of a real floating dtype, without the axes.

    Raises:
      ValueError: there is no such axis.

    Examples:
      >>> jnp.linalg.vector_norm(jnp.array([[3.0, 4.0], [5.0, 12.0]]), axis=1)
      Array([ 5., 13.], dtype=float32)
    """
    (x,) = check_arraylike("jnp.linalg.vector_norm", x)
    keeps_dtype = ord is None or (isinstance(ord, (int, float)) and ord in (1, 2, np.inf, -np.inf))
    promote = ensure_arraylikes if keeps_dtype else promote_args_inexact
    (x,) = promote("jnp.linalg.vector_norm", x)
    if ord is None or ord == 2:
        return _euclidean_norm(x, axis, keepdims)
    if axis is None:
        out = _vector_norm(ravel(x), ord, (0,), False)
        return lax.expand_dims(out, tuple(range(x.ndim))) if keepdims else out
    axis = tuple(canonical_axis(i, x.ndim) for i in (axis if isinstance(axis, tuple) else (axis,)))
    return _vector_norm(x, ord, axis, keepdims)


def multi_dot(arrays: Sequence[ArrayLike], *, precision: PrecisionLike = None) -> Array:
    """Returns the product of several matrices, multiplied in the cheapest order.

    The order depends on shapes alone and is found by dynamic programming over the parenthesizations.

    Args:
      arrays: sequence of two or more arrays of rank 2; the first and the last may be vectors.
      precision: a `lax.Precision` or its name; it is checked and has no effect on a CPU.

    Returns:
      Array of rank 2 (1 or 0 where vectors stand at the ends).

    Raises:
      ValueError: there are fewer than two arrays.

    Examples:
      >>> jnp.linalg.multi_dot([jnp.ones((2, 3)), jnp.ones((3, 4)), jnp.ones(4)])
      Array([12., 12.], dtype=float32)
    """
    operands = list(arrays)
    operands = check_arraylike("jnp.linalg.multi_dot", *operands)
    if len(operands) < 2:
        raise ValueError(f"multi_dot requires at least two arrays; got len(arrays)={len(operands)}")
    operands = [ensure_arraylike("multi_dot", x) for x in operands]
    for i, x in enumerate(operands):
        if x.ndim not in ((1, 2) if i in (0, len(operands) - 1) else (2,)):
            raise ValueError(
                "multi_dot: input arrays must all be two-dimensional, except for the first and last array which may be "
                f"1 or 2 dimensional. Got array shapes {[x.shape for x in operands]}"
            )
    if any(a.shape[-1] != b.shape[0] for a, b in zip(operands, operands[1:])):
        raise ValueError(
            "multi_dot: last dimension of each array must match first dimension of following array. Got array shapes "
            f"{[x.shape for x in operands]}"
        )
    if len(operands) == 2:
        return _products.matmul(*operands, precision=precision)
    names = iter("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    current, subscripts = next(names), []
    for x in operands:
        if x.ndim == 1:
            subscripts.append(current)
            continue
        following = next(names)
        subscripts.append(current + following)
        current = following
    first = "" if operands[0].ndim == 1 else subscripts[0][0]
    last = "" if operands[-1].ndim == 1 else subscripts[-1][-1]
    return einsum(",".join(subscripts) + "->" + first + last, *operands, optimize="auto", precision=precision)


def matmul(
    x1: ArrayLike, x2: ArrayLike, /, *, precision: PrecisionLike = None, preferred_element_type: DTypeLike | None = None
) -> Array:
    """Returns the matrix product of two arrays, as `jnp.matmul`.

    Args:
      x1: array of shape (..., n, k) or (k,).
      x2: array of shape (..., k, m) or (k,); leading axes broadcast.
      precision: a `lax.Precision` or its name; it is checked and has no effect on a CPU.
      preferred_element_type: the dtype of the result and of the sums; default: that of the promoted operands.

    Returns:
      Array of shape (..., n, m), without the axes that a vector lacks.

    Raises:
      ValueError: an operand is a scalar.
      TypeError: the lengths k differ.

    Examples:
      >>> jnp.linalg.matmul(jnp.array([[1.0, 2.0], [3.0, 4.0]]), jnp.array([1.0, 1.0]))
      Array([3., 7.], dtype=float32)
    """
    return _products.matmul(x1, x2, precision=precision, preferred_element_type=preferred_element_type)


def vecdot(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    *,
    axis: int = -1,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Returns the scalar product of vectors along an axis, as `jnp.vecdot`.

    Args:
      x1: array of numbers, which is conjugated.
      x2: array of numbers; the other axes broadcast.
      axis: int, the axis of the vectors in both.
      precision: a `lax.Precision` or its name; it is checked and has no effect on a CPU.
      preferred_element_type: the dtype of the result and of the sums; default: that of the promoted operands.

    Returns:
      Array without that axis.

    Raises:
      ValueError: the lengths of the axis differ.

    Examples:
      >>> jnp.linalg.vecdot(jnp.array([[1.0, 2.0], [3.0, 4.0]]), jnp.array([1.0, 1.0]))
      Array([3., 7.], dtype=float32)
    """
    return _products.vecdot(x1, x2, axis=axis, precision=precision, preferred_element_type=preferred_element_type)


def tensordot(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    *,
    axes: int | Sequence[int] | Sequence[Sequence[int]] = 2,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Returns sums of products over pairs of axes, as `jnp.tensordot`.

    Args:
      x1: array of numbers.
      x2: array of numbers.
      axes: int n for the last n axes of x1 with the first n of x2, or two sequences of axes.
      precision: a `lax.Precision` or its name; it is checked and has no effect on a CPU.
      preferred_element_type: the dtype of the result and of the sums; default: that of the promoted operands.
      out_sharding: a sharding for the result; default: decided by the operands.

    Returns:
      Array whose axes are the other axes of x1, then those of x2.

    Raises:
      TypeError: the lengths of paired axes differ.

    Examples:
      >>> jnp.linalg.tensordot(jnp.ones((2, 3)), jnp.ones((3, 4)), axes=1).shape
      (2, 4)
    """
    options = {"precision": precision, "preferred_element_type": preferred_element_type}
    return _products.tensordot(x1, x2, axes=axes, **options, out_sharding=out_sharding)


def outer(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Returns the products of all pairs of elements of two vectors.

    Args:
      x1: array of shape (m,).
      x2: array of shape (n,).

    Returns:
      Array of shape (m, n), of the promoted dtype.

    Raises:
      ValueError: an operand is not a vector.

    Examples:
      >>> jnp.linalg.outer(jnp.array([1, 2]), jnp.array([1, 10, 100]))
      Array([[  1,  10, 100],
             [  2,  20, 200]], dtype=int32)
    """
    x1, x2 = ensure_arraylikes("jnp.linalg.outer", x1, x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(f"Input arrays must be one-dimensional, but they are {x1.ndim=} {x2.ndim=}")
    return _products.outer(x1, x2)


def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Array:
    """Returns the vector product along an axis of length 3.

    Args:
      x1: array of numbers with length 3 along `axis`.
      x2: array of numbers with length 3 along `axis`; the other axes broadcast.
      axis: int.

    Returns:
      Array of the broadcast shape and promoted dtype.

    Raises:
      ValueError: the axis has another length.

    Examples:
      >>> jnp.linalg.cross(jnp.array([1, 0, 0]), jnp.array([0, 1, 0]))
      Array([0, 0, 1], dtype=int32)
    """
    x1, x2 = ensure_arraylikes("jnp.linalg.outer", x1, x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(
            f"Both input arrays must be (arrays of) 3-dimensional vectors, but they have "
            f"x1.shape[axis]={x1.shape[axis]} and x2.shape[axis]={x2.shape[axis]}"
        )
    return _products.cross(x1, x2, axis=axis)


def diagonal(x: ArrayLike, /, *, offset: int = 0) -> Array:
    """Returns the diagonals of the matrices in the last two axes.

    Args:
      x: array of shape (..., m, n).
      offset: int; above the main diagonal where positive.

    Returns:
      Array of shape (..., k) with k the length of the diagonal.

    Examples:
      >>> jnp.linalg.diagonal(jnp.array([[1, 2], [3, 4]]))
      Array([1, 4], dtype=int32)
    """
    return _gathering.diagonal(x, offset=offset, axis1=-2, axis2=-1)


def trace(x: ArrayLike, /, *, offset: int = 0, dtype: DTypeLike | None = None) -> Array:
    """Returns the sums of the diagonals of the matrices in the last two axes.

    Args:
      x: array of shape (..., m, n).
      offset: int; above the main diagonal where positive.
      dtype: dtype of the sum; default: as for `jnp.sum`.

    Returns:
      Array of shape (...).

    Examples:
      >>> jnp.linalg.trace(jnp.array([[1, 2], [3, 4]]))
      Array(5, dtype=int32)
    """
    return _gathering.trace(x, offset=offset, axis1=-2, axis2=-1, dtype=dtype)
