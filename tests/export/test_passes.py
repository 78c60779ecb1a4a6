"""Rewrites of finished graphs."""

import numpy as np

from onax.export.graph import passes
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
