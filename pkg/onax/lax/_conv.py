"""conv_general_dilated_local: a convolution whose filter differs from position to position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onax._core.trace import as_array
from onax._ground.typing import ArrayLike, PrecisionLike
from onax._native.array import Array
from onax._prims.conv import conv_general_dilated_patches
from onax._prims.conv_dimensions import conv_dimension_numbers
from onax._prims.dot import canonical_precision, dot_general
from onax._prims.shaping import transpose


def conv_general_dilated_local(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    filter_shape: Sequence[int],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    precision: PrecisionLike = None,
) -> Array:
    """A convolution with a filter of its own at each position of the result (a locally connected layer).

    Args:
      lhs: floating array of rank n + 2: batch, features and n spatial axes, in the order of the first of
        `dimension_numbers`.
      rhs: array of rank n + 2 in the order of the second: output features, input features times window positions (the
        windows' axes in the order of that specification, features slowest), and the spatial axes of the result.
      window_strides: n integers.
      padding: "SAME", "VALID" or n pairs (low, high).
      filter_shape: n integers, the window's shape.
      lhs_dilation, rhs_dilation: None or n integers.
      dimension_numbers: None, ConvDimensionNumbers or three strings, as of `conv_general_dilated`.
      precision: None, a Precision or a pair of them.

    Returns:
      An array of rank n + 2 in the order of the third of `dimension_numbers`.

    Raises:
      ValueError: a precision of another kind.
      TypeError: shapes that do not fit.

    Examples:
      >>> import onax.numpy as jnp
      >>> from onax import lax
      >>> x, w = jnp.arange(4.0).reshape(1, 1, 4), jnp.ones((1, 2, 3)) * jnp.arange(3.0)
      >>> print(lax.conv_general_dilated_local(x, w, (1,), "VALID", (2,)))
      [[[ 0.  3. 10.]]]
    """
    lhs = as_array(lhs)
    pair = canonical_precision(precision)
    if pair is not None and not isinstance(pair, tuple):
        raise ValueError(f"Unsupported precision for conv_general_dilated_local: {precision}")
    patches = conv_general_dilated_patches(
        lhs,
        filter_shape,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        dimension_numbers,
        precision=None if pair is None else pair[0],
    )
    numbers = conv_dimension_numbers(lhs.shape, (1, 1, *filter_shape), dimension_numbers)
    return _product_at_positions(patches, rhs, numbers, precision)


def _product_at_positions(patches, rhs, numbers, precision):
    """The products of patches and filters at each position, in the order of the result."""
    _, of_rhs, of_out = numbers
    spatial = sorted(zip(of_out[2:], of_rhs[2:]))  # matching axes of patches and filters, in the order of the result
    contracted, batch = ([of_out[1]], [of_rhs[1]]), ([a for a, _ in spatial], [b for _, b in spatial])
    out = dot_general(patches, rhs, (contracted, batch), precision=precision)  # spatial axes, batch, features
    rank = len(of_out)
    order = list(range(rank - 2))
    for position, axis in sorted([(of_out[0], rank - 2), (of_out[1], rank - 1)]):
        order.insert(position, axis)
    return transpose(out, order)
