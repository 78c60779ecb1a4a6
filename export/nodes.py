"""The nodes of an `onnx.GraphProto`, including those of its subgraphs (branches and loop bodies)."""


def subgraphs(node):
    """The graphs in a node's attributes."""
    return [graph for attribute in node.attribute for graph in (attribute.g, *attribute.graphs) if graph.node]


def walk(graph):
    """All nodes in order; the nodes of its subgraphs follow each node."""
    for node in graph.node:
        yield node
        for inner in subgraphs(node):
            yield from walk(inner)
