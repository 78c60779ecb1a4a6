"""Placement has no operators in a graph: it runs on one device."""

import numpy as np
import pytest

import onax
from onax import lax
from onax.export import export
from onax.sharding import AxisType, NamedSharding, PartitionSpec

X = np.arange(4, dtype=np.float32)
SHARDING = NamedSharding(onax.make_mesh((1,), ("i",), (AxisType.Auto,)), PartitionSpec("i"))


@pytest.mark.parametrize(
    "place",
    [lambda x: onax.device_put(x, onax.devices()[0]), lambda x: lax.with_sharding_constraint(x, SHARDING)],
    ids=["device_put", "sharding_constraint"],
)
def test_placement_adds_no_node(place):
    exported = export(onax.jit(lambda x: place(x) + 1))(X)
    assert [node.op_type for node in exported.onnx_model.graph.node] == ["Add"]
    np.testing.assert_array_equal(exported.call(X), X + 1)
