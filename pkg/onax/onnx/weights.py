"""Weights that lie in Constant nodes and in the graphs of control flow become constants of the model's own graph.

Some programs write every weight as a Constant node, and those of a branch or of the body of a loop as initializers of
its graph.  At the top they are parameters as the initializers of the model are.
"""

from collections import Counter
from dataclasses import replace

import numpy as np

import onax.numpy as jnp
from onax.onnx.records import Graph


def gather_weights(file):
    """The ModelFile with the floating-point arrays of all its graphs among the constants of the outermost.

    A name that stands for several values, each in its own branch, stays where it is.
    """
    counts, found = Counter(_names(file.graph)), {}
    graph = _without_weights(file.graph, counts, found)
    if not found:
        return file
    return replace(file, graph=replace(graph, constants={**file.graph.constants, **found}))


def _names(graph):
    """Each name as often as the graph and those within give it a value."""
    yield from (value.name for value in graph.inputs)
    yield from graph.constants
    for node in graph.nodes:
        yield from node.outputs
        for inner in node.graphs.values():
            yield from _names(inner)


def _without_weights(graph, counts, found):
    """The graph without its weights, which `found` gets."""
    moved = {name: a for name, a in graph.constants.items() if counts[name] == 1 and _is_weight(a)}
    nodes = []
    for node in graph.nodes:
        array = _constant_of(node)
        if array is not None and _is_weight(array) and counts[node.outputs[0]] == 1:
            moved[node.outputs[0]] = array
        elif node.graphs:
            attributes = {
                name: _without_weights(value, counts, found) if isinstance(value, Graph) else value
                for name, value in node.attributes.items()
            }
            nodes.append(replace(node, attributes=attributes))
        else:
            nodes.append(node)
    found.update(moved)
    constants = {name: array for name, array in graph.constants.items() if name not in moved}
    return replace(graph, constants=constants, nodes=tuple(nodes))


def _constant_of(node):
    """The array of a Constant node; None if the node is another one, or holds no array."""
    if (node.domain, node.op_type) != ("", "Constant") or len(node.outputs) != 1:
        return None
    if isinstance(node.attributes.get("value_floats"), tuple):
        return np.array(node.attributes["value_floats"], np.float32)
    value = node.attributes.get("value", node.attributes.get("sparse_value"))
    return value if isinstance(value, np.ndarray) else None


def _is_weight(array):
    return array.ndim > 0 and array.size > 0 and jnp.issubdtype(array.dtype, jnp.floating)
