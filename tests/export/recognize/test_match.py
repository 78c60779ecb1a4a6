"""How rules look at values."""

import ml_dtypes
import numpy as np
import pytest

from onax.export.graph import ops
from onax.export.graph.value import Graph
from onax.export.recognize import match

F32 = np.dtype(np.float32)


@pytest.fixture
def g():
    return Graph()


@pytest.fixture
def x(g):
    return g.input("x", ((2, 3), F32))


@pytest.mark.parametrize("array, wanted", [
    (2.0, 2.0), ([2, 2, 2], 2.0), ([2, 3], None), (np.zeros((0, 2)), None), (np.nan, None),
])  # fmt: skip
def test_number(g, array, wanted):
    found = match.number(g.const(array, F32))
    assert found == wanted or (found is not None and np.isnan(found) and np.isnan(array).all())


def test_numbers_behind_expand(g, x):
    assert match.number(ops.expand(g, g.const(2, F32), (4, 3))) == 2
    assert match.number(x) is None
    assert match.is_number(g.const(np.sqrt(0.5), F32), np.sqrt(0.5))
    assert match.is_number(g.const(-np.inf, F32), -np.inf)
    assert not match.is_number(g.const(0.7, F32), np.sqrt(0.5))
    assert not match.is_number(g.const(np.nan, F32), 0.0)


def test_linear(g, x):
    two, four = g.const(2, F32), g.const(4, F32)
    value = ops.div(g, ops.mul(g, four, g.node("Neg", x)), two)
    assert match.linear(value, x) == -2
    assert match.linear(x, x) == 1
    assert match.linear(g.node("Exp", x), x) is None
    assert match.linear(ops.div(g, two, x), x) is None
    assert match.linear(ops.mul(g, x, x), x) is None
    assert match.is_multiple(value, x, -2) and not match.is_multiple(value, x, 2)


def test_products_of_three(g, x):
    y, half = g.node("Exp", x), g.const(0.5, F32)
    forms = (
        ops.mul(g, ops.mul(g, half, x), y),
        ops.mul(g, x, ops.mul(g, y, half)),
        ops.mul(g, half, ops.mul(g, x, y)),
        ops.mul(g, ops.div(g, x, g.const(2, F32)), y),
    )
    for form in forms:
        assert (0.5, x, y) in list(match.products_of_three(form.node))
    assert list(match.products_of_three(ops.mul(g, x, y).node)) == []


def test_other_operand(g, x):
    one = g.const(1, F32)
    assert match.other_operand(ops.add(g, one, x), "Add", 1.0) is x
    assert match.other_operand(ops.add(g, x, one), "Add", 2.0) is None
    assert match.other_operand(ops.add(g, x, g.const(np.ones((4, 1, 1)), F32)), "Add", 1.0) is None  # it has more axes


def test_reductions(g, x):
    total = ops.reduce(g, "ReduceSum", x, (1,))
    column = ops.reshape(g, total, (2, 1))
    assert match.without_unit_axes(column) is total
    assert match.reduced_axes(column, x, "ReduceSum") == (1,)
    assert match.reduced_axes(total, x, "ReduceSum") is None  # it does not broadcast along that axis
    assert match.reduced_axes(column, x, "ReduceMax") is None
    kept = ops.reduce(g, "ReduceSum", x, (0, 1), keepdims=True)
    assert match.reduced_axes(kept, x, "ReduceSum") == (0, 1)
    assert match.reduced_axes(kept, total, "ReduceSum") is None


def test_reshapes_that_change_long_axes_stay(g, x):
    flat = ops.reshape(g, x, (6,))
    assert match.without_unit_axes(flat) is flat


def test_formulas(g, x):
    g.model.recognizes = True
    value = g.formula("Erfc", x, out=x.aval, build=lambda g, x: x)
    assert match.formula(value, "Erfc") is value.node
    assert match.formula(value, "Log1p") is None and match.producer(value, "Erfc") is None


def test_casts_of_16_bit_floats(g, x):
    half = ops.cast(g, x, np.float16)
    assert match.through_cast(half) is x and match.through_cast(x) is x
    wide = ops.cast(g, g.input("h", ((2, 3), np.float16)), F32)
    assert match.through_cast(wide) is wide.node.inputs[0]
    for dtype in (np.float64, np.int16, np.int32, np.bool_):
        cast = ops.cast(g, x, dtype)
        assert match.through_cast(cast) is cast


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_numbers_are_compared_as_the_type_rounds_them(g, dtype):
    assert match.is_number(g.const(np.sqrt(0.5), dtype), np.sqrt(0.5))
    assert match.is_number(g.const(0.044715, dtype), 0.044715) and not match.is_number(g.const(0.05, dtype), 0.044715)
