"""Dimension numbers of convolutions.  Expected words: JAX 0.10.2."""

import pytest

from onax import lax

SHAPES = (1, 8, 9, 3), (3, 4, 3, 5)


def test_strings_and_positions():
    numbers = lax.conv_dimension_numbers(*SHAPES, ("NHWC", "HWIO", "NHWC"))
    assert numbers == lax.ConvDimensionNumbers((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
    assert lax.conv_dimension_numbers(*SHAPES, numbers) is numbers
    assert lax.conv_dimension_numbers(*SHAPES, None) == lax.ConvDimensionNumbers(*[(0, 1, 2, 3)] * 3)


def test_the_kernel_fixes_the_order_of_space():
    assert lax.conv_general_permutations(("NHWC", "WHIO", "NCHW")) == ((0, 3, 2, 1), (3, 2, 0, 1), (0, 1, 3, 2))


@pytest.mark.parametrize(
    "numbers",
    [("NHWC", "HWIO", "NHCC"), ("NHWC", "HWIO", "NHXC"), ("NHW", "HWIO", "NHWC"), ("XHWC", "HWIO", "NHWC"), "NHWC"],
    ids=str,
)
def test_strings_that_do_not_fit(numbers):
    with pytest.raises((TypeError, ValueError)):
        lax.conv_dimension_numbers(*SHAPES, numbers)


def test_ranks_that_differ():
    with pytest.raises(TypeError):
        lax.conv_dimension_numbers((1, 8, 3), (3, 4, 3, 5), None)
