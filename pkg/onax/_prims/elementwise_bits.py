"""Elementwise operations on the bits of integers, and the logical operations, which are those on bits of bool."""

import numpy as np

from onax._prims import elementwise_kernels as kernels
from onax._prims.elementwise_kernels import by_kind
from onax._prims.elementwise_rows import binary, unary

bitwise_not, not_p = unary(
    "not", by_kind(integer=np.invert, bool=np.invert), public="bitwise_not",
    doc="Returns x with every bit changed. | 5 -> -6",
)  # fmt: skip
population_count, population_count_p = unary(
    "population_count", kernels.bit_count(kernels.population_count),
    doc="Returns the number of bits set in x. | 7 -> 3",
)  # fmt: skip
clz, clz_p = unary(
    "clz", kernels.bit_count(kernels.leading_zeros),
    doc="Returns the number of zero bits before the first bit set in x. | 1 -> 31",
)  # fmt: skip
bitwise_and, and_p = binary(
    "and", by_kind(integer=np.bitwise_and, bool=np.bitwise_and), public="bitwise_and",
    doc="Returns the bits set in both x and y. | 6, 3 -> 2",
)  # fmt: skip
bitwise_or, or_p = binary(
    "or", by_kind(integer=np.bitwise_or, bool=np.bitwise_or), public="bitwise_or",
    doc="Returns the bits set in x or y. | 6, 3 -> 7",
)  # fmt: skip
bitwise_xor, xor_p = binary(
    "xor", by_kind(integer=np.bitwise_xor, bool=np.bitwise_xor), public="bitwise_xor",
    doc="Returns the bits set in one of x and y. | 6, 3 -> 5",
)  # fmt: skip
shift_left, shift_left_p = binary(
    "shift_left", kernels.shift(np.left_shift, np.left_shift), numpy_name="left_shift",
    doc="Returns x with its bits moved left by y; 0 when y is not a valid shift. | 1, 3 -> 8",
)  # fmt: skip
shift_right_logical, shift_right_logical_p = binary(
    "shift_right_logical", kernels.shift(kernels.shift_right_logical, np.right_shift), numpy_name="right_shift",
    doc="Returns x with its bits moved right by y, zeros coming in; 0 when y is no valid shift. | 8, 2 -> 2",
)  # fmt: skip
shift_right_arithmetic, shift_right_arithmetic_p = binary(
    "shift_right_arithmetic", kernels.shift(np.right_shift, kernels.shift_right_arithmetic_unsigned),
    numpy_name="right_shift",
    doc="Returns x with its bits moved right by y, copies of the first bit coming in. | -8, 2 -> -2",
)  # fmt: skip
