"""Shapes of windows: their number, padding types, the padding of adjoints.

windows.py and conv.py share these functions, all of which accept symbolic dimensions.
"""

from collections.abc import Sequence
from typing import Any

from onax._ground import dims
from onax._ground.typing import DimSize, Shape

_PADDING_TYPES = ("VALID", "SAME", "SAME_LOWER")


def dilated_shape(shape, dilation):
    """The sizes after inserting dilation - 1 holes between neighbours; leading sizes without a dilation stay."""
    if not all(d > 0 for d in dilation):
        raise TypeError(f"All dilations must be positive, got {dilation}.")
    dilation = (1,) * (len(shape) - len(dilation)) + tuple(dilation)
    return tuple(map(dims.dilate_dim, shape, dilation))


def padtype_to_pads(
    in_shape: Sequence[int], window_shape: Sequence[int], window_strides: Sequence[int], padding: Any
) -> list[tuple[int, int]]:
    """Returns the padding of each axis that a name means.

    Args:
      in_shape: ints, the lengths of the operand.
      window_shape: ints, the lengths of a window.
      window_strides: ints.
      padding: "VALID", "SAME" (ceil(size / stride) windows; an odd amount is larger behind) or "SAME_LOWER" (larger in
        front), in any case of letters.

    Returns:
      List of pairs (low, high).

    Raises:
      RuntimeError: the name is unknown.
      TypeError: `padding` is no string.
      ValueError: numbers of axes differ, and are not 1.

    Examples:
      >>> lax.padtype_to_pads((5,), (2,), (1,), "SAME")
      [(0, 1)]
    """
    if not isinstance(padding, str):
        raise TypeError(f"Unknown padding type: {padding}.")
    kind = padding.upper()
    if kind not in _PADDING_TYPES:
        raise RuntimeError(f"Unrecognized padding type: expected 'VALID', 'SAME', or 'SAME_LOWER', got {padding}.")
    if kind == "VALID":
        return [(0, 0)] * len(in_shape)
    rank = max(len(in_shape), len(window_shape), len(window_strides))
    for other in (window_strides, window_shape):
        if {len(in_shape), len(other)} - {1, rank}:
            raise ValueError(f"operands could not be broadcast together with shapes ({len(in_shape)},) ({len(other)},)")
    in_shape, window_shape, window_strides = (
        [*v] * rank if len(v) == 1 else v for v in (in_shape, window_shape, window_strides)
    )  # a caller with a single stride gets the message of its own type rule
    pads = []
    for size, window, stride in zip(in_shape, window_shape, window_strides, strict=True):
        size, window, stride = dims.as_dim(size), dims.as_dim(window), dims.as_dim(stride)
        total = dims.non_negative((dims.ceil_div(size, stride) - 1) * stride + window - size)
        less = dims.floor_div(total, 2)
        pads.append((less, total - less) if kind == "SAME" else (total - less, less))
    return pads


def adjoint_padding(in_shape, window, strides, out_shape, padding, base_dilation, window_dilation):
    """The padding with which windows over the result, dilated by the strides, cover every input element."""
    pads = []
    for n, w, stride, m, (low, _), base, gap in zip(
        in_shape, window, strides, out_shape, padding, base_dilation, window_dilation, strict=True
    ):
        width = dims.dilate_dim(w, gap)
        before = width - low - 1
        after = dims.dilate_dim(n, base) + width - 1 - dims.dilate_dim(m, stride) - before
        pads.append((before, after))
    return pads


def windows_shape(shape, window, strides, padding, base_dilation, window_dilation):
    """The number of windows along each axis."""
    shape, window = dilated_shape(shape, base_dilation), dilated_shape(window, window_dilation)
    padded = [d + low + high for d, (low, high) in zip(shape, padding, strict=True)]
    return tuple(map(dims.stride_dim, padded, window, strides))


def reduce_window_shape_tuple(
    operand_shape: Sequence[DimSize],
    window_dimensions: Sequence[DimSize],
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> Shape:
    """Returns the shape of a reduction over windows.

    Args:
      operand_shape: ints.
      window_dimensions: ints.
      window_strides: ints.
      padding: pairs (low, high), one for each axis.
      base_dilation: ints, the dilation of the operand; default: 1.
      window_dilation: ints, the dilation of windows; default: 1.

    Returns:
      Tuple of ints.

    Examples:
      >>> lax.reduce_window_shape_tuple((5,), (2,), (1,), [(0, 0)])
      (4,)
    """
    ones = (1,) * len(window_dimensions)
    return windows_shape(
        operand_shape, window_dimensions, window_strides, padding, base_dilation or ones, window_dilation or ones
    )


def combine_windows(x, size, count, window, stride, dilation, take, combine):
    """Reduces windows along one axis by `combine`; the result has `count` elements there, x has `size`.

    take(x, start, limit, stride) slices x along the axis.  Wide windows are combined from windows of 1, 2, 4, ...
    elements, so that the number of steps grows with the logarithm of their width.
    """

    def part(y, k):
        return take(y, k * dilation, k * dilation + (count - 1) * stride + 1, stride)

    if window <= NARROW:
        out = part(x, 0)
        for k in range(1, window):
            out = combine(out, part(x, k))
        return out
    out, done, width = None, 0, 1
    while True:
        if window & width:
            piece = part(x, done)
            out = piece if out is None else combine(out, piece)
            done += width
        if done == window:
            return out
        reach = width * dilation
        x, size = combine(take(x, 0, size - reach, 1), take(x, reach, size, 1)), size - reach
        width *= 2


NARROW = 8  # windows up to this width are combined one element after another


def window_offsets(window):
    """All positions inside a window, in row-major order."""
    positions = [()]
    for w in window:
        positions = [(*p, k) for p in positions for k in range(w)]
    return positions


def slice_bounds(position, dilation, count, strides):
    """(starts, limits) of the slice that holds the elements at one position of every window, in the padded operand."""
    starts = tuple(p * d for p, d in zip(position, dilation))
    limits = tuple(s + (n - 1) * stride + 1 for s, n, stride in zip(starts, count, strides))
    return starts, limits
