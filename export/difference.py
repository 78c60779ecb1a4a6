"""How two ONNX files differ: inputs and outputs, operators, constants, and results on the same random inputs."""

import numpy as np

from onax._ground import lazy, onnx_runtime
from onax._ground.errors import ArtifactError, BackendError
from onax._native.ort import Session
from onax.export import inspection, report

SIZE = 2  # of dimensions that the files leave open


def compare_models(first, second, seed=0):
    """The differences of two ModelProtos as dictionaries and lists.

    `same` is whether inputs, outputs and results agree; None if ONNX Runtime cannot run the models on random inputs,
    for the reason `not_run`.  Inputs and outputs of other names are compared in their order.
    """
    pair = [inspection.model_to_data(model, model.ByteSize()) for model in (first, second)]
    data = {side: _ports(pair, side) for side in ("inputs", "outputs")}
    operators = [inspected["operators"] for inspected in pair]
    names = sorted({*operators[0], *operators[1]})
    counts = {name: [side.get(name, 0) for side in operators] for name in names}
    data["nodes"] = [inspected["nodes"] for inspected in pair]
    data["opset"] = [inspected["opset"] for inspected in pair]
    data["operators"] = {name: count for name, count in counts.items() if count[0] != count[1]}
    data["constants"] = _constants(first, second)
    data["results"], data["not_run"] = [], None
    if _take_the_same(first, second):
        try:
            data["results"] = _results(first, second, seed)
        except BackendError as error:
            data["not_run"] = str(error)
    if data["inputs"] or data["outputs"]:
        data["same"] = False
    else:
        data["same"] = None if data["not_run"] else all(row["agrees"] for row in data["results"])
    return data


def _ports(pair, side):
    """[type in the first, type in the second] of inputs or outputs whose types or places differ; None: not there."""
    sides = [{port["name"]: (i, port["type"]) for i, port in enumerate(inspected[side])} for inspected in pair]
    differing = [name for name in {**sides[0], **sides[1]} if sides[0].get(name) != sides[1].get(name)]
    return {name: [s[name][1] if name in s else None for s in sides] for name in differing}


def _constants(first, second):
    """How many constants, by name, are in one model alone, in both and equal, in both and different."""
    sides = [{t.name: t for t in model.graph.initializer} for model in (first, second)]
    both = sides[0].keys() & sides[1].keys()
    changed = sorted(name for name in both if _content(sides[0][name]) != _content(sides[1][name]))
    return {"only_first": len(sides[0]) - len(both), "only_second": len(sides[1]) - len(both), "changed": changed}


def _content(tensor):
    return tensor.data_type, tuple(tensor.dims), tensor.raw_data or tensor.SerializeToString()


def _take_the_same(first, second):
    """Whether one list of arrays can be given to both models, and their results be compared one by one."""
    sides = [(_inputs(model), list(model.graph.output)) for model in (first, second)]
    if any(len(a) != len(b) for a, b in zip(*sides)):
        return False
    (inputs, outputs), (others, their_outputs) = sides
    return all(map(_fit, inputs, others)) and all(
        a.type.tensor_type.elem_type == b.type.tensor_type.elem_type for a, b in zip(outputs, their_outputs)
    )


def _fit(a, b):
    """Whether an array can be an input of both types."""
    a, b = a.type.tensor_type, b.type.tensor_type
    sizes = zip(a.shape.dim, b.shape.dim)
    return (a.elem_type, len(a.shape.dim)) == (b.elem_type, len(b.shape.dim)) and not any(
        d.HasField("dim_value") and e.HasField("dim_value") and d.dim_value != e.dim_value for d, e in sizes
    )


def _results(first, second, seed):
    """One row for each output: its largest differences, on the same random inputs."""
    inputs = _random_inputs(first, second, np.random.default_rng(seed))
    pairs = zip(first.graph.output, second.graph.output, _run(first, inputs), _run(second, inputs))
    rows = []
    for port, other, expected, actual in pairs:
        name = port.name if port.name == other.name else f"{port.name} -> {other.name}"
        rows.append(report.compare(name, actual, expected))
    return [{"name": r.name, "absolute": r.absolute, "relative": r.relative, "agrees": bool(r.is_close)} for r in rows]


def _tensor_ports(ports):
    for port in ports:
        if port.type.WhichOneof("value") != "tensor_type":
            raise BackendError(f"{port.name!r} is not a tensor, so the models cannot be run on random inputs")
    return [port.type.tensor_type for port in ports]


def _inputs(model):
    constants = {tensor.name for tensor in model.graph.initializer}
    return [port for port in model.graph.input if port.name not in constants]


def _random_inputs(first, second, rng):
    """A random array for each input; dimensions with one name get one size, that of the other model if it has one."""
    sides = [_tensor_ports(_inputs(model)) for model in (first, second)]
    pairs = [list(zip(a.shape.dim, b.shape.dim)) for a, b in zip(*sides)]
    sizes = {}
    for open_, fixed in ((d, e) for dims in pairs for pair in dims for d, e in (pair, pair[::-1])):
        if open_.dim_param and fixed.HasField("dim_value"):
            sizes[open_.dim_param] = fixed.dim_value
    arrays = []
    for tensor, dims in zip(sides[0], pairs):
        shape = tuple(_size(d, e, sizes) for d, e in dims)
        dtype = _dtype(tensor.elem_type)
        arrays.append(np.asarray(report.random_array(rng, shape, dtype)))
    return arrays


def _size(d, e, sizes):
    """The size of a dimension that is `d` in one model and `e` in the other."""
    fixed = next((side.dim_value for side in (d, e) if side.HasField("dim_value")), None)
    named = next((sizes[side.dim_param] for side in (d, e) if side.dim_param in sizes), SIZE)
    return named if fixed is None else fixed


def _dtype(elem_type):
    try:
        dtype = np.dtype(lazy.onnx_helper.tensor_dtype_to_np_dtype(elem_type))
    except KeyError as error:
        raise ArtifactError(f"this ONNX model has an input of the element type {elem_type}, which is none") from error
    if dtype.hasobject:
        raise BackendError("an input holds strings, so the models cannot be run on random inputs")
    return dtype


def _run(model, arrays):
    """The outputs of a model in ONNX Runtime."""
    onnx_runtime.attach_runtime()
    inputs = _inputs(model)
    ins = [(p.name, t.elem_type, a.shape) for p, t, a in zip(inputs, _tensor_ports(inputs), arrays)]
    outs = []
    for port, tensor in zip(model.graph.output, _tensor_ports(model.graph.output)):
        outs.append((port.name, tensor.elem_type, (None,) * len(tensor.shape.dim)))
    try:
        return Session(model.SerializeToString(), ins, outs).run(arrays)
    except RuntimeError as error:
        raise BackendError(f"ONNX Runtime refused the model {model.graph.name!r}. {error}") from error


def to_text(data):
    """The lines of text that `diff` prints."""
    lines = []
    for side in ("inputs", "outputs"):
        lines += [f"{side[:-1]}  {name}: {_or_nothing(a)} -> {_or_nothing(b)}" for name, (a, b) in data[side].items()]
    for what in ("opset", "nodes"):
        first, second = data[what]
        lines.append(f"{what}  {first}" + ("" if first == second else f" -> {second}"))
    lines += [f"  {name}: {first} -> {second}" for name, (first, second) in data["operators"].items()]
    constants = data["constants"]
    lines.append(
        f"constants  {constants['only_first']} in the first alone, {constants['only_second']} in the second alone, "
        f"{len(constants['changed'])} changed"
    )
    lines += [f"  {name}" for name in constants["changed"]]
    if data["results"]:
        lines.append("results on the same random inputs")
    for row in data["results"]:
        verdict = "agrees" if row["agrees"] else "DIFFERS"
        lines.append(f"  {row['name']}  {verdict}  absolute {row['absolute']:.2e}, relative {row['relative']:.2e}")
    return lines


def _or_nothing(type_):
    return type_ or "nothing"
