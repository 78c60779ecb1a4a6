"""Building graphs: names, constants, detours, subgraphs, symbolic dimensions; builders against NumPy."""

import ml_dtypes
import numpy as np
import onnx
import pytest

from onax._ground import onnx_runtime
from onax._ground.dims import SymbolicScope, parse_dims
from onax._ground.errors import LoweringError
from onax._native import ort
from onax._native.avals import ShapedArray
from onax._native.source_info import SourceInfo
from onax.export.graph import ops, proto
from onax.export.graph.value import Graph, Value

F32, I64, BOOL = np.dtype(np.float32), np.dtype(np.int64), np.dtype(bool)
X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.fixture(autouse=True, scope="module")
def runtime():
    """The library, attached once."""
    ort.attach(onnx_runtime.find_runtime().library)


def run(build, *arrays, opset=21):
    """Runs `build(graph, *values)`; also has onnx check the model with its types and shapes."""
    g = Graph(opset)
    values = [g.input(f"x{i}", (a.shape, a.dtype)) for i, a in enumerate(arrays)]
    results = build(g, *values)
    results = results if isinstance(results, tuple) else (results,)
    for i, value in enumerate(results):
        g.output(f"y{i}", value)
    onnx.checker.check_model(onnx.load_from_string(proto.to_model(g)), full_check=True)
    data, ins, outs, shared = proto.to_session(g)
    got = ort.Session(data, ins, outs, initializers=shared).run(list(arrays))
    for y, value in zip(got, results):
        assert (y.shape, y.dtype) == (value.shape, value.dtype)
    return got[0] if len(got) == 1 else got


BUILDERS = {
    "reshape": (lambda g, x: ops.reshape(g, x, (4, 6)), X.reshape(4, 6)),
    "reshape to itself": (lambda g, x: ops.reshape(g, x, (2, 3, 4)), X),
    "transpose": (lambda g, x: ops.transpose(g, x, (2, 0, 1)), X.transpose(2, 0, 1)),
    "no transpose": (lambda g, x: ops.transpose(g, x, (0, 1, 2)), X),
    "expand": (lambda g, x: ops.expand(g, x, (5, 2, 3, 4)), np.broadcast_to(X, (5, 2, 3, 4))),
    "unsqueeze": (lambda g, x: ops.unsqueeze(g, x, (0, -1)), X[None, ..., None]),
    "squeeze": (lambda g, x: ops.squeeze(g, ops.unsqueeze(g, x, (1, 3)), (-2, 1)), X),
    "slice": (lambda g, x: ops.slice_(g, x, (0, 1, 0), (2, 3, 4), (1, 1, 2)), X[:, 1:3, ::2]),
    "slice of all": (lambda g, x: ops.slice_(g, x, (0, 0, 0), (2, 3, 4)), X),
    "slice of all axes": (lambda g, x: ops.slice_(g, x, (1, 1, 1), (2, 2, 2)), X[1:2, 1:2, 1:2]),
    "concat": (lambda g, x: ops.concat(g, [x, x], 1), np.concatenate([X, X], 1)),
    "concat of one": (lambda g, x: ops.concat(g, [x], 1), X),
    "full": (lambda g, x: ops.add(g, x, ops.full(g, (3, 1), 2, F32)), X + 2),
    "where": (lambda g, x: ops.where(g, ops.greater(g, x, g.const(3, F32)), x, g.const(0, F32)), np.where(X > 3, X, 0)),
    "arithmetic": (lambda g, x: ops.div(g, ops.sub(g, ops.mul(g, x, x), x), g.const(2, F32)), (X * X - X) / 2),
    "extrema": (lambda g, x: ops.minimum(g, ops.maximum(g, x, g.const(3, F32)), g.const(7, F32)), X.clip(3, 7)),
    "logic": (
        lambda g, x: ops.logical_not(g, ops.logical_or(
            g, ops.logical_and(g, ops.less(g, x, g.const(9, F32)), ops.greater_equal(g, x, g.const(2, F32))),
            ops.logical_or(g, ops.less_equal(g, x, g.const(0, F32)), ops.equal(g, x, g.const(20, F32))))),
        ~(((X < 9) & (X >= 2)) | (X <= 0) | (X == 20)),
    ),
    "reduce": (lambda g, x: ops.reduce(g, "ReduceSum", x, (0, -1)), X.sum((0, 2))),
    "reduce, kept": (lambda g, x: ops.reduce(g, "ReduceMax", x, (1,), keepdims=True), X.max(1, keepdims=True)),
    "reduce over nothing": (lambda g, x: ops.reduce(g, "ReduceSum", x, ()), X),
    "gather": (lambda g, x: ops.gather(g, x, g.const([[0, 2], [1, 1]], I64), 1), X[:, [[0, 2], [1, 1]]]),
    "is_nan": (lambda g, x: ops.is_nan(g, ops.div(g, x, x)), np.isnan(X / np.where(X, X, np.nan))),
    "cast": (lambda g, x: ops.cast(g, x, np.int32), X.astype(np.int32)),
    "scalar": (lambda g, x: ops.add(g, x, ops.scalar(g, 2, x)), X + 2),
}  # fmt: skip


@pytest.mark.parametrize("opset", [18, 21, 26])
@pytest.mark.parametrize("name", BUILDERS)
def test_builders(name, opset):
    build, want = BUILDERS[name]
    np.testing.assert_array_equal(run(build, X, opset=opset), want)


@pytest.mark.parametrize(
    "shape, new", [((0, 3), (3, 0)), ((0, 3), (0,)), ((0,), (2, 0)), ((1,), ()), ((), (1, 1))], ids=str
)
def test_reshape_of_empty_and_scalar(shape, new):
    assert run(lambda g, x: ops.reshape(g, x, new), np.ones(shape, np.float32)).shape == new


def test_bitcast():
    got = run(lambda g, x: ops.bitcast(g, x, np.int32), X, opset=26)
    np.testing.assert_array_equal(got, X.view(np.int32))


# ---- detours: the operator as NumPy does it in the type itself

LIMITS = {d: np.array([np.iinfo(d).min, np.iinfo(d).max, 1, 3], d) for d in "bhilBHIL"}


@pytest.mark.parametrize("code", LIMITS)
@pytest.mark.parametrize("op_type, ufunc", [
    ("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply), ("Min", np.minimum), ("Max", np.maximum),
], ids=str)  # fmt: skip
def test_integer_arithmetic_wraps_in_every_type(code, op_type, ufunc):
    x = LIMITS[code]
    builder = {"Min": ops.minimum, "Max": ops.maximum}.get(op_type, lambda g, a, b: ops.binary(g, op_type, a, b))
    got = run(builder, x, x[::-1].copy())
    np.testing.assert_array_equal(got, ufunc(x, x[::-1]))


@pytest.mark.parametrize("code", LIMITS)
def test_integer_matmul_wraps_in_every_type(code):
    x = np.stack([LIMITS[code]] * 2)
    got = run(lambda g, a, b: g.node("MatMul", a, b, out=((2, 2), a.dtype)), x, x.T.copy())
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(got, x @ x.T)


@pytest.mark.parametrize("dtype", [*"?bhilBHILefd", ml_dtypes.bfloat16], ids=str)
def test_where_moves_every_type(dtype):
    x = np.array([0, 1, 1, 0]).astype(dtype)
    if x.dtype.kind in "iu":
        x = LIMITS[dtype]
    c = np.array([True, False, True, False])
    got = run(lambda g, c, a, b: ops.where(g, c, a, b), c, x, x[::-1].copy())
    np.testing.assert_array_equal(got, np.where(c, x, x[::-1]))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16], ids=str)
def test_halves(dtype):
    x = np.array([0.5, 1, 2, 100], dtype)
    got = run(lambda g, a: g.node("Exp", ops.mul(g, a, g.const(0.01, dtype))), x)
    want = np.exp((x.astype(np.float32) * np.asarray(0.01, dtype).astype(np.float32)).astype(dtype).astype(np.float32))
    np.testing.assert_allclose(got.astype(np.float32), want.astype(dtype).astype(np.float32), rtol=2**-7)


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
        with pytest.raises(LoweringError, match=r"(?s)no kernel of CumProd.*In operation sin from .*test_graph.py"):
            g.node("CumProd", x, g.const(0, I64))
    g.output("y", y)
    model = onnx.load_from_string(proto.to_model(g))
    assert "test_graph.py" in model.graph.node[0].doc_string and model.graph.node[0].name == "sin_1"
    assert g.model.location is None
    assert "test_graph.py" in proto.locate(g, "Non-zero status code returned while running Sin node. Name:'sin_1' x")
    assert proto.locate(g, "nothing") is None


def test_no_kernel_names_the_lowest_opset():
    g = Graph(21)
    with pytest.raises(LoweringError, match="the lowest opset that has one is 26"):
        g.node("CumProd", g.input("x", ((2,), F32)), g.const(0, I64))


def test_runs():
    g = Graph(21)
    assert g.runs("Exp", F32) and g.runs("ScatterND", F32, reduction="add") and not g.runs("Tan", np.float64)
    assert g.runs("Exp", ml_dtypes.bfloat16) and not g.runs("Exp", ml_dtypes.bfloat16, directly=True)


def test_custom_domains_are_not_looked_up_and_are_declared():
    g = Graph()
    x = g.input("x", ((2,), np.dtype(np.uint8)))
    y = g.node("Fused", x, out=((5,), F32), domain="onax", program=b"\0")
    g.output("z", g.node("Neg", y))
    data, _, _, _ = proto.to_session(g)
    model = onnx.load_from_string(data)
    assert [(o.domain, o.version) for o in model.opset_import] == [("", 21), ("onax", 1)]
    assert [v.name for v in model.graph.value_info] == [y.name]


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


def test_one_symbolic_dimension_of_a_reshape_needs_no_computation():
    b, _, _ = shape = _symbolic("b, 2, 3")
    g = Graph()
    y = ops.reshape(g, g.input("x", (shape, F32)), (b, 6))
    assert [n.op_type for n in g.nodes] == ["Reshape"] and y.shape == (b, 6)


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


@pytest.mark.parametrize(
    "opset, version", [(18, 8), (19, 9), (20, 9), (21, 10), (22, 10), (23, 11), (24, 12), (25, 13), (26, 13)]
)
def test_the_lowest_ir_version(opset, version):
    g = Graph(opset)
    g.output("y", g.node("Neg", g.input("x", ((2,), F32))))
    model = onnx.load_from_string(proto.to_model(g, metadata={"k": "v"}, doc="d", name="n", producer_version="1"))
    assert (
        model.ir_version == version == min(row[1] for row in onnx.helper.VERSION_TABLE if row[2] >= opset)
        and model.metadata_props[0].value == "v"
    )
