"""Rewrites of finished graphs."""

import ml_dtypes
import numpy as np
import pytest

from onax._ground import onnx_runtime
from onax._native import ort
from onax.export.graph import ops, passes, proto
from onax.export.graph.value import Graph

F32, I64, BOOL = np.dtype(np.float32), np.dtype(np.int64), np.dtype(bool)


def test_dead_nodes_and_constants_go_in_subgraphs_too():
    g = Graph()
    x, unused = g.input("x", ((2,), F32)), g.input("unused", ((2,), F32))
    outer = g.node("Sin", x)
    g.node("Add", g.node("Cos", x), g.const([5.0, 6.0], F32))
    body = g.subgraph([((), I64), ((), BOOL), ((2,), F32)])
    body.output(None, body.inputs[1])
    body.output(None, body.node("Add", body.inputs[2], outer))
    body.node("Neg", body.inputs[2])
    used, kept = g.const(3, I64), g.const([1.0, 2.0], F32)
    y = g.node("Loop", used, None, x, out=x.aval, body=body)
    g.output("y", g.node("Mul", y, kept))
    passes.run(g)
    assert [n.op_type for n in g.nodes] == ["Sin", "Loop", "Mul"]
    assert [n.op_type for n in body.nodes] == ["Identity", "Add"]
    assert sorted(g.initializers) == sorted([used.name, kept.name])
    assert unused in g.inputs  # the signature stays


def test_a_node_with_one_result_read_stays():
    g = Graph()
    x = g.input("x", ((4,), F32))
    _, indices = g.node("TopK", x, g.const([2], I64), outs=[((2,), F32), ((2,), I64)])
    g.output("i", indices)
    assert [n.op_type for n in passes.run(g).nodes] == ["TopK"]


# ---- equal nodes


def test_equal_nodes_are_shared():
    g = Graph()
    x, y = g.input("x", ((2, 3), F32)), g.input("y", ((2, 3), F32))
    a, b = ops.mul(g, g.node("Exp", x), y), ops.mul(g, g.node("Exp", x), y)
    turned = [ops.transpose(g, v, (1, 0)) for v in (a, b, x)]
    g.output("z", ops.add(g, ops.add(g, turned[0], turned[1]), turned[2]))
    passes.run(g)
    assert [n.op_type for n in g.nodes] == ["Exp", "Mul", "Transpose", "Transpose", "Add", "Add"]


def test_what_differs_stays():
    """Attributes, operands, order of operands, results of the graph, other domains."""
    g = Graph()
    x = g.input("x", ((2, 2), F32))
    parts = [
        g.node("LeakyRelu", x, alpha=0.1), g.node("LeakyRelu", x, alpha=0.2),
        ops.sub(g, x, g.const(1, F32)), ops.sub(g, g.const(1, F32), x), ops.sub(g, x, g.const(2, F32)),
        g.node("Host", x, domain="onax"), g.node("Host", x, domain="onax"),
    ]  # fmt: skip
    g.output("first", g.node("Sin", x))
    g.output("second", g.node("Sin", x))
    for i, part in enumerate(parts):
        g.output(f"part{i}", part)
    count = len(g.nodes)
    passes.run(g)
    assert len(g.nodes) == count


def test_a_subgraph_reads_the_node_that_is_kept():
    g = Graph()
    x, c = g.input("x", ((2,), F32)), g.input("c", ((), BOOL))
    first, second = g.node("Exp", x), g.node("Exp", x)
    then, other = g.subgraph(), g.subgraph()
    then.output(None, then.node("Neg", second))
    other.output(None, first)
    g.output("y", g.node("If", c, out=x.aval, then_branch=then, else_branch=other))
    passes.run(g)
    assert [n.op_type for n in g.nodes] == ["Exp", "If"] and then.nodes[0].inputs == (first,)


# ---- transposed products


def _run(g, *arrays):
    ort.attach(onnx_runtime.find_runtime().library)
    data, ins, outs, shared = proto.to_session(g)
    return ort.Session(data, ins, outs, initializers=shared).run(list(arrays))


@pytest.mark.parametrize("flags", [{}, {"transA": 1}, {"transB": 1}, {"transA": 1, "transB": 1}], ids=str)
@pytest.mark.parametrize("op_type", ["Gemm", "MatMul"])
def test_a_transposed_product_is_one_gemm(op_type, flags):
    if op_type == "MatMul" and flags:
        pytest.skip("MatMul has no flags")
    rng = np.random.default_rng(0)
    a = rng.standard_normal((4, 2) if "transA" in flags else (2, 4)).astype(np.float32)
    b = rng.standard_normal((3, 4) if "transB" in flags else (4, 3)).astype(np.float32)
    g = Graph()
    x, y = g.input("a", (a.shape, F32)), g.input("b", (b.shape, F32))
    g.output("c", ops.transpose(g, g.node(op_type, x, y, out=((2, 3), F32), **flags), (1, 0)))
    passes.run(g)
    assert [n.op_type for n in g.nodes] == ["Gemm"]
    want = (a.T if "transA" in flags else a) @ (b.T if "transB" in flags else b)
    np.testing.assert_allclose(_run(g, a, b)[0], want.T, rtol=1e-5)


def test_products_that_stay():
    """Read elsewhere, with a third operand, of integers (Gemm has no kernel), of stacks of matrices."""
    g = Graph()
    x, i, s = g.input("x", ((2, 2), F32)), g.input("i", ((2, 2), np.int32)), g.input("s", ((5, 2, 2), F32))
    shared = g.node("MatMul", x, x)
    g.output("shared", shared)
    g.output("t0", ops.transpose(g, shared, (1, 0)))
    g.output("t1", ops.transpose(g, g.node("Gemm", x, x, x), (1, 0)))
    g.output("t2", ops.transpose(g, g.node("MatMul", i, i), (1, 0)))
    g.output("t3", ops.transpose(g, g.node("MatMul", s, s), (0, 2, 1)))
    passes.run(g)
    assert sum(n.op_type == "Transpose" for n in g.nodes) == 4


# ---- constants folded at birth


def test_constants_are_folded_at_birth():
    g = Graph()
    one = g.const(1, F32)
    assert g.node("Neg", one).const == -1
    assert g.cast(g.const([1, 2], I64), F32).const.tolist() == [1.0, 2.0] and not g.nodes
    wide = ops.expand(g, one, (2, 3))
    turned = g.cast(g.node("Neg", wide), np.float64)
    assert [n.op_type for n in g.nodes] == ["Expand"] * 3 and turned.node.inputs[0].const == -1.0
    assert turned.dtype == np.float64 and turned.shape == (2, 3)
    g.cast(wide, ml_dtypes.bfloat16)  # Expand has no kernel of it
    assert g.nodes[-1].op_type == "Cast"


@pytest.mark.parametrize("given, wanted", [(np.float32, np.int32), (np.float64, np.float16)], ids=str)
def test_casts_that_numpy_does_otherwise_are_left_to_the_runtime(given, wanted):
    g = Graph()
    g.cast(g.const(1.5, given), wanted)
    assert [n.op_type for n in g.nodes] == ["Cast"]


def test_optimization_level():
    g = Graph()
    x = g.input("x", ((1, 1, 5, 5), F32))
    assert proto.optimization_level(g) == 1
    g.node("Conv", x, g.const(np.ones((1, 1, 3, 3)), F32), out=((1, 1, 3, 3), F32))
    assert proto.optimization_level(g) == 99


def test_formulas_are_expanded_in_place():
    g = Graph()
    g.model.recognizes = True
    x = g.input("x", ((2,), F32))
    twice = g.formula("Twice", x, out=x.aval, build=lambda g, x: ops.add(g, x, x))
    same = g.formula("Same", twice, out=x.aval, build=lambda g, x: x)
    g.output("y", g.node("Exp", same))
    g.output("z", twice)
    assert [n.domain for n in g.nodes] == ["formula", "formula", ""]
    passes.expand_formulas(g)
    assert [n.op_type for n in g.nodes] == ["Add", "Identity", "Exp"]
    assert not g.model.domains
    data, ins, outs, shared = proto.to_session(g)
    ort.attach(onnx_runtime.find_runtime().library)
    y, z = ort.Session(data, ins, outs, initializers=shared).run([np.array([1, 2], F32)])
    np.testing.assert_allclose(y, np.exp([2, 4]), rtol=1e-6)
    np.testing.assert_array_equal(z, [2, 4])


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_casts_around_16_bit_floats_wait_for_recognition(dtype):
    def built(recognizes):
        g = Graph(21)
        g.model.recognizes = recognizes
        x = g.input("x", ((2,), np.dtype(dtype)))
        y = g.node("Tan", g.node("Mul", g.node("Tan", x), x))
        g.output("y", g.node("Tan", y))
        return g

    waiting, plain = built(True), built(False)
    assert [n.op_type for n in waiting.nodes] == ["Tan", "Mul", "Tan", "Tan"]
    passes.cast_halves(waiting)
    assert [n.op_type for n in waiting.nodes] == [n.op_type for n in plain.nodes]
    ort.attach(onnx_runtime.find_runtime().library)
    results = []
    for g in (waiting, plain):
        data, ins, outs, shared = proto.to_session(g)
        results.append(ort.Session(data, ins, outs, initializers=shared).run([np.array([1, 0.5], dtype)])[0])
    np.testing.assert_array_equal(*results)


def test_equal_constants_are_one():
    g = Graph(21)
    x, wide = g.input("x", ((1000,), F32)), np.linspace(0, 1, 1000, dtype=F32)
    other = wide.copy()
    other[999] = np.nan
    named = g.initializer("weight", wide.copy())
    total = x
    for array in (wide, wide.copy(), other, other.copy(), wide.astype(np.float64).astype(np.float32)):
        total = g.node("Add", total, g.const(array))
    g.output("y", g.node("Add", total, named))
    passes.share_equal_constants(g)
    passes.drop_dead_nodes(g)
    assert len(g.initializers) == 3 and "weight" in g.initializers
    ort.attach(onnx_runtime.find_runtime().library)
    data, ins, outs, shared = proto.to_session(g)
    (y,) = ort.Session(data, ins, outs, initializers=shared).run([np.zeros(1000, F32)])
    np.testing.assert_allclose(y, 4 * wide + 2 * other, rtol=1e-6)
