"""Graphs of nodes onax.Host, and their sessions."""

from onax._native import host_operator, ort
from onax.export.graph import proto
from onax.export.graph.value import Graph


def node(g, kernel, *inputs):
    """A Host node's results."""
    return g.node("Host", *inputs, outs=list(kernel.outputs), domain="onax", kernel=host_operator.Handle(kernel))


def session(build, *inputs):
    """A Session of the graph that `build(graph, *values)` makes for inputs of these (shape, dtype)."""
    g = Graph(21, target="native")
    for value in build(g, *[g.input(f"x{i}", spec) for i, spec in enumerate(inputs)]):
        g.output(None, value)
    data, ins, outs, shared = proto.to_session(g)
    return ort.Session(data, ins, outs, initializers=shared, options={"operators": True})


def run_kernel(kernel, *arrays):
    """A Kernel's results for these arrays, as a graph of one node."""
    return session(lambda g, *xs: node(g, kernel, *xs), *[(a.shape, a.dtype) for a in arrays]).run(arrays)
