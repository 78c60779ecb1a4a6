"""Encodes a finished graph as a ModelProto.

to_model(graph)      the bytes of a file: with all constants, types of values, and source locations in doc_strings
to_session(graph)    the arguments of `onax._native.ort.Session`: minimal bytes, ports, large constants by reference
"""

import functools
import re

from onax._ground import source
from onax._native.protobuf import ELEMENT_TYPES, model_bytes
from onax.export.graph.value import SMALL_BYTES, Graph

# The lowest IR version for each opset.  The onnx package writes a newer one by default, which the runtime refuses.
_IR_VERSIONS = {18: 8, 19: 9, 20: 9, 21: 10, 22: 10, 23: 11, 24: 12, 25: 13, 26: 13}
LOWEST_OPSET, NEWEST_OPSET = min(_IR_VERSIONS), max(_IR_VERSIONS)


def _opsets(graph):
    return [("", graph.opset), *graph.model.domains.items()]


def _intermediate(graph):
    """The values of the outermost graph that are not inputs, outputs or constants."""
    known = {id(v) for v in (*graph.inputs, *graph.outputs)}
    return [v for node in graph.nodes for v in node.outputs if id(v) not in known]


def to_model(graph, *, name="main", metadata=None, doc="", producer_version="", locations=True, stated=True):
    """The model's bytes for a file, with all constants inside."""
    return to_parts(graph, None, None, name=name, metadata=metadata, doc=doc, producer_version=producer_version,
                    locations=locations, stated=stated)[0]  # fmt: skip


def to_parts(graph, over, location, *, name="main", metadata=None, doc="", producer_version="", locations=True,
             stated=True):  # fmt: skip
    """(the model's bytes, {name: array} of the constants of more than `over` bytes, for the file `location`).

    locations   write the source location of each node into its doc_string
    stated      write the types of all values, not only of those whose types cannot be inferred
    """
    paths = functools.cache(source.portable_path)
    return model_bytes(
        graph,
        ir_version=_IR_VERSIONS[graph.opset],
        opsets=_opsets(graph),
        name=name,
        stated=_intermediate(graph) if stated else None,
        metadata=metadata,
        producer_version=producer_version,
        doc=doc,
        share_over=over,
        share_location=location,
        location_text=functools.partial(source.summarize, path=paths) if locations else None,
    )


def _port(value):
    return value.name, ELEMENT_TYPES[value.aval.dtype], value.aval.shape


def to_session(graph):
    """(bytes, inputs, outputs, initializers) for a Session: constants over 1 kB stay outside the bytes."""
    data, shared = model_bytes(
        graph,
        ir_version=_IR_VERSIONS[graph.opset],
        opsets=_opsets(graph),
        share_over=SMALL_BYTES,
    )
    return data, [_port(v) for v in graph.inputs], [_port(v) for v in graph.outputs], shared


def optimization_level(graph):
    """The runtime's optimization level for a graph.

    Level 1 does not change results.  Higher levels make session creation slower (measured for 72 nodes: 4.4 instead of
    3.0 ms) and ordinary graphs no faster; convolutions profit from the blocked layout of the highest level.
    """
    return 99 if any(n.op_type in ("Conv", "ConvTranspose") for n in graph.nodes) else 1


def all_nodes(graph):
    """Yields the nodes of a graph and of its subgraphs."""
    for node in graph.nodes:
        yield node
        for x in node.attributes.values():
            if type(x) is Graph:
                yield from all_nodes(x)


def named_node(graph, text):
    """The first node with a location that an error message names in quotes, or None.

    The runtime names a fused node after the first of its nodes, followed by a slash and more.
    """
    nodes = {node.name: node for node in all_nodes(graph) if node.location is not None}
    for quoted in re.findall("'([^']+)'", text):
        node = nodes.get(quoted.split("/")[0])
        if node is not None:
            return node
    return None


def locate(graph, text):
    """The source location of the node that an error message names, or None."""
    node = named_node(graph, text)
    return None if node is None else source.summarize(node.location)
