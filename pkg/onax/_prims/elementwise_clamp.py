"""Clamp: the operand within two limits, which may be scalars."""

from onax._core.facts import ELEMENTWISE
from onax._core.rules import defjvp
from onax._ground import dims as dimensions
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax._native.avals import ShapedArray
from onax._native.dispatch import Primitive
from onax._prims import elementwise_kernels as kernels
from onax._prims.creation import full_like
from onax._prims.elementwise import broadcast_leading, broadcast_tangent, gt, lt, select
from onax._prims.elementwise_bits import bitwise_and
from onax._prims.elementwise_rows import check_same_dtypes
from onax._prims.shaping import bdim_at_front, shape_of


def _clamp_abstract(lowest, x, highest):
    for name, bound in (("min", lowest), ("max", highest)):
        if bound.shape and not dimensions.equal_shapes(bound.shape, x.shape):
            raise TypeError(
                f"clamp requires {name}.shape == operand.shape or {name}.shape == (), got "
                f"{name}.shape={bound.shape}, operand.shape={x.shape}."
            )
    check_same_dtypes("clamp", (lowest, x, highest))
    return ShapedArray(x.shape, x.dtype, lowest.weak_type and x.weak_type and highest.weak_type)


def _where(mask, g, z):
    return select(mask, broadcast_tangent(g, shape_of(z)), full_like(z, 0))


clamp_p = Primitive("clamp", kernel=kernels.clamp, abstract_eval=_clamp_abstract, facts=frozenset({ELEMENTWISE}))
defjvp(
    clamp_p,
    lambda g, z, a, x, b: _where(bitwise_and(gt(a, x), lt(a, b)), g, z),
    lambda g, z, a, x, b: _where(bitwise_and(gt(x, a), lt(x, b)), g, z),
    lambda g, z, a, x, b: _where(lt(b, x), g, z),
)


def _clamp_batch(axis_data, operands, dims):
    shapes = [shape_of(x) for x in operands]
    if all(d is None and not s for d, s in zip(dims[::2], shapes[::2])):
        return clamp_p.bind(*operands), dims[1]
    if dims[1] is not None and all(d == dims[1] and s == shapes[1] for d, s in zip(dims, shapes)):
        return clamp_p.bind(*operands), dims[1]
    x = bdim_at_front(operands[1], dims[1], axis_data.size)
    shape = shape_of(x)
    low, high = (
        broadcast_leading(o if d is None and not s else bdim_at_front(o, d, axis_data.size), shape)
        for o, d, s in zip(operands[::2], dims[::2], shapes[::2])
    )
    return clamp_p.bind(low, x, high), 0


clamp_p.batch = _clamp_batch


def clamp(min: ArrayLike, x: ArrayLike, max: ArrayLike) -> Array:
    """Returns numbers limited to a range: the smaller of `max` and the larger of `min` and `x`.

    NaN in any operand gives NaN; where `min` is above `max` the result is `max`.  The derivative is 1 for what is the
    result, and 0 for all where a number equals its limit.

    Args:
      min: scalar, or array of the shape of `x`.
      x: array of integers or floats.
      max: scalar, or array of the shape of `x`.

    Returns:
      Array like `x`.

    Raises:
      TypeError: the operands differ in dtype, or a limit has another shape.

    Examples:
      >>> lax.clamp(0.0, jnp.array([-1.0, 0.5, 3.0]), 1.0)
      Array([0. , 0.5, 1. ], dtype=float32)
    """
    return clamp_p.bind(min, x, max)
