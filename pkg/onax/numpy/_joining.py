"""Joining and splitting arrays."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from onax import lax
from onax._control.jit_call import staged
from onax._core.api_functions import static_argnames
from onax._core.trace import Tracer, concrete_or_error
from onax._ground import dims, dtypes
from onax._ground.typing import ArrayLike, DTypeLike
from onax._native.array import Array
from onax._transforms.vmap import vmap
from onax.numpy._creation import asarray
from onax.numpy._promotion import (
    canonical_axis,
    check_arraylike,
    ensure_arraylike,
    promote_dtypes,
)
from onax.numpy._shaping import atleast_1d, atleast_2d, atleast_3d, ravel

# --- joining ------------------------------------------------------------------------------------------------------


def _concatenate_slices(x, axis, dtype):
    """The slices of an array along its first axis, joined along another one."""
    x = asarray(x, dtype=dtype)
    if x.ndim == 0 or dims.equal(x.shape[0], 0):
        raise ValueError("Need at least one array to concatenate.")
    if axis is None:
        return lax.reshape(x, (x.size,))
    if x.ndim == 1:
        raise ValueError("Zero-dimensional arrays cannot be concatenated.")
    axis = canonical_axis(axis, x.ndim - 1)
    first, *rest = x.shape
    rest[axis] = first * rest[axis]
    order = (*range(1, axis + 1), 0, *range(axis + 1, x.ndim))
    return lax.reshape(x, tuple(rest), order if axis else None)


def concatenate(arrays: ArrayLike | Sequence[ArrayLike], axis: int | None = 0, dtype: DTypeLike | None = None) -> Array:
    """Returns arrays joined along an existing axis.

    Args:
      arrays: a sequence of arrays of one rank, equal in all other axes; or one array, whose first axis is taken apart.
      axis: the axis to join along; None joins the flattened arrays.
      dtype: the dtype of the result, by default the common dtype of the arrays.

    Returns:
      Array as long along the axis as the arrays together.

    Raises:
      ValueError: there are no arrays, or they are scalars.
      TypeError: ranks or other lengths differ.

    Examples:
      >>> jnp.concatenate([jnp.zeros((1, 2)), jnp.ones((1, 2))])
      Array([[0., 0.],
             [1., 1.]], dtype=float32)
    """
    if isinstance(arrays, (np.ndarray, Array)):
        return _concatenate_slices(arrays, axis, dtype)
    parts = check_arraylike("concatenate", *arrays)
    if not parts:
        raise ValueError("Need at least one array to concatenate.")
    if axis is None:
        parts, axis = [ravel(x) for x in parts], 0
    parts = _cast_parts("concatenate", parts, dtype)
    if parts[0].ndim == 0:
        raise ValueError("Zero-dimensional arrays cannot be concatenated.")
    return lax.concatenate(parts, canonical_axis(axis, parts[0].ndim))


def _cast_parts(name, parts, dtype):
    if dtype is None:
        return promote_dtypes(*parts)
    dtype = dtypes.check_user_dtype(dtype, name)
    return [asarray(x, dtype=dtype) for x in parts]


def concat(arrays: Sequence[ArrayLike], /, *, axis: int | None = 0) -> Array:
    """Returns arrays joined along an existing axis.

    Args:
      arrays: sequence of arrays of one rank, equal in all other axes.
      axis: int; None joins the flattened arrays.

    Returns:
      Array of the promoted dtype.

    Raises:
      ValueError: there are no arrays, or they are scalars.
      TypeError: ranks or other lengths differ.

    Examples:
      >>> jnp.concat([jnp.array([1, 2]), jnp.array([3])])
      Array([1, 2, 3], dtype=int32)
    """
    return concatenate(arrays, axis=axis)


def stack(
    arrays: ArrayLike | Sequence[ArrayLike], axis: int = 0, out: None = None, dtype: DTypeLike | None = None
) -> Array:
    """Returns arrays of one shape joined along a new axis.

    Args:
      arrays: sequence of arrays of one shape, or an array whose slices they are.
      axis: int, the position of the new axis in the result.
      out: must be None.
      dtype: dtype of the result; default: the promoted one.

    Returns:
      Array with one more axis than the arrays.

    Raises:
      ValueError: there are no arrays, or shapes differ.
      NotImplementedError: `out` is given.
      TypeError: `arrays` is one scalar.

    Examples:
      >>> jnp.stack([jnp.array([1, 2]), jnp.array([3, 4])], axis=1)
      Array([[1, 3],
             [2, 4]], dtype=int32)
    """
    if out is not None:
        raise NotImplementedError("The 'out' argument to jnp.stack is not supported.")
    if isinstance(arrays, (np.ndarray, Array)):
        if not arrays.ndim:
            raise TypeError("len() of unsized object")
        if dims.equal(arrays.shape[0], 0):
            raise ValueError("Need at least one array to stack.")
        axis = canonical_axis(axis, arrays.ndim)
        return concatenate(lax.expand_dims(arrays, (axis + 1,)), axis=axis, dtype=dtype)
    parts = check_arraylike("stack", *arrays)
    if not parts:
        raise ValueError("Need at least one array to stack.")
    parts = _cast_parts("stack", parts, dtype)
    if any(x.ndim != parts[0].ndim for x in parts):
        shown = ", ".join(str(x.shape) for x in parts)
        raise ValueError(f"Cannot stack arrays with different numbers of dimensions: got {shown}.")
    return lax.stack(parts, canonical_axis(axis, parts[0].ndim + 1))


def _lift_and_concatenate(arrays, lift, axis, dtype):
    """Concatenates lift(x) of each array along axis(the rank of the first one)."""
    if isinstance(arrays, (np.ndarray, Array)):
        slices = vmap(lift)(arrays)
        return concatenate(slices, axis=axis(slices.ndim - 1), dtype=dtype)
    parts = [lift(x) for x in [*arrays]]  # errors of what cannot be iterated are Python's of starred values
    return concatenate(parts, axis=axis(parts[0].ndim if parts else 0), dtype=dtype)


def vstack(tup: ArrayLike | Sequence[ArrayLike], dtype: DTypeLike | None = None) -> Array:
    """Returns arrays joined along the first axis; vectors count as rows.

    Args:
      tup: sequence of arrays.
      dtype: dtype of the result; default: the promoted one.

    Returns:
      Array of rank 2 or more.

    Raises:
      TypeError: the arrays do not fit.

    Examples:
      >>> jnp.vstack([jnp.array([1, 2]), jnp.array([3, 4])])
      Array([[1, 2],
             [3, 4]], dtype=int32)
    """
    return _lift_and_concatenate(tup, atleast_2d, lambda ndim: 0, dtype)


def hstack(tup: ArrayLike | Sequence[ArrayLike], dtype: DTypeLike | None = None) -> Array:
    """Returns arrays joined along the second axis; vectors along their only one.

    Args:
      tup: sequence of arrays.
      dtype: dtype of the result; default: the promoted one.

    Returns:
      Array of rank 1 or more.

    Raises:
      TypeError: the arrays do not fit.

    Examples:
      >>> jnp.hstack([jnp.array([1, 2]), jnp.array([3, 4])])
      Array([1, 2, 3, 4], dtype=int32)
    """
    return _lift_and_concatenate(tup, atleast_1d, lambda ndim: 0 if ndim == 1 else 1, dtype)


def dstack(tup: ArrayLike | Sequence[ArrayLike], dtype: DTypeLike | None = None) -> Array:
    """Returns arrays joined along the third axis.

    Args:
      tup: sequence of arrays; those of lower rank are lifted as by `atleast_3d`.
      dtype: dtype of the result; default: the promoted one.

    Returns:
      Array of rank 3 or more.

    Raises:
      TypeError: the arrays do not fit.

    Examples:
      >>> jnp.dstack([jnp.array([1, 2]), jnp.array([3, 4])])
      Array([[[1, 3],
              [2, 4]]], dtype=int32)
    """
    return _lift_and_concatenate(tup, atleast_3d, lambda ndim: 2, dtype)


def column_stack(tup: ArrayLike | Sequence[ArrayLike]) -> Array:
    """Returns a matrix of vectors as columns, and of matrices side by side.

    Args:
      tup: sequence of arrays of rank 1 or 2 that agree in their first length.

    Returns:
      Array of rank 2.

    Raises:
      TypeError: the arrays do not fit.

    Examples:
      >>> jnp.column_stack([jnp.array([1, 2]), jnp.array([3, 4])])
      Array([[1, 3],
             [2, 4]], dtype=int32)
    """

    def lift(x):
        x = ensure_arraylike("column_stack", x)
        return atleast_2d(x).T if x.ndim < 2 else x

    return _lift_and_concatenate(tup, lift, lambda ndim: 1, None)


@staged("append", static_argnames=("axis",))
def append(arr: ArrayLike, values: ArrayLike, axis: int | None = None) -> Array:
    """Returns an array followed by values along an axis.

    Args:
      arr: array.
      values: array of the rank of `arr`.
      axis: int; default: both are flattened.

    Returns:
      Array of the promoted dtype.

    Raises:
      TypeError: the arrays do not fit.
      ValueError: there is no such axis.

    Examples:
      >>> jnp.append(jnp.array([1, 2]), jnp.array([3]))
      Array([1, 2, 3], dtype=int32)
    """
    if axis is None:
        return concatenate([ravel(arr), ravel(values)], 0)
    return concatenate([arr, values], axis=axis)


@staged("block")
def block(arrays: Any) -> Array:
    """Returns one array made from nested lists of blocks.

    Args:
      arrays: array, or list of arrays or lists, all of one depth: the innermost lists are joined along the last axis,
        the next ones along the axis before it, and so on.

    Returns:
      Array of the promoted dtype.

    Raises:
      ValueError: there is a tuple or an empty list, or depths differ.

    Examples:
      >>> jnp.block([[jnp.eye(2), jnp.zeros((2, 1))], [jnp.ones((1, 3))]])
      Array([[1., 0., 0.],
             [0., 1., 0.],
             [1., 1., 1.]], dtype=float32)
    """
    out, _ = _block(arrays)
    return out


def _block(xs):
    if isinstance(xs, tuple):
        raise ValueError(f"jax.numpy.block does not allow tuples, got {xs}")
    if xs is None:
        raise ValueError("None is not a valid value for jnp.array")
    if not isinstance(xs, list):
        return ensure_arraylike("block", xs), 1
    if not xs:
        raise ValueError("jax.numpy.block does not allow empty list arguments")
    parts, depths = zip(*[_block(x) for x in xs])
    if any(d != depths[0] for d in depths[1:]):
        raise ValueError(f"Mismatched list depths in jax.numpy.block: {depths}")
    rank = max(depths[0], *(x.ndim for x in parts)) if len(parts) > 1 else max(depths[0], parts[0].ndim)
    parts = [lax.broadcast_to_rank(x, rank) for x in parts]
    return concatenate(parts, axis=-depths[0]), depths[0] + 1


# --- splitting ----------------------------------------------------------------------------------------------------


def _split(name, ary, sections, axis):
    ary = ensure_arraylike(name, ary)
    axis = concrete_or_error(operator.index, axis, f"in jax.numpy.{name} argument `axis`")
    length = ary.shape[axis]
    if isinstance(sections, (tuple, list)) or (isinstance(sections, (np.ndarray, Array)) and sections.ndim > 0):
        cuts = [_section(name, i) for i in sections]
        bounds = [0, *cuts, length]
    elif isinstance(sections, dims.SymbolicDim):
        raise ValueError(f"jax.numpy.{name} with a symbolic number of sections is not supported")
    else:
        count = _section(name, sections)
        part, rest = divmod(length, count)
        if rest == 0:
            bounds = [i * part for i in range(count + 1)]
        elif name == "array_split":
            bounds = [i * (part + 1) for i in range(rest + 1)]
            bounds += [bounds[-1] + (i + 1) * part for i in range(count - rest)]
        else:
            raise ValueError(f"array split does not result in an equal division: rest is {rest}")
    sizes = [b - a for a, b in zip(bounds, bounds[1:])]
    if any(n < 0 for n in sizes):  # NumPy clips the indices and allows overlapping sections
        raise ValueError(f"Sizes passed to split must be nonnegative, got {sizes}")
    return list(lax.split(ary, sizes, axis=canonical_axis(axis, ary.ndim)))


def _section(name, value):
    """A number of sections, or an index; of a traced value that is known, also a whole float, as in JAX."""
    convert = int if isinstance(value, Tracer) else dims.as_dim
    return concrete_or_error(convert, value, f"in jax.numpy.{name} argument 1")


def split(ary: ArrayLike, indices_or_sections: ArrayLike | Sequence[int], axis: int = 0) -> list[Array]:
    """Returns the parts of an array along an axis.

    Args:
      ary: array.
      indices_or_sections: int, the number of equal parts, or ints in increasing order: the indices before which to cut.
      axis: int.

    Returns:
      List of arrays.

    Raises:
      ValueError: the axis cannot be divided equally, or the indices decrease.
      IndexError: there is no such axis.

    Examples:
      >>> jnp.split(jnp.array([1, 2, 3, 4]), 2)
      [Array([1, 2], dtype=int32), Array([3, 4], dtype=int32)]
    """
    return _split("split", ary, indices_or_sections, axis)


def array_split(ary: ArrayLike, indices_or_sections: ArrayLike | Sequence[int], axis: int = 0) -> list[Array]:
    """Returns the parts of an array along an axis, whose lengths may differ by one.

    Args:
      ary: array.
      indices_or_sections: int, the number of parts, or ints in increasing order: the indices before which to cut.
      axis: int.

    Returns:
      List of arrays; the longer ones come first.

    Raises:
      ValueError: the indices decrease.
      ZeroDivisionError: the number of parts is 0.
      IndexError: there is no such axis.

    Examples:
      >>> jnp.array_split(jnp.array([1, 2, 3]), 2)
      [Array([1, 2], dtype=int32), Array([3], dtype=int32)]
    """
    return _split("array_split", ary, indices_or_sections, axis)


def vsplit(ary: ArrayLike, indices_or_sections: ArrayLike | Sequence[int]) -> list[Array]:
    """Returns the parts of an array along its first axis.

    Args:
      ary: array of rank 1 or more.
      indices_or_sections: as for `split`.

    Returns:
      List of arrays.

    Raises:
      ValueError: the axis cannot be divided equally.

    Examples:
      >>> jnp.vsplit(jnp.array([[1, 2], [3, 4]]), 2)
      [Array([[1, 2]], dtype=int32), Array([[3, 4]], dtype=int32)]
    """
    return _split("vsplit", ary, indices_or_sections, 0)


def hsplit(ary: ArrayLike, indices_or_sections: ArrayLike | Sequence[int]) -> list[Array]:
    """Returns the parts of an array along its second axis, those of a vector along its only one.

    Args:
      ary: array of rank 1 or more.
      indices_or_sections: as for `split`.

    Returns:
      List of arrays.

    Raises:
      ValueError: the axis cannot be divided equally.

    Examples:
      >>> jnp.hsplit(jnp.array([1, 2, 3, 4]), [1])
      [Array([1], dtype=int32), Array([2, 3, 4], dtype=int32)]
    """
    ary = ensure_arraylike("hsplit", ary)
    return _split("hsplit", ary, indices_or_sections, 0 if ary.ndim == 1 else 1)


def dsplit(ary: ArrayLike, indices_or_sections: ArrayLike | Sequence[int]) -> list[Array]:
    """Returns the parts of an array along its third axis.

    Args:
      ary: array of rank 3 or more.
      indices_or_sections: as for `split`.

    Returns:
      List of arrays.

    Raises:
      ValueError: the axis cannot be divided equally.

    Examples:
      >>> [x.shape for x in jnp.dsplit(jnp.ones((1, 2, 4)), 2)]
      [(1, 2, 2), (1, 2, 2)]
    """
    return _split("dsplit", ary, indices_or_sections, 2)


@static_argnames("axis")
def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Returns the slices of an array along an axis, without it.

    Args:
      x: array of rank 1 or more.
      axis: int.

    Returns:
      Tuple of x.shape[axis] arrays.

    Raises:
      ValueError: `x` is a scalar.

    Examples:
      >>> jnp.unstack(jnp.array([[1, 2], [3, 4]]))
      (Array([1, 2], dtype=int32), Array([3, 4], dtype=int32))
    """
    x = ensure_arraylike("unstack", x)
    if x.ndim == 0:
        raise ValueError("axis 0 is out of bounds for array of dimension 0")
    return tuple(lax.unstack(x, canonical_axis(axis, x.ndim)))
