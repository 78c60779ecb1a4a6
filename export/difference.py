"""How two ONNX files differ: inputs and outputs, operators, constants, and results on the same random inputs."""

import numpy as np

from onax._ground import lazy, onnx_runtime
from onax._ground.errors import ArtifactError, BackendError
from onax._native.ort import Session
from onax.export import inspection, report

SIZE = 2  # of dimensions that the files leave open


def compare_models(first, second, seed=0):
    """The differences of two ModelProtos as dictionaries and lists.

    `same` is whether results agree; None if ONNX Runtime cannot run the models on random inputs, for the reason
    `not_run`.
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
    if not data["inputs"] and not data["outputs"]:
        try:
            data["results"] = _results(first, second, seed)
        except BackendError as error:
            data["not_run"] = str(error)
    alike = not data["inputs"] and not data["outputs"] and all(row["agrees"] for row in data["results"])
    data["same"] = None if data["not_run"] else alike
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


def _results(first, second, seed):
    """One row for each output: its largest differences, on the same random inputs."""
    inputs = _random_inputs(first, np.random.default_rng(seed))
    pairs = zip(first.graph.output, _run(first, inputs), _run(second, inputs))
    rows = [report.compare(port.name, actual, expected) for port, expected, actual in pairs]
    return [{"name": r.name, "absolute": r.absolute, "relative": r.relative, "agrees": bool(r.is_close)} for r in rows]


def _tensor_ports(ports):
    for port in ports:
        if port.type.WhichOneof("value") != "tensor_type":
            raise BackendError(f"{port.name!r} is not a tensor, so the models cannot be run on random inputs")
    return [port.type.tensor_type for port in ports]


def _inputs(model):
    constants = {tensor.name for tensor in model.graph.initializer}
    return [port for port in model.graph.input if port.name not in constants]


def _random_inputs(model, rng):
    """A random array for each input; dimensions with one name get one size."""
    arrays = []
    for tensor in _tensor_ports(_inputs(model)):
        shape = tuple(d.dim_value if d.HasField("dim_value") else SIZE for d in tensor.shape.dim)
        dtype = _dtype(tensor.elem_type)
        arrays.append(np.asarray(report.random_array(rng, shape, dtype)))
    return arrays


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
