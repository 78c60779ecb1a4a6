"""stack, unstack and tile.

stack and unstack are each other's adjoint; the adjoint of tile is a sum over the copies.
"""

import operator
from collections.abc import Sequence

import numpy as np

from onax._core.facts import LINEAR_MOVEMENT
from onax._core.rules import InvalidOperands, deflinear, tangent_zero
from onax._core.trace import as_array
from onax._core.zeros import Zero
from onax._ground import dims
from onax._ground.typing import ArrayLike, DimSize
from onax._native.array import Array
from onax._native.avals import ShapedArray
from onax._native.dispatch import Primitive
from onax._prims.creation import instantiate_zeros
from onax._prims.shaping import bdim_at_front, canonical_axis, moveaxis, reduce_sum, reshape

# ---- stack ----


def _stack_kernel(*xs, axis):
    return np.stack(xs, axis)


def _stack_abstract(*xs, axis):
    if not xs:
        raise ValueError("Need at least one array to stack.")
    first = xs[0]
    if any(x.ndim != first.ndim for x in xs):
        shown = ", ".join(str(x.shape) for x in xs)
        raise ValueError(f"Cannot stack arrays with different numbers of dimensions: got {shown}.")
    if not all(dims.equal_shapes(x.shape, first.shape) for x in xs):
        shown = ", ".join(str(x.shape) for x in xs)
        raise ValueError(f"All input arrays to stack must have the same shape: got {shown}.")
    if any(x.dtype != first.dtype for x in xs):
        raise TypeError(f"stack requires arrays of one dtype, got {', '.join(str(x.dtype) for x in xs)}.")
    weak_type = all(x.weak_type for x in xs)
    return ShapedArray((*first.shape[:axis], len(xs), *first.shape[axis:]), first.dtype, weak_type)


def _stack_jvp(primals, tangents, *, axis):
    out = stack_p.bind(*primals, axis=axis)
    if all(type(g) is Zero for g in tangents):
        return out, tangent_zero(out)
    return out, stack_p.bind(*map(instantiate_zeros, tangents), axis=axis)


def _stack_transpose(ct, *xs, axis):
    if type(ct) is Zero:
        return [Zero(x.aval) for x in xs]
    return unstack_p.bind(ct, axis=axis)


def _stack_batch(axis_data, operands, mapped, *, axis):
    operands = [bdim_at_front(x, d, axis_data.size) for x, d in zip(operands, mapped)]
    return stack_p.bind(*operands, axis=axis + 1), 0


stack_p = Primitive(
    "stack",
    kernel=_stack_kernel,
    abstract_eval=_stack_abstract,
    jvp=_stack_jvp,
    transpose=_stack_transpose,
    batch=_stack_batch,
    facts=LINEAR_MOVEMENT,
)


def stack(operands: Sequence[ArrayLike], axis: int = 0) -> Array:
    """Returns arrays joined along a new axis.

    Args:
      operands: sequence of arrays of one shape and dtype.
      axis: int, the position of the new axis.

    Returns:
      Array with one more axis.

    Raises:
      ValueError: there are no operands, or shapes differ.

    Examples:
      >>> lax.stack([jnp.array([1, 2]), jnp.array([3, 4])])
      Array([[1, 2],
             [3, 4]], dtype=int32)
    """
    operands = [x if isinstance(x, Array) else as_array(x) for x in operands]
    if not operands:
        raise ValueError("Need at least one array to stack.")
    return stack_p.bind(*operands, axis=canonical_axis(axis, operands[0].ndim + 1))


# ---- unstack ----


def _unstack_kernel(x, *, axis):
    return [np.array(part) for part in np.moveaxis(x, axis, 0)]


def _unstack_abstract(x, *, axis):
    shape = (*x.shape[:axis], *x.shape[axis + 1 :])
    return [ShapedArray(shape, x.dtype, x.weak_type) for _ in range(operator.index(x.shape[axis]))]


def _unstack_jvp(primals, tangents, *, axis):
    out = unstack_p.bind(*primals, axis=axis)
    if type(tangents[0]) is Zero:
        return out, tangent_zero(out)
    return out, unstack_p.bind(tangents[0], axis=axis)


def _unstack_transpose(cts, x, *, axis):
    if all(type(ct) is Zero for ct in cts):
        return [Zero(x.aval)]
    return [stack_p.bind(*map(instantiate_zeros, cts), axis=axis)]


def _unstack_batch(axis_data, operands, mapped, *, axis):
    out = unstack_p.bind(moveaxis(operands[0], mapped[0], 0), axis=axis + 1)
    return out, [0] * len(out)


unstack_p = Primitive(
    "unstack",
    multiple_results=True,
    kernel=_unstack_kernel,
    abstract_eval=_unstack_abstract,
    jvp=_unstack_jvp,
    transpose=_unstack_transpose,
    batch=_unstack_batch,
    facts=LINEAR_MOVEMENT,
)


def unstack(x: ArrayLike, axis: int = 0) -> tuple[Array, ...]:
    """Returns the slices of an array along an axis, which they lack.

    Args:
      x: array of rank 1 or more.
      axis: int.

    Returns:
      Tuple of arrays.

    Raises:
      ValueError: there is no such axis.

    Examples:
      >>> lax.unstack(jnp.array([[1, 2], [3, 4]]))
      (Array([1, 2], dtype=int32), Array([3, 4], dtype=int32))
    """
    x = x if isinstance(x, Array) else as_array(x)
    return tuple(unstack_p.bind(x, axis=canonical_axis(axis, x.ndim)))


# ---- tile ----


def _tile_kernel(x, *, reps):
    if len(reps) != x.ndim or min(reps, default=0) < 0:
        raise InvalidOperands  # np.tile accepts another number of repetitions
    return np.tile(x, reps)


def _tile_abstract(x, *, reps):
    if len(reps) != x.ndim:
        raise TypeError(f"reps length must be equal to the ndim of x, got len(reps)={len(reps)} and x.ndim={x.ndim}.")
    if any(type(r) is int and r < 0 for r in reps):
        raise ValueError(f"tile needs non-negative repetitions; got {reps}")
    return ShapedArray(tuple(n * r for n, r in zip(x.shape, reps)), x.dtype, x.weak_type)


def _tile_transpose(ct, x, *, reps):
    pairs = tuple(n for pair in zip(reps, x.aval.shape) for n in pair)
    return [reduce_sum(reshape(ct, pairs), tuple(range(0, 2 * len(reps), 2)))]


def _tile_batch(axis_data, operands, mapped, *, reps):
    (x,), (d,) = operands, mapped
    return tile_p.bind(x, reps=(*reps[:d], 1, *reps[d:])), d


tile_p = Primitive(
    "tile",
    kernel=_tile_kernel,
    abstract_eval=_tile_abstract,
    batch=_tile_batch,
    facts=LINEAR_MOVEMENT,
)
deflinear(tile_p, _tile_transpose)


def tile(operand: ArrayLike, reps: Sequence[DimSize]) -> Array:
    """Returns an array repeated as a whole along its axes.

    Args:
      operand: array.
      reps: ints, one for each axis.

    Returns:
      Array of the dtype of the operand.

    Examples:
      >>> lax.tile(jnp.array([1, 2]), (2,))
      Array([1, 2, 1, 2], dtype=int32)
    """
    reps = tuple(dims.as_dim(r) for r in reps)
    return tile_p.bind(operand if isinstance(operand, Array) else as_array(operand), reps=reps)
