"""Clamp at the edges.  Expected values and words: JAX 0.10.2 on the CPU."""

import numpy as np
import pytest

import onax
from onax import lax
from tolerance import assert_same_bits

INF, NAN = np.inf, np.nan
ONE = np.ones((2, 3), np.float32)
f32 = lambda *values: np.array(values, np.float32)


#     function, operands, expected values
VALUES = (
    (lax.clamp, (f32(NAN, 0, 2, 0), f32(1, NAN, 1, 5), f32(2, 1, 0, NAN)), [NAN, NAN, 0, NAN]),
    (lax.clamp, (np.int32([3]), np.int32([2]), np.int32([1])), [1]),
)  # fmt: skip


@pytest.mark.parametrize("function, operands, want", VALUES)
def test_values(function, operands, want):
    got = np.asarray(function(*operands))
    assert_same_bits(got, np.array(want).astype(got.dtype))


#     call, words
ERRORS = (
    (lambda: lax.clamp(ONE, ONE, ONE[:1]), "clamp requires max.shape == operand.shape or max.shape == (), got "
     "max.shape=(1, 3), operand.shape=(2, 3)."),
    (lambda: lax.clamp(0, ONE, 1), "lax.clamp requires arguments to have the same dtypes, got int32, float32, int32."),
)  # fmt: skip


@pytest.mark.parametrize("call, words", ERRORS)
def test_errors(call, words):
    with pytest.raises(TypeError) as caught:
        call()
    assert words in str(caught.value)


def test_derivatives_of_what_is_limited():
    """The operand has the derivative inside the limits, a limit where it is the result; ties belong to none."""
    grads = [onax.grad(lax.clamp, (0, 1, 2))(0.0, x, 2.0) for x in (-1.0, 1.0, 3.0, 0.0)]
    assert [[float(g) for g in row] for row in grads] == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]


def test_mapped_limits():
    found = onax.vmap(lax.clamp, (0, None, 0))(f32(0, 1), f32(-1, 5), f32(2, 3))
    assert_same_bits(np.asarray(found), np.array([[0, 2], [1, 3]], np.float32))
