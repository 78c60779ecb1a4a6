"""Dimension numbers of convolutions.

They give, for each operand and the result, the positions of the batch, feature and spatial axes: (batch, feature,
space...) for lhs and the result, (output feature, input feature, space...) for rhs.
"""

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

from onax._ground.typing import DimSize


class ConvDimensionNumbers(namedtuple("ConvDimensionNumbers", ("lhs_spec", "rhs_spec", "out_spec"))):
    """The positions of batch, feature and spatial axes in the operands and the result of a convolution.

    Args:
      lhs_spec: (batch axis, feature axis, spatial axes...) of the left operand.
      rhs_spec: (output feature axis, input feature axis, spatial axes...) of the kernel.
      out_spec: (batch axis, feature axis, spatial axes...) of the result.

    Examples:
      >>> lax.conv_dimension_numbers((1, 8, 8, 3), (3, 3, 3, 4), ("NHWC", "HWIO", "NHWC")).rhs_spec
      (3, 2, 0, 1)
    """

    __slots__ = ()


_MARKS = (("N", "C"), ("O", "I"), ("N", "C"))


def conv_general_permutations(dimension_numbers: Any) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
    """Returns the orders of axes that three strings mean.

    Args:
      dimension_numbers: three strings such as ("NHWC", "HWIO", "NHWC"); the second one fixes the order of spatial axes.

    Returns:
      Three tuples of axes: batch, features, space of the left operand; output features, input features, space of the
      kernel; batch, features, space of the result.

    Raises:
      TypeError: a letter is missing, repeated, or not in all three strings.

    Examples:
      >>> lax.conv_general_permutations(("NHWC", "HWIO", "NHWC"))
      ((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
    """
    specs = tuple(dimension_numbers) if isinstance(dimension_numbers, (tuple, list)) else ()
    if len(specs) != 3 or not all(isinstance(spec, str) for spec in specs):
        raise TypeError(f"conv_general_permutations takes three strings, got {dimension_numbers!r}")
    for i, marks in enumerate(_MARKS):
        spec = dimension_numbers[i]
        if any(spec.count(m) != 1 for m in marks):
            raise TypeError(
                f"convolution dimension_numbers[{i}] must contain the characters '{marks[0]}' and '{marks[1]}' exactly "
                f"once, got {spec}."
            )
        if len(set(spec)) != len(spec):
            raise TypeError(f"convolution dimension_numbers[{i}] cannot have duplicate characters, got {spec}.")
    spatial = [set(spec) - set(marks) for spec, marks in zip(dimension_numbers, _MARKS)]
    if spatial[0] != spatial[1] or spatial[1] != spatial[2]:
        raise TypeError(
            "convolution dimension_numbers elements must each have the same set of spatial characters, got "
            f"{dimension_numbers}."
        )
    order = [c for c in dimension_numbers[1] if c not in "OI"]
    return tuple(tuple(map(spec.index, (*marks, *order))) for spec, marks in zip(dimension_numbers, _MARKS))


def conv_dimension_numbers(
    lhs_shape: Sequence[DimSize], rhs_shape: Sequence[DimSize], dimension_numbers: Any
) -> ConvDimensionNumbers:
    """Returns the positions of axes that strings name, as the parameter `dimension_numbers` of convolutions.

    Args:
      lhs_shape: the shape of the left operand.
      rhs_shape: the shape of the kernel, of the same rank.
      dimension_numbers: three strings such as ("NHWC", "HWIO", "NHWC"), with N for the batch, C for features, O and I
        for output and input features of the kernel, and a letter for each spatial axis; None means batch, features,
        space in this order; a ConvDimensionNumbers is returned as it is.

    Returns:
      ConvDimensionNumbers.

    Raises:
      TypeError: ranks differ, or the strings do not fit.

    Examples:
      >>> lax.conv_dimension_numbers((1, 8, 3), (3, 3, 4), ("NHC", "HIO", "NHC"))
      ConvDimensionNumbers(lhs_spec=(0, 2, 1), rhs_spec=(2, 1, 0), out_spec=(0, 2, 1))
    """
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    if len(lhs_shape) != len(rhs_shape):
        raise TypeError(
            f"convolution requires lhs and rhs ndim to be equal, got {len(lhs_shape)} and {len(rhs_shape)}."
        )
    if dimension_numbers is None:
        axes = tuple(range(len(lhs_shape)))
        return ConvDimensionNumbers(axes, axes, axes)
    if not isinstance(dimension_numbers, (list, tuple)):
        raise TypeError(f"convolution dimension_numbers must be tuple/list or None, got {type(dimension_numbers)}.")
    if len(dimension_numbers) != 3:
        raise TypeError(f"convolution dimension_numbers list/tuple must be length 3, got {len(dimension_numbers)}.")
    if not all(isinstance(spec, str) for spec in dimension_numbers):
        kinds = tuple(map(type, dimension_numbers))
        raise TypeError(f"convolution dimension_numbers elements must be strings, got {kinds}.")
    for i, spec in enumerate(dimension_numbers):
        if len(spec) != len(lhs_shape):
            raise TypeError(
                f"convolution dimension_numbers[{i}] must have len equal to the ndim of lhs and rhs, got {len(spec)} "
                f"for lhs and rhs shapes {lhs_shape} and {rhs_shape}."
            )
    return ConvDimensionNumbers(*conv_general_permutations(dimension_numbers))


def permute_shape(shape, spec):
    """A shape with its sizes in the order of a list of axes."""
    return tuple(shape[i] for i in spec)
