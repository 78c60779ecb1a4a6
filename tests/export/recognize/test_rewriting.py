"""Rewrites of graphs by rules: when they are made, and what they leave."""

import numpy as np
import pytest

from onax.export.graph import ops
from onax.export.graph.value import Graph
from onax.export.recognize.rewriting import Matcher, Rewrite, rewrite

F32, I64, BOOL = np.dtype(np.float32), np.dtype(np.int64), np.dtype(bool)


def new_graph():
    g = Graph()
    return g, g.input("x", ((2, 3), F32))


def operators(g):
    return [n.op_type for n in g.nodes]


def double_negative(m, node):
    inner = node.inputs[0].node
    if inner is None or inner.op_type != "Neg":
        return None
    return Rewrite("Identity", (inner.inputs[0],), interior=(node.inputs[0],))


def test_a_node_becomes_another_operator_and_keeps_its_result():
    g, x = new_graph()
    g.output("y", g.node("Neg", g.node("Neg", x)))
    rewrite(g, [("Neg", double_negative)])
    assert operators(g) == ["Identity"]
    assert g.outputs[0].name == "y" and g.outputs[0].node is g.nodes[0]


@pytest.mark.parametrize("readers", ["output", "node", "body"])
def test_an_interior_that_something_else_reads_stays(readers):
    g, x = new_graph()
    inner = g.node("Neg", x)
    if readers == "node":
        g.output("z", g.node("Exp", inner))
    if readers == "body":
        body = g.subgraph([((), I64), ((), BOOL), (x.shape, F32)])
        body.output(None, body.inputs[1])
        body.output(None, body.node("Add", body.inputs[2], inner))
        g.output("z", g.node("Loop", g.const(3, I64), None, x, out=x.aval, body=body))
    g.output("y", g.node("Neg", inner))
    if readers == "output":
        g.output("z", inner)
    before = operators(g)
    rewrite(g, [("Neg", double_negative)])
    assert operators(g) == before


def test_a_rewrite_may_not_add_more_nodes_than_it_removes():
    def longer(m, node):
        return Rewrite("Exp", (m.g.node("Neg", m.g.node("Abs", node.inputs[0])),))

    for saves, wanted in ((0, ["Sin"]), (1, ["Sin"]), (2, ["Abs", "Neg", "Exp"])):
        g, x = new_graph()
        g.output("y", g.node("Sin", x))

        def rule(m, node, saves=saves):
            made = longer(m, node)
            made.saves = saves
            return made

        rewrite(g, [("Sin", rule)])
        assert operators(g) == wanted


def test_rejected_rewrites_leave_the_readers_as_they_were():
    g, x = new_graph()
    inner = g.node("Neg", x)
    g.output("y", g.node("Neg", inner))
    g.output("z", inner)
    m = Matcher(g)
    before = [list(m.readers(v)) for v in (x, inner)]
    m.apply({"Neg": [double_negative]})
    assert [sorted(map(id, m.readers(v))) for v in (x, inner)] == [sorted(map(id, b)) for b in before]


def test_rules_see_what_rules_made_of_earlier_nodes():
    def to_abs(m, node):
        return Rewrite("Abs", node.inputs) if node.inputs[0].node is None else None

    def absolute_twice(m, node):
        return Rewrite("Identity", node.inputs) if node.inputs[0].node.op_type == "Abs" else None

    g, x = new_graph()
    g.output("y", g.node("Exp", g.node("Neg", x)))
    rewrite(g, [("Neg", to_abs), ("Exp", absolute_twice)])
    assert operators(g) == ["Abs"] and g.outputs[0].node is g.nodes[0]


def test_a_constant_that_a_rewrite_needs_again_is_there():
    def to_product(m, node):
        return Rewrite("Mul", (node.inputs[0], m.g.const(2, F32)))

    g, x = new_graph()
    g.output("y", ops.add(g, x, g.const(2, F32)))
    rewrite(g, [("Add", lambda m, node: Rewrite("Abs", (x,)))])
    assert not g.initializers
    rewrite(g, [("Abs", to_product)])
    assert [v.name for v in g.initializers.values()] == [g.nodes[0].inputs[1].name]
