"""dce_sink in graphs: no node."""

import numpy as np

import onax.numpy as jnp
from lowering_runner import run_graph
from onax import lax
from onax._native.avals import ShapedArray
from onax._transforms.staging import trace_to_jaxpr
from onax.export.lower.driver import lower_jaxpr


def test_a_sink_is_no_node():
    program = trace_to_jaxpr(lambda x: [lax.dce_sink(x) or jnp.sin(x)], [ShapedArray((3,), np.float32)])
    g = lower_jaxpr(program, opset=21)
    assert [node.op_type for node in g.nodes] == ["Sin"]
    x = np.arange(3, dtype=np.float32)
    np.testing.assert_allclose(run_graph(g, [x])[0], np.sin(x), rtol=1e-6)
