"""Symbolic shapes of exports: their text, solving for their variables, their computation in a graph."""

import itertools

import numpy as np
import pytest

from onax import jit
from onax._ground import dims
from onax._ground.errors import ExportError
from onax._transforms.abstract import ShapeDtypeStruct
from onax.export import export, shapes, symbolic_args_specs, symbolic_shape
from onax.lax import add, full


@pytest.mark.parametrize(
    "text, options, wanted",
    [
        ("b, 2*t", {}, "(b, 2*t)"),
        ("_, b", {"like": (3, 4)}, "(3, b)"),
        (None, {"like": (3, 4)}, "(3, 4)"),
        ("b", {"constraints": ["b >= 2"]}, "(b,)"),
    ],
)
def test_symbolic_shape(text, options, wanted):
    assert str(symbolic_shape(text, **options)) == wanted


def test_symbolic_shape_faults():
    with pytest.raises(ValueError, match="both a `scope` and `constraints`"):
        symbolic_shape("b", scope=shapes.SymbolicScope(), constraints=["b >= 2"])
    with pytest.raises(ValueError, match="None or a string"):
        symbolic_shape(3)


def test_args_specs():
    args = ({"w": np.zeros((3, 4), np.float32)}, np.zeros((2, 3), np.int32))
    specs = symbolic_args_specs(args, (None, "b, ..."))
    assert repr(specs[0]["w"]) == "ShapeDtypeStruct(shape=(3, 4), dtype=float32)"
    assert repr(specs[1]) == "ShapeDtypeStruct(shape=(b, 3), dtype=int32)"
    both = symbolic_args_specs(args, "b, ...")
    assert both[0]["w"].shape[0] == both[1].shape[0]
    assert repr(symbolic_args_specs(2.0, "")) == "ShapeDtypeStruct(shape=(), dtype=float32)"  # of no weak type


def solver_for(*texts, constraints=()):
    scope = dims.SymbolicScope(constraints)
    found = [dims.parse_dims(text, scope) for text in texts]
    return shapes.make_dim_solver([f"args[{i}]" for i in range(len(texts))], found)


@pytest.mark.parametrize(
    "texts, sizes, wanted",
    [
        (["b, 3"], [(5, 3)], {"b": 5}),
        (["2*b + 1"], [(7,)], {"b": 3}),
        (["b + t", "t"], [(7,), (3,)], {"b": 4, "t": 3}),
        (["b*t", "t", "b"], [(12,), (3,), (4,)], {"b": 4, "t": 3}),
        (["b, floordiv(b, 2)"], [(5, 2)], {"b": 5}),
        (["t - b, b"], [(2, 3)], {"t": 5, "b": 3}),
        (["3 - b + t, t"], [(4, 3)], {"t": 3, "b": 2}),
        ([""], [()], {}),
    ],
)
def test_values(texts, sizes, wanted):
    assert solver_for(*texts).solve(sizes) == wanted


@pytest.mark.parametrize(
    "texts, sizes, parts",
    [
        (["b, 3"], [(5, 4)], ["Shape mismatch for args[0].shape[1]", "expected (b, 3)", "called with (5, 4)"]),
        (["b, 3"], [(5,)], ["Rank mismatch for args[0]"]),
        (["b", "b"], [(5,), (4,)], ["args[1].shape[0] (= 4)", "'b' (= 5)"]),
        (["b, 2*b"], [(2, 3)], ["args[0].shape[1] (= 3)", "'2*b' (= 4)", "'b' = 2"]),
        (
            ["2*b"],
            [(3,)],
            [
                "Division had remainder 1 when computing the value of 'b'. Using the following polymorphic shapes "
                "specifications: args[0].shape = (2*b,). Obtained dimension variables: ."
            ],
        ),
        (
            ["b + 3", "b"],
            [(3,), (3,)],
            [
                "Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes "
                "specifications: args[0].shape = (b + 3,),args[1].shape = (b,). Obtained dimension variables: 'b' = 0 "
                "from specification 'b + 3' for dimension args[0].shape[0] (= 3), ."
            ],
        ),
    ],
)
def test_wrong_sizes(texts, sizes, parts):
    with pytest.raises(ValueError) as caught:
        solver_for(*texts).solve(sizes)
    for part in parts:
        assert part in str(caught.value)


def test_constraints_are_checked():
    solver = solver_for("b, t", constraints=["b >= 4", "t <= b"])
    assert solver.solve([(4, 2)]) == {"b": 4, "t": 2}
    for sizes, text in [((3, 2), "b >= 4. Expected 'b - 4' to"), ((4, 5), "t <= b. Expected '- t \\+ b' to")]:
        fault = f"constraint {text} be greater or equal to 0, but found -1. Using"
        with pytest.raises(ValueError, match=fault):
            solver.solve([sizes])
    solver = solver_for("b, t", constraints=["mod(b, 2) == 0"])
    with pytest.raises(ValueError, match=r"Expected 'mod\(b, 2\)' to be equal to 0, but found 1"):
        solver.solve([(3, 2)])


@pytest.mark.parametrize("texts", [["b*t"], ["b + t"], ["b^2"], ["max(b, 3)"], ["floordiv(b, 2)"]])
def test_unsolvable(texts):
    with pytest.raises(ExportError, match="Cannot solve for values of dimension variables"):
        solver_for(*texts)


def test_scopes_do_not_mix():
    (b,), (c,) = dims.parse_dims("b"), dims.parse_dims("c")
    specs = [ShapeDtypeStruct((d,), np.float32) for d in (b, c)]
    with pytest.raises(ValueError, match="Invalid mixing of symbolic scopes when exporting add") as caught:
        export(jit(add))(*specs)
    assert "Expected current (from args[0]) scope" in str(caught.value)
    assert "and found for 'c' (args[1]) scope" in str(caught.value)


@pytest.mark.parametrize(
    "texts, constraints",
    [
        (["b, t"], []),
        (["b"], ["b >= 9"]),
        (["b"], ["mod(b, 5) == 0"]),
        (["b, t"], ["b == 2*t", "t >= 3"]),
        (["b - 2"], []),
    ],
)
def test_samples_meet_the_constraints(texts, constraints):
    solver = solver_for(*texts, constraints=constraints)
    found = shapes.sample_values(solver)
    solver.solve([dims.evaluate_shape(shape, found) for shape in solver.shapes])


def test_no_sample():
    with pytest.raises(ExportError, match="no small sizes satisfy"):
        shapes.sample_values(solver_for("b", constraints=["b >= 1000"]))


EXPRESSIONS = (
    "b*t", "b + t - 1", "3 + b", "t*t + b", "floordiv(b, 2)", "mod(t, 3)", "max(b, t)", "min(b, 4)",
    "b*floordiv(t, 2) + 2", "2*b*t + 3*t + 1",
)  # fmt: skip


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_dimensions_in_the_graph(expression):
    """A result of that size: ONNX Runtime computes the dimension that the shape says."""
    scope = dims.SymbolicScope()
    b, t = dims.parse_dims("b, t", scope)
    (wanted,) = dims.parse_dims(expression, scope)
    made = export(lambda x: full((wanted,), 2.0, np.float32))
    exported = made(ShapeDtypeStruct((b, t), np.float32))
    for sizes in itertools.product((1, 2, 5), repeat=2):
        got = exported.call(np.zeros(sizes, np.float32))
        assert got.shape == (dims.evaluate(wanted, dict(zip("bt", sizes))),)


def test_negative_numerators_round_down():
    """floordiv and mod of negative numbers, which ONNX's Div and Mod treat differently from Python."""
    (b,) = dims.parse_dims("b")
    size = (1 - b) // 2 + b + (1 - b) % 3
    exported = export(lambda x: full((size,), 1.0, np.float32))(ShapeDtypeStruct((b,), np.float32))
    for n in range(1, 8):
        assert exported.call(np.zeros(n, np.float32)).shape == ((1 - n) // 2 + n + (1 - n) % 3,)
