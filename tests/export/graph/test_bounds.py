"""What is known of the elements of values: never less than what they are."""

import numpy as np
import pytest

from onax.export.graph import ops
from onax.export.graph.bounds import (
    fits_32_bits,
    integer_range,
    is_within,
    known_elements,
    known_order,
    largest_magnitude,
)
from onax.export.graph.value import Graph

I32, I64 = np.dtype(np.int32), np.dtype(np.int64)
LOW, HIGH = -(2**31), 2**31 - 1


def value(build, dtype=I32):
    g = Graph()
    return build(g, g.input("x", ((3,), dtype)), g.const([-2, 0, 5], dtype))


RANGES = {  # an expression of an argument x and a constant c = [-2, 0, 5]; its range
    "an argument": (lambda g, x, c: x, (LOW, HIGH)),
    "a constant": (lambda g, x, c: c, (-2, 5)),
    "moved": (lambda g, x, c: ops.reshape(g, ops.expand(g, c, (4, 3)), (3, 4)), (-2, 5)),
    "a sum": (lambda g, x, c: ops.add(g, c, c), (-4, 10)),
    "a difference": (lambda g, x, c: ops.sub(g, c, c), (-7, 7)),
    "a product": (lambda g, x, c: ops.mul(g, c, c), (-10, 25)),
    "a sum that may wrap": (lambda g, x, c: ops.add(g, x, c), (LOW, HIGH)),
    "a smaller one": (lambda g, x, c: ops.minimum(g, x, c), (LOW, 5)),
    "between": (lambda g, x, c: ops.minimum(g, ops.maximum(g, x, g.const(0, I32)), g.const(9, I32)), (0, 9)),
    "a remainder": (lambda g, x, c: g.node("Mod", x, g.const(7, I32)), (-6, 6)),
    "joined": (lambda g, x, c: ops.concat(g, [c, g.const([8], I32)], 0), (-2, 8)),
    "a choice": (lambda g, x, c: ops.where(g, ops.greater(g, x, c), c, g.const(9, I32)), (-2, 9)),
    "a position": (lambda g, x, c: g.node("ArgMax", x, out=((1,), I64), axis=0), (0, 2)),
    "a position in order": (
        lambda g, x, c: g.node("TopK", x, g.const([2], I64), outs=[((2,), I32), ((2,), I64)], axis=0)[1],
        (0, 2),
    ),
    "a bool": (lambda g, x, c: ops.cast(g, ops.greater(g, x, c), np.int32), (0, 1)),
    "of a float": (lambda g, x, c: ops.cast(g, ops.cast(g, c, np.float32), np.int32), (LOW, HIGH)),
}


@pytest.mark.parametrize("name", RANGES)
def test_ranges(name):
    build, wanted = RANGES[name]
    found = value(build)
    assert (
        integer_range(found) == wanted and is_within(found, *wanted) and not is_within(found, wanted[0] + 1, wanted[1])
    )


def test_known_order():
    g = Graph()
    x, low, high = g.input("x", ((3,), I32)), g.const([-2, 0], I32), g.const([3, 5], I32)
    assert [known_order(*pair) for pair in ((low, high), (high, low), (low, low), (x, high))] == [-1, 1, 0, 0]
    assert known_order(g.const(1, I32), g.const(1, I32)) == 1  # none is less


def test_no_elements():
    g = Graph()
    assert integer_range(g.const(np.zeros(0, np.int8))) == (-128, 127)


def test_long_chains_are_given_up():
    def chain(g, x, c):
        for _ in range(20):
            c = ops.mul(g, ops.maximum(g, x, c), g.const(0, I32))
        return c

    low, high = integer_range(value(chain))
    assert low <= 0 <= high


def test_wide_integers_that_fit():
    assert not fits_32_bits(value(lambda g, x, c: c, I64), value(lambda g, x, c: x, I64))
    g = Graph()
    narrow = ops.cast(g, g.input("x", ((3,), I32)), I64)
    assert not fits_32_bits(value(lambda g, x, c: c, I64), value(lambda g, x, c: x, I64))
    g = Graph()
    narrow = ops.cast(g, g.input("x", ((3,), I32)), I64)
    assert fits_32_bits(narrow, g.const([2**31 - 1], I64)) and not fits_32_bits(narrow, g.const([2**31], I64))


def test_known_elements():
    assert known_elements(value(lambda g, x, c: ops.expand(g, c, (4, 3)))).tolist() == [-2, 0, 5]
    assert (
        known_elements(value(lambda g, x, c: x)) is None
        and known_elements(value(lambda g, x, c: ops.add(g, x, c))) is None
    )


def test_largest_magnitudes():
    f32 = np.dtype(np.float32)
    whole = lambda g, x: ops.cast(g, g.node("Sign", ops.cast(g, x, I32)), f32)
    bound = lambda build: largest_magnitude(value(lambda g, x, c: build(g, x, c), f32))
    assert bound(lambda g, x, c: c) == 5 and bound(lambda g, x, c: x) == np.inf
    assert bound(lambda g, x, c: ops.mul(g, whole(g, x), c)) == 5 * 2**31
    assert bound(lambda g, x, c: ops.sub(g, c, ops.where(g, ops.less(g, x, c), c, g.const(-7, f32)))) == 12
    assert bound(lambda g, x, c: ops.concat(g, [c, ops.reshape(g, g.const([9], f32), (1,))], 0)) == 9
    assert bound(lambda g, x, c: ops.add(g, x, c)) == bound(lambda g, x, c: g.const([np.nan], f32)) == np.inf
    assert bound(lambda g, x, c: g.node("Exp", c)) == np.inf


def test_largest_magnitudes_hold():
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = rng.standard_normal((2, 3)).astype(np.float32) * 10
        g = Graph()
        total = ops.sub(g, ops.mul(g, g.const(a), g.const(b)), g.const(a))
        assert largest_magnitude(total) * (1 + 1e-6) >= np.abs(a * b - a).max()
