"""Models and sessions of graphs: domains, versions, places of nodes."""

import numpy as np
import onnx
import pytest

from onax.export.graph import proto
from onax.export.graph.value import Graph

F32, I64, BOOL = np.dtype(np.float32), np.dtype(np.int64), np.dtype(bool)


def test_custom_domains_are_not_looked_up_and_are_declared():
    g = Graph()
    x = g.input("x", ((2,), np.dtype(np.uint8)))
    y = g.node("Host", x, out=((5,), F32), domain="onax", kernel=1)
    g.output("z", g.node("Neg", y))
    data, _, _, _ = proto.to_session(g)
    model = onnx.load_from_string(data)
    assert [(o.domain, o.version) for o in model.opset_import] == [("", 21), ("onax", 1)]
    assert [v.name for v in model.graph.value_info] == [y.name]


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
