"""Padding: values, random configurations against the definition, derivatives."""

import numpy as np
import pytest

import onax
from onax import lax

V = np.arange(6, dtype=np.float32)


def same(got, want):
    got = np.asarray(got)
    assert got.dtype == np.float32 and got.shape == np.shape(want)
    np.testing.assert_array_equal(got, want)


#     name, result, what it is
VALUES = (
    ("pad", lambda: lax.pad(V[:3], np.float32(9), [(1, 2, 1)]), [9, 0, 9, 1, 9, 2, 9, 9]),
    ("crop", lambda: lax.pad(V, np.float32(9), [(-2, -1, 0)]), [2, 3, 4]),
    ("crop holes", lambda: lax.pad(V[:3], np.float32(9), [(-1, -1, 2)]), [9, 9, 1, 9, 9]),
    ("crop all", lambda: lax.pad(V[:2], np.float32(9), [(3, -4, 0)]), [9]),
)


@pytest.mark.parametrize("call, want", [row[1:] for row in VALUES], ids=[row[0] for row in VALUES])
def test_values(call, want):
    same(call(), np.asarray(want, np.float32))


def test_pad_against_definition():
    """Random configurations, element by element."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        n, low, high, gap = rng.integers(0, 5), *rng.integers(-4, 5, 2), rng.integers(0, 3)
        x = np.arange(1, n + 1, dtype=np.float32)
        full = np.zeros(max(0, n + gap * (n - 1)) if n else 0, np.float32)
        full[:: gap + 1] = x
        size = len(full) + low + high
        if size < 0:
            continue
        want = np.zeros(size, np.float32)
        for i, value in enumerate(full):
            if 0 <= i + low < size:
                want[i + low] = value
        same(lax.pad(x, np.float32(0), [(low, high, gap)]), want)


def test_derivatives():
    """The cotangent of the operand is a slice with steps, that of the value the sum over the padding."""
    weights = np.arange(1, 9, dtype=np.float32)
    loss = lambda x, value: (lax.pad(x, value, [(1, 2, 1)]) * weights).sum()
    of_x, of_value = onax.grad(loss, (0, 1))(V[:3], np.float32(9))
    same(of_x, [2, 4, 6])
    assert float(of_value) == 1 + 3 + 5 + 7 + 8
    same(onax.grad(lambda x: (x[1:6:2] ** 2).sum())(V), [0, 2, 0, 6, 0, 10])
