"""Powers at the edges.  Expected values and words: JAX 0.10.2 on the CPU."""

import numpy as np
import pytest

import onax
from onax import lax
from tolerance import assert_same_bits

INF, NAN = np.inf, np.nan
f32 = lambda *values: np.array(values, np.float32)


#     function, operands, expected values
VALUES = (
    (lax.pow, (f32(0, 0, -1, -1, INF, NAN, 2, -2), f32(0, -1, INF, 0.5, 0, 0, NAN, 3)),
     [1, INF, 1, NAN, 1, 1, NAN, -8]),
    (lax.pow, (f32(0, 2, -2, 2, -2, 0), np.int32([0, -1, 3, 200, -200, -3])), [1, 0.5, -8, INF, 0, INF]),
    (lax.pow, (f32(2, 3), np.uint8([255, 7])), [INF, 2187]),
)  # fmt: skip


@pytest.mark.parametrize("function, operands, want", VALUES)
def test_values(function, operands, want):
    got = np.asarray(function(*operands))
    assert_same_bits(got, np.array(want).astype(got.dtype))


#     call, words
ERRORS = (
    (lambda: lax.pow(1, 1), "pow does not accept dtype int32 at position 0. Accepted dtypes at position 0 are subtypes "
     "of floating, complexfloating."),
    (lambda: lax.pow(1.0, True), "pow does not accept dtype bool at position 1."),
)  # fmt: skip


@pytest.mark.parametrize("call, words", ERRORS)
def test_errors(call, words):
    with pytest.raises(TypeError) as caught:
        call()
    assert words in str(caught.value)


def test_derivatives_at_zero():
    """The exponent 0 has derivative 0, and so has the power of 0 by its exponent."""
    at = lambda x, y: [float(g) for g in onax.grad(lax.pow, (0, 1))(x, y)]
    assert at(0.0, 2.0) == [0, 0] and at(2.0, 3.0) == [12, pytest.approx(8 * np.log(2))]
    assert float(onax.grad(lambda x: lax.pow(x, np.int32(0)))(0.0)) == 0


def test_derivatives_by_one_operand_of_two_python_numbers():
    assert float(onax.grad(lax.pow)(3.0, 2.0)) == 6 and float(onax.grad(lax.pow)(3.0, 2)) == 6
    assert float(onax.grad(lax.pow, 1)(2.0, 3.0)) == pytest.approx(8 * np.log(2))
    assert float(onax.grad(onax.grad(lax.pow))(3.0, 2.0)) == 2
