"""The contents of an artefact: signature, operators, sizes, dimensions, and the source line of each node."""

import math
import os
from collections import Counter

from onax._ground import lazy
from onax._ground.errors import ArtifactError
from onax.export import external, nodes, report
from onax.export.artifact import DAMAGE, check_texts


def weights(model, exported):
    """(number of elements, number of bytes) of a model's constants."""
    count = report.stored_numbers(model)
    inside = sum(len(t.raw_data) for t in model.graph.initializer)
    return count, inside + sum(a.nbytes for a in exported._arrays.values())


def lines_of_source(model):
    """{source line of the user: operators of its nodes}, in the order of the nodes, including subgraphs."""
    lines = {}
    for node in nodes.walk(model.graph):
        if node.doc_string:
            lines.setdefault(node.doc_string, []).append(node.op_type)
    return lines


def to_data(exported, path=None):
    """The data that `inspect` prints, as dictionaries and lists."""
    model = exported.onnx_model
    count, size = weights(model, exported)
    sides = {}
    for side, names, avals in (
        ("inputs", exported.in_names, exported.in_avals),
        ("outputs", exported.out_names, exported.out_avals),
    ):
        sides[side] = [{"name": n, "type": a.str_short(short_dtypes=True)} for n, a in zip(names, avals)]
    return {
        "function": exported.fun_name,
        "source": exported.source,
        "onax": exported._entries.get("onax.version", ""),
        "opset": exported.opset,
        "ir_version": model.ir_version,
        **sides,
        "symbolic_dimensions": list(exported.symbolic_dimensions),
        "constraints": list(exported.constraints),
        "nodes": sum(report.operators(model).values()),
        "operators": report.operators(model),
        "parameters": count,
        "parameter_bytes": size,
        "file_bytes": os.path.getsize(path) if path else len(exported.onnx_model_serialized),
        "external_files": external.second_files(model, path),
        "lines": lines_of_source(model),
    }


def model_to_data(model, size, path=None):
    """What `inspect` prints of a model that another program wrote, from its ModelProto, its bytes and its path."""
    check_texts(model)
    try:
        return _model_to_data(model, size, path)
    except ArtifactError:
        raise
    except DAMAGE as error:
        raise ArtifactError(f"this ONNX model is damaged: {str(error)[:200] or type(error).__name__}") from error


def _model_to_data(model, size, path):
    constants = {tensor.name for tensor in model.graph.initializer}
    sides = {"inputs": [p for p in model.graph.input if p.name not in constants], "outputs": model.graph.output}
    symbols = {d.dim_param: None for ports in sides.values() for p in ports for d in p.type.tensor_type.shape.dim}
    return {
        "function": model.graph.name,
        "producer": f"{model.producer_name} {model.producer_version}".strip(),
        "opset": next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), 0),
        "opsets": {o.domain or "ai.onnx": o.version for o in model.opset_import},
        "ir_version": model.ir_version,
        **{side: [{"name": port.name, "type": _port_type(port)} for port in ports] for side, ports in sides.items()},
        "symbolic_dimensions": [name for name in symbols if name],
        "constraints": [],
        "nodes": sum(report.operators(model).values()),
        "operators": report.operators(model),
        "parameters": sum(math.prod(tensor.dims) for tensor in model.graph.initializer),
        "parameter_bytes": sum(_tensor_bytes(tensor) for tensor in model.graph.initializer),
        "file_bytes": size,
        "external_files": external.second_files(model, path),
        "lines": lines_of_source(model),
    }


def _port_type(port):
    """The type of an input or output as text, such as f32[batch,3]; the kind of type, if it is no tensor."""
    kind = port.type.WhichOneof("value")
    if kind != "tensor_type":
        return kind or "?"
    tensor = port.type.tensor_type
    name = lazy.onnx.TensorProto.DataType.Name(tensor.elem_type).lower() if tensor.elem_type else "?"
    short = name.replace("float", "f").replace("uint", "u").replace("int", "i").replace("double", "f64")
    short = "f32" if short == "f" else short
    if not tensor.HasField("shape"):
        return short
    dims = [d.dim_param or (str(d.dim_value) if d.HasField("dim_value") else "?") for d in tensor.shape.dim]
    return f"{short}[{','.join(dims)}]"


def _tensor_bytes(tensor):
    """Bytes of the elements of a tensor, wherever they are."""
    if tensor.raw_data:
        return len(tensor.raw_data)
    try:
        return math.prod(tensor.dims) * lazy.onnx_helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize
    except KeyError:  # an element type that ONNX does not have
        return 0


def to_text(data):
    """The lines of text that `inspect` prints."""
    lines = [f"{data['function']}  (opset {data['opset']}, IR version {data['ir_version']}, {_writer(data)})"]
    if "source" in data:
        lines.append(f"source  {data['source']}")
    for side in ("inputs", "outputs"):
        lines.append(side)
        width = max((len(x["name"]) for x in data[side]), default=0)
        lines += [f"  {x['name']:<{width}}  {x['type']}" for x in data[side]]
    if data["symbolic_dimensions"]:
        lines.append(f"symbolic dimensions  {', '.join((*data['symbolic_dimensions'], *data['constraints']))}")
    lines.append(f"parameters  {data['parameters']:,} in {data['parameter_bytes']:,} bytes")
    lines.append(f"file  {data['file_bytes']:,} bytes")
    for name, size in data["external_files"].items():
        lines.append(f"  {name}  {'missing' if size is None else f'{size:,} bytes'}")
    lines.append(f"nodes  {data['nodes']}")
    lines += [f"  {n:>6}  {op}" for op, n in data["operators"].items()]
    if data["lines"]:
        lines.append("lines")
        lines += [f"  {line}: {_operator_counts(operators)}" for line, operators in data["lines"].items()]
    return lines


def _writer(data):
    """What wrote a file."""
    return f"onax {data['onax']}" if "onax" in data else f"by {data['producer'] or 'an unknown program'}"


def _operator_counts(operators):
    return ", ".join(op if n == 1 else f"{op} {n}" for op, n in Counter(operators).items())
