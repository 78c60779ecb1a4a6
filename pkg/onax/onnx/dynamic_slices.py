"""Updates of slices at computed places, in files that onax wrote.

`lax.dynamic_update_slice` leaves onax as a Concat of the part before the update, the update and the part after it.  The
sizes of the first and the last depend on the place; that the three make up the whole is not said.
`restore_dynamic_slices` makes one node of them again, which runs while a program is traced.  (A Slice from `start` to
`start + size` has a known size anyway.)
"""

from dataclasses import replace

import numpy as np

import onax.numpy as jnp
from onax import lax
from onax.onnx.operators import operator
from onax.onnx.records import Graph, Node, names_read

DOMAIN = "onax.file"


def restore_dynamic_slices(file):
    """The ModelFile with dynamic updates in place of their form in ONNX; itself if another program wrote it."""
    if "onax.format" not in file.metadata:
        return file
    return replace(file, graph=_restore(file.graph, {}), opsets={**file.opsets, DOMAIN: 1})


def _restore(graph, outer):
    """The graph with its nodes and those of graphs that they hold restored; `outer`: constants around it."""
    constants = {**outer, **graph.constants}
    nodes, producers = [], {}
    for node in graph.nodes:
        if node.graphs:
            held = {name: _restore(inner, constants) for name, inner in node.graphs.items()}
            node = replace(node, attributes={**node.attributes, **held})
        node = _update(node, producers, constants) or node
        producers.update(dict.fromkeys(node.outputs, node))
        nodes.append(node)
    return replace(graph, nodes=_without_unread_slices(nodes, graph))


def _offset(end, start, producers, constants):
    """The name of the constant that is added to `start` to get `end`, or None."""
    total = producers.get(end)
    if total is None or total.domain or total.op_type != "Add" or start not in total.inputs:
        return None
    a, b = total.inputs
    size = b if a == start else a
    return size if size in constants else None


def _update(node, producers, constants):
    """DynamicUpdateSlice in place of a Concat of what is before an update, the update and what is after it, or None."""
    if node.domain or node.op_type != "Concat" or len(node.inputs) != 3:
        return None
    before, after = (producers.get(node.inputs[i]) for i in (0, 2))
    if any(part is None or part.op_type != "Slice" or len(part.inputs) != 4 for part in (before, after)):
        return None
    x, zero, start, axes = before.inputs
    if after.inputs[0] != x or not _is(constants.get(zero), 0) or not _is(constants.get(axes), node.attributes["axis"]):
        return None
    if after.inputs[3] != axes or _offset(after.inputs[1], start, producers, constants) is None:
        return None
    inputs = (x, node.inputs[1], start)
    return Node(node.name, "DynamicUpdateSlice", DOMAIN, "", inputs, node.outputs, {"axis": node.attributes["axis"]})


def _is(array, number):
    return array is not None and array.size == 1 and int(np.reshape(array, ())) == number


def _without_unread_slices(nodes, graph: Graph):
    """The nodes without those Slices whose results nobody reads any more."""
    read, kept = {value.name for value in graph.outputs}, []
    for node in reversed(nodes):
        if node.op_type == "Slice" and not node.domain and not read.intersection(node.outputs):
            continue
        read.update(names_read(node))
        kept.append(node)
    return tuple(reversed(kept))


@operator("DynamicUpdateSlice", domain=DOMAIN)
def _dynamic_update_slice(call, x, update, start):
    return lax.dynamic_update_slice_in_dim(jnp.asarray(x), update, jnp.reshape(start, ()), call["axis"])
