"""The text of a graph: types, attributes, small constants, nested graphs; its model and its Host nodes."""

import numpy as np
import onnx

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._compile import pipeline
from onax._compile.graph_text import graph_text, host_nodes, model_proto

X = np.ones((2, 3), np.float32)


def graph_of(function, *args):
    return pipeline.lower_portable(pipeline.optimize(jax.make_jaxpr(function)(*args), "test"))


def test_typed_values_attributes_and_constants():
    graph = graph_of(lambda x: jnp.swapaxes(x, 0, 1) + 2, X)
    first, *nodes, last, end = graph_text(graph).splitlines()
    assert first == f"graph (f32[2,3] in.0) => (f32[3,2] {graph.outputs[0].name}) <opset {graph.opset}> {{"
    assert len(nodes) == 1 and "= Transpose <perm = (1, 0)> (in.0)" in nodes[0].replace("[1, 0]", "(1, 0)")
    assert last.endswith(", 2.0)") and "f32[3,2]" in last and end == "}"


def test_nested_graphs_are_counted_and_large_constants_named():
    text = graph_text(
        graph_of(lambda x: lax.cond(x[0, 0] > 0, jnp.sin, lambda v: v + np.arange(12.0).reshape(4, 3)[:2], x), X)
    )
    assert "= If <then_branch = {" in text and " nodes}" in text
    large = graph_text(graph_of(lambda x: x + np.arange(30, dtype=np.float32)[:, None, None], X))
    assert "29.0" not in large


def test_no_graph():
    assert graph_text(None) == "graph () => ()\n" and model_proto(None) is None and host_nodes(None) == []


def test_the_model_is_the_graph():
    model = model_proto(graph_of(lambda x: jnp.sin(x) + x, X))
    onnx.checker.check_model(model)
    assert [node.op_type for node in model.graph.node] == ["Sin", "Add"]


def test_host_nodes_are_found_in_bodies():
    def body(c, x):
        return c + jax.pure_callback(lambda v: v, x, x), None

    computation = pipeline.optimize(jax.make_jaxpr(lambda x: lax.scan(body, x[0], x)[0])(X), "test")
    (name,) = host_nodes(pipeline.lower_native(computation))
    assert name.startswith("pure_callback")
