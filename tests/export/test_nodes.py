"""Walks over the nodes of a model."""

import onnx
import onnx.parser

from onax.export import nodes

MODEL = onnx.parser.parse_model(
    """
    <ir_version: 8, opset_import: ["" : 18]>
    main (float[2] x, bool c) => (float[2] y) {
        a = Neg(x)
        b = If(c) <then_branch = yes () => (float[2] p) { p = Abs(a) }, else_branch = no () => (float[2] q) {
            q = If(c) <then_branch = inner () => (float[2] r) { r = Exp(a) },
                       else_branch = other () => (float[2] s) { s = Sin(a) }>
        }>
        y = Cos(b)
    }
    """
)


def test_walk_enters_the_subgraphs_of_each_node_before_the_next_node():
    assert [n.op_type for n in nodes.walk(MODEL.graph)] == ["Neg", "If", "Abs", "If", "Exp", "Sin", "Cos"]


def test_subgraphs_are_those_of_the_node_alone():
    neg, branch, cos = MODEL.graph.node
    assert [g.name for g in nodes.subgraphs(branch)] == ["yes", "no"]
    assert nodes.subgraphs(neg) == nodes.subgraphs(cos) == []
