"""A finished graph as a ModelProto.

to_model(graph)      a file's bytes: every constant inside, doc_strings with the user's lines, types stated
to_session(graph)    what `onax._native.ort.Session` takes: lean bytes, ports, and the large constants by reference
"""

import re

from onax._ground import source
from onax._native.protobuf import ELEMENT_TYPES, model_bytes
from onax.export.graph.value import SMALL_BYTES, Graph

# The lowest IR version that allows an opset.  The onnx package's own default is newer than the runtime loads.
_IR_VERSIONS = {18: 8, 19: 9, 20: 9, 21: 10, 22: 10, 23: 11, 24: 12, 25: 13, 26: 13}
LOWEST_OPSET, NEWEST_OPSET = min(_IR_VERSIONS), max(_IR_VERSIONS)


def _opsets(graph):
    return [("", graph.opset), *graph.model.domains.items()]


def _intermediate(graph):
    """Every value of the outermost graph that is no input, output or constant."""
    known = {id(v) for v in (*graph.inputs, *graph.outputs)}
    return [v for node in graph.nodes for v in node.outputs if id(v) not in known]


def to_model(graph, *, name="main", metadata=None, doc="", producer_version="", locations=True, stated=True):
    """The model's bytes, for a file, all constants inside."""
    return to_parts(graph, None, None, name=name, metadata=metadata, doc=doc, producer_version=producer_version,
                    locations=locations, stated=stated)[0]  # fmt: skip


def to_parts(graph, over, location, *, name="main", metadata=None, doc="", producer_version="", locations=True,
             stated=True):  # fmt: skip
    """(the model's bytes, {name: array} of the constants of more than `over` bytes, to stand in the file `location`).

    locations   each node's doc_string says which line of the user's program it comes from
    stated      the types of all values are written, not only those that nobody can infer
    """
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
        location_text=source.summarize if locations else None,
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
    """The runtime's optimisation level for a graph.

    1: what leaves results as they are.  Higher levels cost a third more of the session's creation (measured: 72 nodes,
    3.0 against 4.4 ms) and run ordinary graphs no faster; convolutions are worth the blocked layout of the highest.
    """
    return 99 if any(n.op_type in ("Conv", "ConvTranspose") for n in graph.nodes) else 1


def all_nodes(graph):
    """Nodes of a graph and of the subgraphs in it."""
    for node in graph.nodes:
        yield node
        for x in node.attributes.values():
            if type(x) is Graph:
                yield from all_nodes(x)


def locate(graph, text):
    """The location of the first node that an error's text names in quotes, or None.

    A node that the runtime made of several is named after the first of them, with more behind a slash.
    """
    locations = {node.name: node.location for node in all_nodes(graph) if node.location is not None}
    for quoted in re.findall("'([^']+)'", text):
        location = locations.get(quoted.split("/")[0])
        if location is not None:
            return source.summarize(location)
    return None
