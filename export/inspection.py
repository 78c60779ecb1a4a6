"""The contents of an artefact: signature, operators, sizes, dimensions, and the source line of each node."""

import os
from collections import Counter

from onax.export import nodes, report


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
        "lines": lines_of_source(model),
    }


def to_text(data):
    """The lines of text that `inspect` prints."""
    lines = [
        f"{data['function']}  (opset {data['opset']}, IR version {data['ir_version']}, onax {data['onax']})",
        f"source  {data['source']}",
    ]
    for side in ("inputs", "outputs"):
        lines.append(side)
        width = max((len(x["name"]) for x in data[side]), default=0)
        lines += [f"  {x['name']:<{width}}  {x['type']}" for x in data[side]]
    if data["symbolic_dimensions"]:
        lines.append(f"symbolic dimensions  {', '.join((*data['symbolic_dimensions'], *data['constraints']))}")
    lines.append(f"parameters  {data['parameters']:,} in {data['parameter_bytes']:,} bytes")
    lines.append(f"file  {data['file_bytes']:,} bytes")
    lines.append(f"nodes  {data['nodes']}")
    lines += [f"  {n:>6}  {op}" for op, n in data["operators"].items()]
    if data["lines"]:
        lines.append("lines")
        lines += [f"  {line}: {_operator_counts(operators)}" for line, operators in data["lines"].items()]
    return lines


def _operator_counts(operators):
    return ", ".join(op if n == 1 else f"{op} {n}" for op, n in Counter(operators).items())
