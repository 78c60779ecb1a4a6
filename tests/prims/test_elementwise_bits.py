"""Operations on bits.  Expected values and words: JAX 0.10.2 on the CPU."""

import numpy as np
import pytest

from onax import lax
from tolerance import assert_same_bits

#     function, operands, expected values
VALUES = (
    (lax.bitwise_not, (np.int8([5, -128]),), [-6, 127]),
    (lax.bitwise_not, (np.array([True, False]),), [False, True]),
    (lax.bitwise_and, (np.uint8([6, 255]), np.uint8([3, 170])), [2, 170]),
    (lax.bitwise_or, (np.array([True, False]), np.array([False, False])), [True, False]),
    (lax.bitwise_xor, (np.int32([6, -1]), np.int32([3, 1])), [5, -2]),
    (lax.population_count, (np.int8([7, -1, 0]),), [3, 8, 0]),
    (lax.clz, (np.uint16([1, 0, 65535]),), [15, 16, 0]),
    (lax.shift_left, (np.int32([1, 1, 1]), np.int32([3, 32, -1])), [8, 0, 0]),
    (lax.shift_right_logical, (np.int8([-8, 8, 8]), np.int8([1, 2, 9])), [124, 2, 0]),
    (lax.shift_right_arithmetic, (np.int8([-8, 8, -8]), np.int8([2, 2, 9])), [-2, 2, -1]),
)  # fmt: skip


@pytest.mark.parametrize("function, operands, want", VALUES)
def test_values(function, operands, want):
    got = np.asarray(function(*operands))
    assert_same_bits(got, np.array(want).astype(got.dtype))


#     call, words
ERRORS = (
    (lambda: lax.bitwise_and(np.int32(1), np.int8(1)),
     "lax.and requires arguments to have the same dtypes, got int32, int8."),
)  # fmt: skip


@pytest.mark.parametrize("call, words", ERRORS)
def test_errors(call, words):
    with pytest.raises(TypeError) as caught:
        call()
    assert words in str(caught.value)
