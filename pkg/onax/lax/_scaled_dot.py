"""scaled_dot: products of arrays of narrow floats, blocks of which have a scale."""

from __future__ import annotations

from typing import Any

import numpy as np

from onax._core.trace import as_array
from onax._ground import dtypes
from onax._ground.typing import ArrayLike, DTypeLike
from onax._native.array import Array
from onax._prims.convert import convert
from onax._prims.dot import dot_general
from onax._prims.elementwise import mul
from onax._prims.shaping import broadcast_in_dim, reshape

_BF16 = np.dtype(dtypes.bfloat16)


def scale_blocks(scale, shape):
    """The scales repeated along each axis to a shape, whose sizes are multiples of those of the scales."""
    split, axes = [], []
    for size, count in zip(shape, scale.shape):
        axes.append(len(split))
        split += [count, size // count]
    return reshape(broadcast_in_dim(scale, split, axes), shape)


def _check_scale(side, operand, scale, contracting):
    for i, (size, count) in enumerate(zip(operand.shape, scale.shape)):
        if i not in contracting:
            if size != count:
                raise TypeError(f"{side} dim {i} of size {size} does not match scale dim size {count}.")
        elif size % count:
            raise TypeError(
                f"{side} contracting dim {i} of size {size} must be divisible by its scale's dim size {count}."
            )
        elif size // count < 2:
            raise TypeError(
                f"The ratio of {side} contracting dim {i} to its scale's dim size ({size // count}) must be at least 2."
            )


def _scaled(side, operand, scale, contracting):
    """The operand times its scales, as bfloat16."""
    operand = as_array(operand)
    if scale is None:
        return convert(operand, _BF16)
    scale = as_array(scale)
    if scale.ndim != operand.ndim:
        raise TypeError(
            f"All input tensors must have the same rank. Got {side.lower()} rank: {operand.ndim} "
            f"{side.lower()}_scale rank: {scale.ndim}."
        )
    _check_scale(side, operand, scale, contracting)
    scales = scale_blocks(convert(scale, _BF16), operand.shape)
    return mul(convert(operand, _BF16), scales)


def scaled_dot(
    lhs: ArrayLike,
    rhs: ArrayLike,
    *,
    lhs_scale: ArrayLike | None = None,
    rhs_scale: ArrayLike | None = None,
    dimension_numbers: Any = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """The product of `lhs * lhs_scale` and `rhs * rhs_scale`, which are rounded to bfloat16.

    Args:
      lhs, rhs: arrays of one rank, of 2 or more.
      lhs_scale, rhs_scale: arrays of that rank with the sizes of the operand, but along contracted axes a divisor of
        the size, at most half of it: each block of elements has one scale.  None means no scale.
      dimension_numbers: as of `dot_general`; without them the last axis of lhs is contracted with the last but one of
        rhs, and the axes before these are batch axes.
      preferred_element_type: dtype of the result; by default bfloat16.

    Returns:
      An array with the axes: batch, free axes of lhs, free axes of rhs.

    Raises:
      TypeError: operands of rank 0 or 1 without dimension numbers, or shapes that do not fit.

    Examples:
      >>> import onax.numpy as jnp
      >>> from onax import lax
      >>> x, scale = jnp.ones((2, 4)), jnp.array([[1.0, 2.0], [3.0, 4.0]])
      >>> print(lax.scaled_dot(x, jnp.ones((4, 1)), lhs_scale=scale))
      [[6]
       [14]]
    """
    lhs, rhs = as_array(lhs), as_array(rhs)
    if dimension_numbers is None:
        n = lhs.ndim
        if n < 2:
            raise TypeError("scaled_dot does not support 0-rank and 1-rank operands.")
        batch = tuple(range(n - 2))
        dimension_numbers = ((n - 1,), (n - 2,)), (batch, batch)
    (of_lhs, of_rhs), _ = dimension_numbers
    dtype = dtypes.check_user_dtype(_BF16 if preferred_element_type is None else preferred_element_type)
    x, y = _scaled("LHS", lhs, lhs_scale, of_lhs), _scaled("RHS", rhs, rhs_scale, of_rhs)
    return dot_general(x, y, dimension_numbers, preferred_element_type=dtype)
