"""Loops and sums of special functions: as many steps as each element needs."""

import numpy as np
import pytest

from graph_runner import run
from lowering_runner import operators, run_lowering
from onax._prims import special as prims
from onax.export.graph.formula import Formula
from onax.export.lower.special_loops import constant, integrate, iterate


def test_loops_are_bounded_and_end_at_once_on_nothing():
    for name, operands in (("igamma", (2.0, 3.0)), ("regularized_incomplete_beta", (1.0, 2.0, 0.3))):
        p = getattr(prims, f"{name}_p")
        assert "Loop" in operators(p, [np.float32(x) for x in operands], {})
        empty = [np.zeros((0, 2), np.float32) for _ in operands]
        assert run_lowering(p, empty, {})[0].shape == (0, 2)


def test_each_element_takes_its_own_steps():
    """Halves until below 1: the number of steps is that of the element, whatever the others need."""
    x = np.array([0.5, 3.0, 1000.0, 7.0])

    def build(g, v):
        start = Formula(g, v)
        step = lambda k, state, known: (state[0] * 0.5 >= 1, [state[0] * 0.5, state[1] + known[0]])
        value, count = iterate(step, [start, constant(start, 0)], [constant(start, 1)], 100, start >= 1)
        return value.value, count.value

    value, count = run(build, x)
    np.testing.assert_array_equal(count, [0, 2, 10, 3])
    np.testing.assert_array_equal(value, x / 2**count)


def test_steps_are_limited_and_numbered_from_one():
    def build(g, v):
        x = Formula(g, v)
        return iterate(lambda k, state, known: (state[0] == state[0], [state[0] + k]), [x], [], 4)[0].value

    np.testing.assert_array_equal(run(build, np.zeros(2)), [1 + 2 + 3 + 4] * 2)


def test_several_steps_at_once_end_together():
    x = np.array([0.5, 3.0, 1000.0, 7.0])

    def build(g, v):
        start = Formula(g, v)
        step = lambda k, state, known: (state[0] * 0.5 >= 1, [state[0] * 0.5, k])
        value, last = iterate(step, [start, constant(start, 0)], [], 100, start >= 1, at_once=4)
        return value.value, last.value

    value, last = run(build, x)
    np.testing.assert_array_equal(last, [0, 4, 12, 4])
    np.testing.assert_array_equal(value, x / 2**last)


@pytest.mark.parametrize("copies", [1, 5000])
def test_integrals(copies):
    def build(g, v):
        p = Formula(g, v)
        powers = integrate(lambda node, known: [known[0].do("Exp") * node.pow(3), known[0] * node], [p], 2)
        return tuple(f.value for f in powers)

    x = np.array([0.0, 1.0] * copies)  # many elements are computed in a Loop
    cubes, lines = run(build, x)
    np.testing.assert_allclose(cubes, np.exp(x) / 4, rtol=1e-14)
    np.testing.assert_allclose(lines, x / 2, rtol=1e-14, atol=1e-16)
