"""Changing shapes: reshape, transpose and their relatives, joining, splitting, repeating, flipping."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from onax import lax
from onax._control.jit_call import staged
from onax._core.api_functions import name_error, static_argnames
from onax._ground import dims
from onax._ground.source import stacklevel
from onax._ground.typing import ArrayLike, Axis, DimSize, Shape, ShardingLike
from onax._native.array import Array, ArrayImpl
from onax._prims.placement import with_out_sharding
from onax._prims.shaping import canonical_shape
from onax.numpy._creation import broadcast_to
from onax.numpy._promotion import (
    canonical_axes,
    canonical_axis,
    check_arraylike,
    ensure_arraylike,
    ensure_arraylikes,
    from_jax_array,
    listed_axis,
    static_axes,
)

# --- one array, other axes ----------------------------------------------------------------------------------------


def reshape(
    a: ArrayLike,
    shape: DimSize | Sequence[DimSize],
    order: str = "C",
    *,
    copy: bool | None = None,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Returns the elements of an array in another shape.

    Args:
      a: an array.
      shape: an int or a sequence of ints with the same product as the shape of `a`; one of them may be -1, which stands
        for the size that is left over.
      order: "C" reads and writes elements in row-major order, "F" in column-major order.
      copy: True returns a new array even if the shape stays; None and False leave that open.
      out_sharding: where the result lies, a NamedSharding or a PartitionSpec over the mesh in context.

    Returns:
      Array of the given shape and the dtype of `a`.

    Raises:
      TypeError: the numbers of elements differ.
      NotImplementedError: `order` is "A" or "K".
      ValueError: `order` is another value.

    Examples:
      >>> jnp.reshape(jnp.arange(6), (2, -1))
      Array([[0, 1, 2],
             [3, 4, 5]], dtype=int32)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, reshape, a, shape, order, copy=copy)
    a = ensure_arraylike("reshape", a)
    if type(shape) is tuple and type(a) is ArrayImpl and order == "C" and copy is None and dims.has_size(shape, a.size):
        return a if shape == a.shape else lax.reshape_p.bind(a, new_sizes=shape, dimensions=None, sharding=None)
    if order == "C":
        out = lax.reshape(a, _target_shape(a.shape, shape))
    elif order == "F":
        target = _target_shape(a.shape, shape)
        out = lax.reshape(a, target[::-1], tuple(range(a.ndim))[::-1])
        out = lax.transpose(out, tuple(range(len(target)))[::-1])
    elif order in ("A", "K"):
        raise NotImplementedError(f"np.reshape order={order} is not implemented: an Array has no memory order.")
    else:
        raise ValueError(f"Unexpected value for 'order' argument: {order}.")
    return lax.copy_p.bind(out) if copy and out is a else out


def _target_shape(have, shape):
    """The requested shape with -1 resolved."""
    given = shape
    try:
        iter(shape)
    except TypeError:
        shape = [shape]
    shape = canonical_shape(shape)
    unknown = [i for i, d in enumerate(shape) if type(d) is int and d == -1]
    if len(unknown) > 1:
        raise TypeError(f"can only specify one unknown axis size with a `-1` value, got {given}")
    total = dims.prod(have)
    rest = dims.prod(tuple(d for i, d in enumerate(shape) if i not in unknown))
    what = f"cannot reshape array of shape {have} (size {total}) into shape {given}"
    if unknown:
        if isinstance(rest, int) and isinstance(total, int) and (rest == 0 or total % rest):
            raise TypeError(
                f"{what} because the product of specified axis sizes ({rest}) does not evenly divide {total}"
            )
        length = dims.remaining_size(have, shape, total, rest)
        return tuple(length if i in unknown else d for i, d in enumerate(shape))
    if not dims.equal(total, rest):
        raise TypeError(f"{what} (size {rest})")
    return shape


@static_argnames("order")
def ravel(a: ArrayLike, order: str = "C", *, out_sharding: ShardingLike | None = None) -> Array:
    """Returns the elements of an array as a vector.

    Args:
      a: array.
      order: "C" for row-major order, "F" for column-major order.
      out_sharding: a sharding for the result; default: decided by the operands.

    Returns:
      Array of shape (a.size,); a copy, unlike NumPy's.

    Raises:
      NotImplementedError: `order` is "K" or "A".

    Examples:
      >>> jnp.ravel(jnp.array([[1, 2], [3, 4]]), order="F")
      Array([1, 3, 2, 4], dtype=int32)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, ravel, a, order)
    a = ensure_arraylike("ravel", a)
    if order == "K":
        raise NotImplementedError("Ravel not implemented for order='K'.")
    size = dims.prod(a.shape)
    if order == "F":
        return lax.reshape(a, (size,), tuple(range(a.ndim))[::-1])
    return reshape(a, (size,), order=order)


def transpose(a: ArrayLike, axes: Sequence[int] | None = None) -> Array:
    """Returns an array with its axes in another order.

    Args:
      a: array.
      axes: permutation of the axes; default: the reverse order.

    Returns:
      Array whose axis i is axis axes[i] of `a`.

    Raises:
      TypeError: `axes` is no permutation.

    Examples:
      >>> jnp.transpose(jnp.array([[1, 2], [3, 4]]))
      Array([[1, 3],
             [2, 4]], dtype=int32)
    """
    a = ensure_arraylike("transpose", a)
    ndim = a.ndim
    if axes is None:
        return lax.transpose(a, tuple(range(ndim))[::-1])
    try:
        axes = tuple(canonical_axis(i, ndim) for i in axes)
    except (TypeError, ValueError) as error:
        name_error(error, "onax.numpy.transpose")
        raise
    return lax.transpose(a, axes)


def permute_dims(a: ArrayLike, /, axes: tuple[int, ...]) -> Array:
    """Returns an array with its axes in another order.

    Args:
      a: array.
      axes: permutation of the axes.

    Returns:
      Array whose axis i is axis axes[i] of `a`.

    Raises:
      TypeError: `axes` is no permutation.

    Examples:
      >>> jnp.permute_dims(jnp.ones((2, 3, 4)), (2, 0, 1)).shape
      (4, 2, 3)
    """
    a = ensure_arraylike("permute_dims", a)
    return lax.transpose(a, axes)


def matrix_transpose(x: ArrayLike, /) -> Array:
    """Returns an array with its last two axes swapped.

    Args:
      x: array of shape (..., m, n).

    Returns:
      Array of shape (..., n, m).

    Raises:
      ValueError: the rank is below 2.

    Examples:
      >>> jnp.matrix_transpose(jnp.array([[1, 2], [3, 4]]))
      Array([[1, 3],
             [2, 4]], dtype=int32)
    """
    x = ensure_arraylike("matrix_transpose", x)
    if x.ndim < 2:
        raise ValueError(f"x must be at least two-dimensional for matrix_transpose; got ndim={x.ndim}")
    return swapaxes(x, -1, -2)


@static_argnames("axis1", "axis2")
def swapaxes(a: ArrayLike, axis1: int, axis2: int) -> Array:
    """Returns an array with two axes swapped.

    Args:
      a: array.
      axis1, axis2: ints.

    Returns:
      Array of the dtype of `a`.

    Raises:
      ValueError: an axis is out of bounds.

    Examples:
      >>> jnp.swapaxes(jnp.ones((2, 3, 4)), 0, 2).shape
      (4, 3, 2)
    """
    a = ensure_arraylike("swapaxes", a)
    order = list(range(a.ndim))
    i, j = (listed_axis(axis, a.ndim) for axis in (axis1, axis2))
    order[i], order[j] = order[j], order[i]
    return lax.transpose(a, order)


def moveaxis(a: ArrayLike, source: int | Sequence[int], destination: int | Sequence[int]) -> Array:
    """Returns an array with axes moved to other positions; the others keep their order.

    Args:
      a: array.
      source: int or ints, the axes to move.
      destination: int or ints, their positions in the result.

    Returns:
      Array of the dtype of `a`.

    Raises:
      ValueError: an axis is out of bounds or named twice, or the numbers of axes differ.

    Examples:
      >>> jnp.moveaxis(jnp.ones((2, 3, 4)), 0, -1).shape
      (3, 4, 2)
    """
    a = ensure_arraylike("moveaxis", a)
    source = tuple(canonical_axis(i, a.ndim) for i in static_axes(source))
    destination = tuple(canonical_axis(i, a.ndim) for i in static_axes(destination))
    if len(source) != len(destination):
        raise ValueError(f"Inconsistent number of elements: {len(source)} vs {len(destination)}")
    order = [i for i in range(a.ndim) if i not in source]
    for index, axis in sorted(zip(destination, source)):
        order.insert(index, axis)
    return lax.transpose(a, order)


@staged("rollaxis", ("axis", "start"), compiled_from=None)
def rollaxis(a: ArrayLike, axis: int, start: int = 0) -> Array:
    """Returns an array with an axis moved to before another; `moveaxis` is clearer.

    Args:
      a: array.
      axis: int, the axis to move.
      start: int, the position in front of which it comes.

    Returns:
      Array of the dtype of `a`.

    Raises:
      ValueError: `start` is out of bounds.

    Examples:
      >>> jnp.rollaxis(jnp.ones((2, 3, 4)), 2).shape
      (4, 2, 3)
    """
    a = ensure_arraylike("rollaxis", a)
    start = operator.index(start)
    if not -a.ndim <= start <= a.ndim:
        raise ValueError(f"{start=} must satisfy {-a.ndim}<=start<={a.ndim}")
    start += a.ndim if start < 0 else 0
    axis = canonical_axis(axis, a.ndim)
    return moveaxis(a, axis, start - 1 if start > axis else start)


def squeeze(a: ArrayLike, axis: int | Sequence[int] | None = None) -> Array:
    """Returns an array without axes of length 1.

    Args:
      a: array.
      axis: int or ints to remove; default: all axes of length 1.

    Returns:
      Array of the dtype of `a`.

    Raises:
      ValueError: a named axis is longer than 1.

    Examples:
      >>> jnp.squeeze(jnp.ones((1, 3, 1))).shape
      (3,)
    """
    a = ensure_arraylike("squeeze", a)
    if axis is None:
        if not all(map(dims.is_constant, a.shape)):
            raise ValueError("jnp.squeeze with axis=None is not supported with shape polymorphism")
        axis = tuple(i for i, d in enumerate(a.shape) if d == 1)
    return lax.squeeze(a, canonical_axes(static_axes(axis), a.ndim))


def expand_dims(a: ArrayLike, axis: int | Sequence[int]) -> Array:
    """Returns an array with axes of length 1 inserted.

    Args:
      a: array.
      axis: int or ints, positions in the result.

    Returns:
      Array of the dtype of `a`.

    Raises:
      ValueError: a position is out of bounds or repeated.

    Examples:
      >>> jnp.expand_dims(jnp.array([1, 2]), 1)
      Array([[1],
             [2]], dtype=int32)
    """
    a = ensure_arraylike("expand_dims", a)
    return lax.expand_dims(a, static_axes(axis))


def broadcast_shapes(*shapes: int | Sequence[DimSize]) -> Shape:
    """Returns the shape that arrays of the given shapes have after broadcasting.

    Args:
      *shapes: sequences of ints, or ints.

    Returns:
      Tuple of ints.

    Raises:
      ValueError: the shapes do not fit.
      TypeError: a length is negative.

    Examples:
      >>> jnp.broadcast_shapes((3, 1), (4,))
      (3, 4)
    """
    as_tuples = [static_integers(s) for s in shapes]
    for shape in as_tuples:
        if any(isinstance(n, (int, np.integer)) and n < 0 for n in shape):
            raise TypeError(
                f"Only non-negative indices are allowed when broadcasting static shapes, but got shape {shape!r}."
            )
    return lax.broadcast_shapes(*as_tuples)


def broadcast_arrays(*args: ArrayLike) -> list[Array]:
    """Returns arrays broadcast to their common shape.

    Args:
      *args: arrays.

    Returns:
      List of arrays, each of its own dtype; they are copies, unlike NumPy's.

    Raises:
      ValueError: the shapes do not fit.

    Examples:
      >>> jnp.broadcast_arrays(jnp.array([1, 2]), 5)
      [Array([1, 2], dtype=int32), Array([5, 5], dtype=int32, weak_type=True)]
    """
    args = ensure_arraylikes("broadcast_arrays", *args)
    shape = lax.broadcast_shapes(*(x.shape for x in args)) if args else ()
    return [broadcast_to(x, shape) for x in args]


def _shape_of(name, a):
    """The shape of anything array-like; of sequences, too, with a warning."""
    a = from_jax_array(a)
    if hasattr(a, "shape"):
        return tuple(a.shape)
    if isinstance(a, (list, tuple)):
        text = f"{name} requires ndarray or scalar arguments, got {type(a)} at position 0."
        text += " In a future JAX release this will be an error."
        warnings.warn(text, DeprecationWarning, stacklevel=stacklevel())
    return np.shape(a)


def shape(a: Any) -> tuple[int, ...]:
    """Returns the shape of an array.

    Args:
      a: array, or nested sequence of numbers.

    Returns:
      Tuple of ints.

    Examples:
      >>> jnp.shape(jnp.ones((2, 3)))
      (2, 3)
    """
    return _shape_of("shape", a)


def ndim(a: Any) -> int:
    """Returns the number of axes of an array.

    Args:
      a: array, or nested sequence of numbers.

    Returns:
      int.

    Examples:
      >>> jnp.ndim(jnp.ones((2, 3)))
      2
    """
    return len(_shape_of("ndim", a))


def size(a: Any, axis: int | Sequence[int] | None = None) -> int:
    """Returns the number of elements of an array.

    Args:
      a: array, or nested sequence of numbers.
      axis: int or ints along which elements count; default: all axes.

    Returns:
      int.

    Raises:
      TypeError: `axis` is an array that is not a scalar.
      ValueError: an axis occurs twice.

    Examples:
      >>> jnp.size(jnp.ones((2, 3))), jnp.size(jnp.ones((2, 3)), 1)
      (6, 3)
    """
    shape = _shape_of("size", a)
    if axis is None:
        return dims.prod(shape)
    if isinstance(axis, (np.ndarray, Array)) and axis.ndim:
        raise TypeError(f"size: axis must be an integer or a tuple of integers, got {axis!r}")
    axes = canonical_axes(axis, len(shape))
    if len(set(axes)) != len(axes):
        raise ValueError(f"repeated axis: {axis}")
    return dims.prod(tuple(shape[i] for i in axes))


def _atleast_nd(x, rank):
    """Adds axes of length 1; for rank 3 a matrix gets the new axis at the end."""
    x = ensure_arraylike(f"atleast_{rank}d", x)
    if x.ndim >= rank:
        return x
    return lax.expand_dims(x, ((0, 1, 2), (0, 2), (2,))[x.ndim] if rank == 3 else tuple(range(rank - x.ndim)))


@overload
def atleast_1d(ary: ArrayLike, /) -> Array: ...


@overload
def atleast_1d(*arys: ArrayLike) -> list[Array]: ...


@staged("atleast_1d")
def atleast_1d(*arys: ArrayLike) -> Array | list[Array]:
    """Returns each argument with at least one axis.

    Args:
      *arys: arrays.

    Returns:
      Array, or a list of arrays for several arguments.

    Examples:
      >>> jnp.atleast_1d(3)
      Array([3], dtype=int32, weak_type=True)
    """
    if len(arys) == 1:
        return _atleast_nd(arys[0], 1)
    return [_atleast_nd(x, 1) for x in arys]


@overload
def atleast_2d(ary: ArrayLike, /) -> Array: ...


@overload
def atleast_2d(*arys: ArrayLike) -> list[Array]: ...


@staged("atleast_2d")
def atleast_2d(*arys: ArrayLike) -> Array | list[Array]:
    """Returns each argument with at least two axes, new ones in front.

    Args:
      *arys: arrays.

    Returns:
      Array, or a list of arrays for several arguments.

    Examples:
      >>> jnp.atleast_2d(jnp.array([1, 2]))
      Array([[1, 2]], dtype=int32)
    """
    if len(arys) == 1:
        return _atleast_nd(arys[0], 2)
    return [_atleast_nd(x, 2) for x in arys]


@overload
def atleast_3d(ary: ArrayLike, /) -> Array: ...


@overload
def atleast_3d(*arys: ArrayLike) -> list[Array]: ...


@staged("atleast_3d")
def atleast_3d(*arys: ArrayLike) -> Array | list[Array]:
    """Returns each argument with at least three axes.

    Args:
      *arys: arrays; shape (n,) becomes (1, n, 1), and (m, n) becomes (m, n, 1).

    Returns:
      Array, or a list of arrays for several arguments.

    Examples:
      >>> jnp.atleast_3d(jnp.ones((2, 3))).shape
      (2, 3, 1)
    """
    if len(arys) == 1:
        return _atleast_nd(arys[0], 3)
    return [_atleast_nd(x, 3) for x in arys]


# --- tiling ------------------------------------------------------------------------------------------------------


def static_integers(numbers):
    """A number or a sequence of numbers as a tuple; the elements of a concrete array are not traced."""
    if type(numbers) is ArrayImpl:
        numbers = np.asarray(numbers)
    return (numbers,) if np.ndim(numbers) == 0 else tuple(numbers)


def tile(A: ArrayLike, reps: DimSize | Sequence[DimSize]) -> Array:
    """Returns an array repeated as a whole along its axes.

    Args:
      A: array.
      reps: int, or ints for the last axes: how often each is repeated; missing ones count as 1.

    Returns:
      Array of the dtype of `A`, whose lengths are multiplied by reps.

    Raises:
      ValueError: a number of repetitions is negative.

    Examples:
      >>> jnp.tile(jnp.array([1, 2]), (2, 2))
      Array([[1, 2, 1, 2],
             [1, 2, 1, 2]], dtype=int32)
    """
    A = ensure_arraylike("tile", A)
    times = tuple(r if isinstance(r, dims.SymbolicDim) else operator.index(r) for r in static_integers(reps))
    if any(type(r) is int and r < 0 for r in times):
        raise ValueError(f"tile needs non-negative repetitions; got {times}")
    rank = max(A.ndim, len(times))
    return lax.tile(lax.broadcast_to_rank(A, rank), (1,) * (rank - len(times)) + times)


@staged("resize", static_argnames=("new_shape",))
def resize(a: ArrayLike, new_shape: DimSize | Sequence[DimSize]) -> Array:
    """Returns an array of a new shape, filled with repeated or cut-off elements.

    Args:
      a: array.
      new_shape: int or ints.

    Returns:
      Array of the new shape and the dtype of `a`.

    Raises:
      ValueError: a length is negative.

    Examples:
      >>> jnp.resize(jnp.array([1, 2, 3]), (2, 2))
      Array([[1, 2],
             [3, 1]], dtype=int32)
    """
    a = ravel(ensure_arraylike("resize", a))
    wanted = static_integers(new_shape)
    if any(d < 0 for d in wanted):
        raise ValueError("all elements of `new_shape` must be non-negative")
    size = dims.prod(wanted)
    if a.size == 0 or size == 0:
        return lax.full(wanted, 0, a.dtype)
    times = -(-size // a.size)
    return reshape(tile(a, times)[:size], wanted)


# --- reversing and rolling ----------------------------------------------------------------------------------------


def flip(m: ArrayLike, axis: int | Sequence[int] | None = None) -> Array:
    """Returns an array with the order of elements reversed along axes.

    Args:
      m: array.
      axis: int or ints; default: all axes.

    Returns:
      Array of the shape and dtype of `m`.

    Raises:
      ValueError: an axis is out of bounds.

    Examples:
      >>> jnp.flip(jnp.array([[1, 2], [3, 4]]))
      Array([[4, 3],
             [2, 1]], dtype=int32)
    """
    (m,) = check_arraylike("flip", m)
    return _flip(m, None if axis is None else static_axes(axis))


@staged("_flip", ("axis",), compiled_from=None)
def _flip(m, axis):
    m = ensure_arraylike("flip", m)
    return lax.rev(m, canonical_axes(axis, m.ndim))


def flipud(m: ArrayLike) -> Array:
    """Returns an array with its first axis reversed.

    Args:
      m: array of rank 1 or more.

    Returns:
      Array of the shape and dtype of `m`.

    Examples:
      >>> jnp.flipud(jnp.array([[1, 2], [3, 4]]))
      Array([[3, 4],
             [1, 2]], dtype=int32)
    """
    return _flip(ensure_arraylike("flipud", m), 0)


def fliplr(m: ArrayLike) -> Array:
    """Returns an array with its second axis reversed.

    Args:
      m: array of rank 2 or more.

    Returns:
      Array of the shape and dtype of `m`.

    Examples:
      >>> jnp.fliplr(jnp.array([[1, 2], [3, 4]]))
      Array([[2, 1],
             [4, 3]], dtype=int32)
    """
    return _flip(ensure_arraylike("fliplr", m), 1)


@staged("rot90", ("k", "axes"), compiled_from=None)
def rot90(m: ArrayLike, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Array:
    """Returns an array turned by multiples of 90 degrees in the plane of two axes.

    Args:
      m: array of rank 2 or more.
      k: int, how often it is turned, from the first axis towards the second.
      axes: two ints.

    Returns:
      Array of the dtype of `m`.

    Raises:
      ValueError: the axes are equal.
      TypeError: `axes` is a scalar.

    Examples:
      >>> jnp.rot90(jnp.array([[1, 2], [3, 4]]))
      Array([[2, 4],
             [1, 3]], dtype=int32)
    """
    m = ensure_arraylike("rot90", m)
    if np.ndim(axes) == 0:
        raise TypeError(f"rot90 takes two axes, got {axes!r}")
    if np.shape(axes) != (2,):
        raise ValueError("rot90 takes two axes")
    if m.ndim < 2:
        raise ValueError(
            "rot90 requires its first argument to have ndim at least two, but got first argument of shape "
            f"{m.shape}, which has ndim {m.ndim}"
        )
    first, second = (canonical_axis(i, m.ndim) for i in axes)
    if first == second:
        raise ValueError("Axes must be different")
    k %= 4
    if k == 0:
        return m
    if k == 2:
        return flip(flip(m, first), second)
    order = list(range(m.ndim))
    order[first], order[second] = order[second], order[first]
    return transpose(flip(m, second), order) if k == 1 else flip(transpose(m, order), second)


def roll(a: ArrayLike, shift: ArrayLike | Sequence[int], axis: Axis = None) -> Array:
    """Returns an array with its elements shifted cyclically.

    Args:
      a: array.
      shift: int or integer array (which may be traced), or one for each axis; positive shifts go towards the end.
      axis: int or ints; default: the flattened array, which gets its shape back.

    Returns:
      Array of the shape and dtype of `a`.

    Raises:
      ValueError: `shift` is None or has more than one axis.

    Examples:
      >>> jnp.roll(jnp.array([1, 2, 3]), 1)
      Array([3, 1, 2], dtype=int32)
    """
    a = ensure_arraylike("roll", a)
    if shift is None:
        raise ValueError("None is not a valid value for jnp.array")
    if axis is None:
        return lax.reshape(roll(ravel(a), shift, 0), a.shape)
    axes = static_axes(axis)
    shift = from_jax_array(shift)
    check_arraylike("roll", *(shift if isinstance(shift, (tuple, list)) else (shift,)))
    if np.ndim(shift) > 1:
        raise ValueError("'shift' and 'axis' arguments to roll must be scalars or 1D arrays")
    axes = tuple(canonical_axis(i, a.ndim) for i in axes)
    is_static = not isinstance(shift, Array) or type(shift) is ArrayImpl
    if is_static:
        shifts = np.asarray(shift)  # of floats the integer part counts
        shape: Any = lax.broadcast_shapes(shifts.shape, (len(axes),))  # raises ValueError
        shifts, rolled = np.broadcast_to(shifts, shape), np.broadcast_to(np.asarray(axes), shape)
        return _roll_static(a, tuple(map(int, shifts)), tuple(map(int, rolled)))
    return _roll_dynamic(a, shift, axes)


@staged("_roll_static", static_argnames=("shift", "axis"))
def _roll_static(a, shift, axis):
    for offset, ax in zip(shift, axis):
        if a.shape[ax] == 0:
            continue
        ax = canonical_axis(ax, a.ndim)
        cut = -offset % a.shape[ax]
        a = lax.concatenate([lax.slice_in_dim(a, cut, a.shape[ax], axis=ax), lax.slice_in_dim(a, 0, cut, axis=ax)], ax)
    return a


@staged("_roll_dynamic", static_argnames=("axis",))
def _roll_dynamic(a, shift, axis):
    shift = lax.convert_element_type(ensure_arraylike("roll", shift), np.int32)
    shape = lax.broadcast_shapes(shift.shape, (len(axis),))
    for offset, ax in zip(lax.unstack(broadcast_to(shift, shape)), np.broadcast_to(np.asarray(axis), shape).tolist()):
        n = a.shape[ax]
        if n == 0:
            continue
        offset = lax.rem(offset, offset.dtype.type(n))
        offset = lax.select(lax.lt(offset, offset.dtype.type(0)), lax.add(offset, offset.dtype.type(n)), offset)
        twice = lax.concatenate([a, a], ax)
        start = lax.sub(lax.full_like(offset, n), offset)
        a = lax.dynamic_slice_in_dim(twice, start, n, axis=ax)
    return a
