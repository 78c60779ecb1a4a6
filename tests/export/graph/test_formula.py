"""Formulas: Python's operators on values of a graph give what they give on arrays."""

import numpy as np
import pytest

from graph_runner import run
from onax.export.graph.formula import Formula

X, Y = np.float32([-2, -0.5, 0, 1.5, np.nan]), np.float32([1, -0.5, 2, 1.5, 3])
FORMULAS = {
    "arithmetic": lambda x, y: (x + y) * 2 - y / 4,
    "numbers on the left": lambda x, y: 1 - x + 3 / y + 2 * x + (1 + y),
    "negation": lambda x, y: -x,
    "extrema": lambda x, y: (x.minimum(y) if isinstance(x, Formula) else np.minimum(x, y)) + 0,
    "less": lambda x, y: x < y,
    "at most": lambda x, y: x <= y,
    "more": lambda x, y: x > y,
    "at least": lambda x, y: x >= 0.0,
    "equal": lambda x, y: x == y,
    "logic": lambda x, y: ~((x < y) & (x == x) | (y > 2)),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_as_on_arrays(name):
    function = FORMULAS[name]
    got = run(lambda g, x, y: function(Formula(g, x), Formula(g, y)).value, X, Y)
    np.testing.assert_array_equal(got, function(X, Y))


OTHERS = {
    "do": (lambda x: x.do("Abs"), np.abs(X)),
    "pow": (lambda x: x.pow(2), X**2),
    "cast": (lambda x: (x * 2).cast(np.float64), (X * 2).astype(np.float64)),
    "is_nan": (lambda x: x.is_nan(), np.isnan(X)),
    "where": (lambda x: (x > 0).where(x, 7), np.where(X > 0, X, 7)),
    "where of a number first": (lambda x: (x > 0).where(7, x), np.where(X > 0, 7, X)),
    "horner": (lambda x: x.horner([2, -1, 3]), (2 * X - 1) * X + 3),
}


@pytest.mark.parametrize("name", OTHERS)
def test_operators_of_onnx(name):
    function, want = OTHERS[name]
    got = run(lambda g, x: function(Formula(g, x)).value, X)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


def test_a_formula_is_no_key():
    with pytest.raises(TypeError, match="unhashable"):
        hash(Formula(None, None))
