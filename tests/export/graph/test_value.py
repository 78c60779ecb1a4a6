"""Building graphs: names, constants, types that are refused, subgraphs, symbolic dimensions."""

import ml_dtypes
import numpy as np
import onnx
import pytest

from graph_runner import run
from onax._ground.dims import SymbolicScope, parse_dims
from onax._ground.errors import LoweringError
from onax._native import ort
from onax._native.avals import ShapedArray
from onax._native.source_info import SourceInfo
from onax.export.graph import ops, proto
from onax.export.graph.value import Graph, Value

F32, I64, BOOL = np.dtype(np.float32), np.dtype(np.int64), np.dtype(bool)
X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


# ---- detours: the operator as NumPy does it in the type itself


WRONG_BEYOND_32_BITS = {
    "Max": lambda g, x: g.node("Max", x, x),
    "Min": lambda g, x: g.node("Min", x, x),
    "Sign": lambda g, x: g.node("Sign", x),
    "Clip": lambda g, x: g.node("Clip", x, g.const(0, I64), g.const(9, I64)),
    "ReduceMax": lambda g, x: ops.reduce(g, "ReduceMax", x, (0,)),
    "ReduceMin": lambda g, x: ops.reduce(g, "ReduceMin", x, (0,)),
}


@pytest.mark.parametrize("name", WRONG_BEYOND_32_BITS)
def test_int64_is_refused_where_the_runtime_orders_it_wrongly(name):
    build = WRONG_BEYOND_32_BITS[name]
    g = Graph()
    with pytest.raises(LoweringError, match=f"{name} of int64 is wrong for numbers of more than 31 bits"):
        build(g, g.input("x", ((3,), I64)))
    build(g, ops.cast(g, g.input("y", ((3,), np.int32)), I64))
    build(g, g.const([1, -5, 2], I64))
    if name.startswith("Reduce"):
        with pytest.raises(LoweringError, match="no kernel"):
            build(g, g.input("z", ((3,), np.uint32)))


def test_the_remainder_of_wide_integers_is_refused():
    g = Graph()
    x = g.input("x", ((3,), I64))
    with pytest.raises(LoweringError, match="more than 53 bits"):
        ops.binary(g, "Mod", x, g.const(7, I64), fmod=1)


def test_results_of_another_type_are_not_cast_back():
    x = np.array([3, 9, 2], np.uint16)
    values, indices = run(lambda g, a: g.node("TopK", a, g.const([2], I64), outs=[((2,), a.dtype), ((2,), I64)]), x)
    assert values.dtype == np.uint16 and values.tolist() == [9, 3] and indices.tolist() == [1, 0]


def test_casts_are_kept_once():
    g = Graph()
    x = g.input("x", ((3,), ml_dtypes.bfloat16))
    g.node("Exp", x)
    g.node("Sin", x)
    assert [n.op_type for n in g.nodes] == ["Cast", "Exp", "Cast", "Sin", "Cast"]


# ---- constants and names


def test_small_constants_are_kept_once_large_ones_by_identity():
    g = Graph()
    assert g.const(1.5, F32) is g.const(np.float32(1.5)) is not g.const(1.5, np.float64)
    assert g.const(0.0, F32) is not g.const(-0.0, F32)
    assert g.const([1], I64) is not g.const(1, I64)
    large = np.zeros(1000)
    assert g.const(large) is g.const(large) is not g.const(large.copy())
    assert g.const(large).const is large
    assert g.const(np.array(3.0)).shape == ()


def test_outputs_take_their_names_where_they_can():
    g = Graph()
    x = g.input("x", ((2,), F32))
    y = g.node("Neg", x)
    for name, value in (("a", y), ("again", y), ("input", x), ("const", g.const([1.0, 2.0], F32))):
        g.output(name, value)
    assert [v.name for v in g.outputs] == ["a", "again", "input", "const"]
    assert [n.op_type for n in g.nodes] == ["Neg", "Identity", "Identity", "Identity"]
    with pytest.raises(ValueError, match="have the name 'x'"):
        g.output("x", g.node("Neg", y))
    onnx.checker.check_model(onnx.load_from_string(proto.to_model(g)), full_check=True)


def test_nodes_do_not_take_names_of_inputs():
    g = Graph()
    x = g.input("Neg_2", ((2,), F32))
    assert [g.node("Neg", x).name for _ in range(2)] == ["Neg_1", "Neg_3"]


def test_equations_name_nodes_and_give_their_place():
    class Eqn:
        class primitive:
            name = "sin"

        source_info = SourceInfo(test_casts_are_kept_once.__code__, 0)

    g = Graph()
    x = g.input("x", ((2,), F32))
    with g.at(Eqn):
        y = g.node("Sin", x)
        with pytest.raises(LoweringError, match=r"(?s)no kernel of CumProd.*In operation sin from .*test_value.py"):
            g.node("CumProd", x, g.const(0, I64))
    g.output("y", y)
    model = onnx.load_from_string(proto.to_model(g))
    assert "test_value.py" in model.graph.node[0].doc_string and model.graph.node[0].name == "sin_1"
    assert g.model.location is None
    assert "test_value.py" in proto.locate(g, "Non-zero status code returned while running Sin node. Name:'sin_1' x")
    assert proto.locate(g, "nothing") is None


def test_no_kernel_names_the_lowest_opset():
    g = Graph(21)
    with pytest.raises(LoweringError, match="the lowest opset that has one is 26"):
        g.node("CumProd", g.input("x", ((2,), F32)), g.const(0, I64))


def test_runs():
    g = Graph(21)
    assert g.runs("Exp", F32) and g.runs("ScatterND", F32, reduction="add") and not g.runs("Tan", np.float64)
    assert g.runs("Exp", ml_dtypes.bfloat16) and not g.runs("Exp", ml_dtypes.bfloat16, directly=True)


# ---- subgraphs and symbolic dimensions


def test_a_loop_sees_values_around_it():
    def build(g, x):
        body = g.subgraph([((), I64), ((), BOOL), (x.shape, x.dtype)])
        _, going, carry = body.inputs
        body.output(None, going)
        body.output(None, ops.add(body, carry, body.node("Exp", x)))
        return g.node("Loop", g.const(3, I64), None, x, out=x.aval, body=body)

    np.testing.assert_allclose(run(build, X[0] / 10), X[0] / 10 + 3 * np.exp(X[0] / 10), rtol=1e-6)


def test_branches():
    def build(g, c, x):
        then, other = g.subgraph(), g.subgraph()
        then.output(None, then.node("Neg", x))
        other.output(None, x)  # from outside: needs a node of its own
        return g.node("If", c, out=x.aval, then_branch=then, else_branch=other)

    np.testing.assert_array_equal(run(build, np.array(True), X), -X)
    np.testing.assert_array_equal(run(build, np.array(False), X), X)


def _symbolic(text):
    return parse_dims(text, SymbolicScope())


def test_symbolic_dimensions_are_computed_once_in_the_outermost_graph():
    b, _ = shape = _symbolic("b, 3")
    asked = []

    def resolve(g, d):
        asked.append(d)
        size = g.node("Shape", g.inputs[0], out=((1,), I64), start=0, end=1)
        return g.node("Squeeze", size, g.const([0], I64), out=((), I64))

    g = Graph(21, dims=resolve)
    x = g.input("x", (shape, F32))
    body = g.subgraph()
    zeros = ops.full(body, (b, 3), 0, F32)
    assert g.shape_const((b, 3)) is body.shape_const((b, 3)) and g.dim(b) is body.dim(b) and asked == [b]
    assert g.dim(4).const == 4
    body.output(None, zeros)
    other = g.subgraph()
    other.output(None, x)
    g.output("y", g.node("If", g.input("c", ((), BOOL)), out=x.aval, then_branch=body, else_branch=other))
    onnx.checker.check_model(onnx.load_from_string(proto.to_model(g)), full_check=True)
    data, ins, outs, _ = proto.to_session(g)
    assert ins[0][2] == shape
    s = ort.Session(data, ins, outs)
    for n in (0, 1, 5):
        (y,) = s.run([np.ones((n, 3), np.float32), np.array(True)])
        np.testing.assert_array_equal(y, np.zeros((n, 3)))


def test_a_symbolic_dimension_without_a_resolver_is_refused():
    g = Graph()
    (b,) = _symbolic("b")
    with pytest.raises(LoweringError, match="the dimension b is unknown"):
        g.dim(b)


def test_value_text():
    g = Graph()
    x = g.input("x", ShapedArray((2,), F32))
    assert isinstance(x, Value) and repr(x) == "Value(x: float32[2])" and (x.shape, x.dtype, x.ndim) == ((2,), F32, 1)
    g.node("Clip", x, None, g.const(1, F32))
    assert repr(g.nodes[0]) == "Clip_2 = Clip(x, _, const_1)"
