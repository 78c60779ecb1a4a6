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


def _check(lhs, rhs, lhs_scale, rhs_scale, dimension_numbers):
    """Raises TypeError for shapes that do not fit."""
    (of_lhs, of_rhs), (lhs_batch, rhs_batch) = dimension_numbers
    ranks = [x.ndim if scale is None else scale.ndim for x, scale in ((lhs, lhs_scale), (rhs, rhs_scale))]
    if {lhs.ndim, rhs.ndim, *ranks} != {lhs.ndim}:
        raise TypeError(
            f"All input tensors must have the same rank. Got lhs rank: {lhs.ndim} rhs rank: {rhs.ndim} "
            f"lhs_scale rank: {ranks[0]} rhs_scale rank: {ranks[1]}."
        )
    for what, of_left, of_right in (("batch", lhs_batch, rhs_batch), ("contracting", of_lhs, of_rhs)):
        if len(of_left) != len(of_right):
            raise TypeError(
                f"LHS and RHS must have the same number of {what} dimensions, got {len(of_left)} and {len(of_right)}."
            )
    for i, j in zip(lhs_batch, rhs_batch):
        sizes = [x.shape[k] for x, k in ((lhs, i), (lhs_scale, i), (rhs, j), (rhs_scale, j)) if x is not None]
        if any(size != sizes[0] for size in sizes):
            raise TypeError(f"All input tensors must have the same batch dimension size for batch dims ({i}, {j}).")
    for i, j in zip(of_lhs, of_rhs):
        if lhs.shape[i] != rhs.shape[j]:
            raise TypeError(
                f"LHS contracting dim {i} of size {lhs.shape[i]} does not match RHS contracting dim {j} of size "
                f"{rhs.shape[j]}."
            )
    for side, operand, scale, contracting in (("LHS", lhs, lhs_scale, of_lhs), ("RHS", rhs, rhs_scale, of_rhs)):
        if scale is not None:
            _check_scale(side, operand, scale, contracting)


def _scaled(operand, scale):
    """The operand times its scales, as bfloat16."""
    if scale is None:
        return convert(operand, _BF16)
    return mul(convert(operand, _BF16), scale_blocks(convert(scale, _BF16), operand.shape))


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
    dtype = dtypes.check_user_dtype(_BF16 if preferred_element_type is None else preferred_element_type)
    lhs_scale, rhs_scale = (None if scale is None else as_array(scale) for scale in (lhs_scale, rhs_scale))
    _check(lhs, rhs, lhs_scale, rhs_scale, dimension_numbers)
    return dot_general(
        _scaled(lhs, lhs_scale), _scaled(rhs, rhs_scale), dimension_numbers, preferred_element_type=dtype
    )
