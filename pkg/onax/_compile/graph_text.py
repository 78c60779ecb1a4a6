"""The text of an ONNX graph, its ModelProto, and its nodes that run kernels of this process."""

from onax._ground import lazy
from onax._native.tape import TapeNode
from onax.export.graph import proto
from onax.export.graph.value import Graph


def graph_text(graph):
    """A graph as text: typed inputs, one line for each node with its attributes, results."""
    if graph is None:
        return "graph () => ()\n"
    lines = [f"graph ({_typed(graph.inputs)}) => ({_typed(graph.outputs)}) <opset {graph.opset}> {{"]
    for node in graph.nodes:
        outputs = _typed(node.outputs)
        inputs = ", ".join("" if v is None else _operand(v) for v in node.inputs)
        attributes = ", ".join(f"{k} = {_attribute(v)}" for k, v in node.attributes.items())
        domain = f"{node.domain}." if node.domain else ""
        lines.append(f"    {outputs} = {domain}{node.op_type}{f' <{attributes}>' if attributes else ''} ({inputs})")
    return "\n".join([*lines, "}", ""])


def _typed(values):
    return ", ".join(f"{v.aval.str_short(short_dtypes=True)} {v.name}" for v in values)


def _operand(value):
    return repr(value.const.tolist()) if value.const is not None and value.const.size <= 8 else value.name


def _attribute(value):
    return f"{{{len(value.nodes)} nodes}}" if isinstance(value, Graph) else repr(value)


def model_proto(graph):
    """A graph as an onnx.ModelProto, or None."""
    return None if graph is None else lazy.onnx.load_model_from_string(proto.to_model(graph))


def host_nodes(graph):
    """What runs the kernel of a primitive, in branches and loop bodies too: names of nodes, or of kernels on tapes."""
    nodes = [n for n in proto.all_nodes(graph) if n.domain == "onax"] if graph is not None else ()
    names = []
    for node in nodes:
        kernel = node.attributes["kernel"].kernel
        names += _kernel_names(kernel) if type(kernel) is TapeNode else [node.name]
    return names


def _kernel_names(node):
    return [f"{kernel.name}_{i}" for i, kernel in enumerate(node.tape.kernels)]
