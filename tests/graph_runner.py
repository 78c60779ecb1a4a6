"""Runs a graph that a function builds, on ONNX Runtime."""

import onnx

from onax._ground import onnx_runtime
from onax._native import ort
from onax.export.graph import proto
from onax.export.graph.value import Graph


def run(build, *arrays, opset=21):
    """Runs `build(graph, *values)`; also has onnx check the model with its types and shapes."""
    ort.attach(onnx_runtime.find_runtime().library)
    g = Graph(opset)
    values = [g.input(f"x{i}", (a.shape, a.dtype)) for i, a in enumerate(arrays)]
    results = build(g, *values)
    results = results if isinstance(results, tuple) else (results,)
    for i, value in enumerate(results):
        g.output(f"y{i}", value)
    onnx.checker.check_model(onnx.load_from_string(proto.to_model(g)), full_check=True)
    data, ins, outs, shared = proto.to_session(g)
    got = ort.Session(data, ins, outs, initializers=shared).run(list(arrays))
    for y, value in zip(got, results):
        assert (y.shape, y.dtype) == (value.shape, value.dtype)
    return got[0] if len(got) == 1 else got
