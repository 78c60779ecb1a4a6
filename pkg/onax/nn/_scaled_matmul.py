"""scaled_matmul: products of quantized matrices, blocks of which have a scale."""

from __future__ import annotations

import numpy as np

from onax import lax
from onax._ground import dtypes
from onax._ground.typing import ArrayLike, DTypeLike
from onax._native.array import Array
from onax.lax._scaled_dot import scale_blocks
from onax.numpy._promotion import ensure_arraylikes


def scaled_matmul(
    lhs: ArrayLike,
    rhs: ArrayLike,
    lhs_scales: ArrayLike,
    rhs_scales: ArrayLike,
    preferred_element_type: DTypeLike = np.float32,
) -> Array:
    """The products of rows of `lhs * lhs_scales` and rows of `rhs * rhs_scales`, computed in float32.

    JAX has this function on GPUs only.

    Args:
      lhs: array of shape (b, m, k).
      rhs: array of shape (b, n, k).
      lhs_scales: array of shape (b, m, j); j divides k, and each k / j elements of a row have one scale.
      rhs_scales: array of shape (b, n, j).
      preferred_element_type: dtype of the result.

    Returns:
      An array of shape (b, m, n).

    Raises:
      ValueError: shapes that do not fit.

    Examples:
      >>> import onax.numpy as jnp
      >>> from onax import nn
      >>> a, b = jnp.array([1.0, 2.0, 3.0, 4.0]).reshape(1, 1, 4), jnp.ones((1, 1, 4))
      >>> print(nn.scaled_matmul(a, b, jnp.array([[[0.5, 2.0]]]), jnp.ones((1, 1, 2))))
      [[[15.5]]]
    """
    a, b, a_scales, b_scales = ensure_arraylikes("scaled_matmul", lhs, rhs, lhs_scales, rhs_scales)
    _check_shapes(a, b, a_scales, b_scales)
    dtype = dtypes.check_user_dtype(preferred_element_type)
    wide = [lax.convert_element_type(x, np.float32) for x in (a, b, a_scales, b_scales)]
    x = lax.mul(wide[0], scale_blocks(wide[2], a.shape))
    y = lax.mul(wide[1], scale_blocks(wide[3], b.shape))
    out = lax.dot_general(x, y, (((2,), (2,)), ((0,), (0,))), preferred_element_type=np.float32)
    return lax.convert_element_type(out, dtype)


def _check_shapes(a, b, a_scales, b_scales):
    if not all(x.ndim == 3 for x in (a, b, a_scales, b_scales)):
        raise ValueError("scaled_matmul requires all inputs to be 3-dimensional arrays")
    for what, x, y in (("inputs a and b", a, b), ("scales", a_scales, b_scales)):
        if (x.shape[0], x.shape[2]) != (y.shape[0], y.shape[2]):
            raise ValueError(
                f"scaled_matmul requires {what} to have matching batch (B) and contract (K) dimensions, but got shapes "
                f"{x.shape} and {y.shape}"
            )
    if a_scales.shape[:2] != a.shape[:2] or b_scales.shape[:2] != b.shape[:2]:
        raise ValueError(
            "scaled_matmul requires scales to match non-contract dimensions of inputs, but got shapes a: "
            f"{a.shape}, b: {b.shape}, a_scales: {a_scales.shape}, b_scales: {b_scales.shape}"
        )
    if a.shape[2] % a_scales.shape[2]:
        raise ValueError(
            f"scaled_matmul requires the scales' last dimension {a_scales.shape[2]} to divide that of the inputs, "
            f"{a.shape[2]}"
        )
