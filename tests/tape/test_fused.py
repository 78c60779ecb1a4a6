"""Programs over blocks as instructions."""

import numpy as np
import pytest

import onax.numpy as jnp
from tape.harness import check, tape_of

X = np.linspace(-2, 2, 24, dtype=np.float32).reshape(4, 6)


def test_a_region_is_one_instruction():
    tape, _, jaxpr = tape_of(lambda x: jnp.tanh(x * 2 + 1) / (1 + x * x), X)
    assert not tape.kernels and len(jaxpr.eqns) > 3
    check(lambda x: jnp.tanh(x * 2 + 1) / (1 + x * x), X, rtol=1e-6)


def test_a_single_equation():
    check(lambda x: -x, X)
    check(lambda x: x * x, X)


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "complex64", "complex128"])
@pytest.mark.parametrize(
    "a, b",
    [((64, 1, 3), (50, 3)), ((7, 1), (1, 2)), ((90, 1, 5), (4, 5)), ((5, 1, 1, 40), (3, 17, 1)), ((2, 600), (3, 1, 1))],
)
def test_operands_that_repeat(a, b, dtype):
    """Rows of a few elements, rows and whole blocks that occur again, blocks that begin within a row."""
    x, y = (np.arange(np.prod(shape)).reshape(shape).astype(dtype) for shape in (a, b))
    check(lambda x, y: (x + y) * y - x, x, y)


@pytest.mark.parametrize("length", [1, 2, 3, 5, 15, 16, 33])
def test_sums_of_short_rows(length):
    x = np.linspace(-3, 5, 700 * length, dtype=np.float32).reshape(700, length)
    x[3, 0], x[5, -1] = np.nan, np.inf
    check(lambda x: (x * 2).max(1), x)
    check(lambda x: (x * 2).sum(1), x, rtol=1e-5, atol=1e-5)
    check(lambda x: (x[:20] > 1).all(1), x)
