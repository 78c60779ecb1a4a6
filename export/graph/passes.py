"""Rewrites of a finished graph: an ordered list of small functions, each exact.

    drop_dead_nodes    nodes whose results nobody reads, and constants that nobody reads any more

Rules do not leave much to do: builders emit nothing where there is nothing to do, constants and casts are kept once,
and ONNX Runtime's own optimiser folds constants and fuses.
"""

from onax.export.graph.value import Graph


def _bodies(node):
    """The subgraphs in a node's attributes."""
    return [x for x in node.attributes.values() if type(x) is Graph]


def _live_nodes(graph, used):
    """Drops a graph's dead nodes; `used` gets the ids of all values read."""
    used.update(id(v) for v in graph.outputs)
    live = []
    for node in reversed(graph.nodes):
        if any(id(v) in used for v in node.outputs):
            live.append(node)
            used.update(id(v) for v in node.inputs)
            for body in _bodies(node):
                _live_nodes(body, used)
    graph.nodes = live[::-1]


def drop_dead_nodes(graph):
    """Removes nodes whose results nobody reads, in subgraphs too; then constants that nobody reads."""
    used = set()
    _live_nodes(graph, used)
    graph.initializers = {name: v for name, v in graph.initializers.items() if id(v) in used}


PASSES = (drop_dead_nodes,)


def run(graph):
    """Runs all passes over the outermost graph."""
    for rewrite in PASSES:
        rewrite(graph)
    return graph
