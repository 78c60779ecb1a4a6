"""Runs the ONNX form of one primitive on ONNX Runtime, and what the primitive's own kernel gives for comparison."""

import numpy as np

from onax._ground import onnx_runtime
from onax._ground.config import enable_x64
from onax._native import ort
from onax._native.avals import ShapedArray
from onax.export.graph.passes import run
from onax.export.graph.proto import to_session
from onax.export.graph.value import Graph
from onax.export.lower import registry

NEWEST = 26
OPSETS = (18, 21, NEWEST)


def graph_of(primitive, operands, params, opset=21, constants=()):
    """The Graph of one primitive on these ndarrays; operands at the positions in `constants` are known to it."""
    g = Graph(opset)
    avals = [ShapedArray(x.shape, x.dtype) for x in operands]
    values = [g.const(x) if i in constants else g.input(f"in.{i}", avals[i]) for i, x in enumerate(operands)]
    with enable_x64(True):
        out = primitive.abstract_eval(*avals, **params)
    results = registry.lowering[primitive](g, list(out) if primitive.multiple_results else out, *values, **params)
    pairs = zip(results, out) if primitive.multiple_results else [(results, out)]
    for i, (value, aval) in enumerate(pairs):
        assert (value.shape, value.dtype) == (aval.shape, aval.dtype)
        g.output(f"out.{i}", value)
    return run(g)


def run_graph(g, operands):
    """The outputs of a graph, as ndarrays."""
    ort.attach(onnx_runtime.find_runtime().library)
    model, inputs, outputs, shared = to_session(g)
    return ort.Session(model, inputs, outputs, initializers=shared).run(list(operands))


def run_lowering(primitive, operands, params, opset=21, constants=()):
    """The primitive's results through its ONNX form, as ndarrays."""
    operands = [np.asarray(x) for x in operands]
    g = graph_of(primitive, operands, params, opset, constants)
    return run_graph(g, [x for i, x in enumerate(operands) if i not in constants])


def run_kernel(primitive, operands, params):
    """The primitive's results through its kernel, as ndarrays."""
    with enable_x64(True):
        out = primitive.bind(*[np.asarray(x) for x in operands], **params)
    return [np.asarray(x) for x in (out if primitive.multiple_results else (out,))]


def operators(primitive, operands, params, opset=21, constants=()):
    """The operators of the ONNX form, in order."""
    operands = [np.asarray(x) for x in operands]
    return [node.op_type for node in graph_of(primitive, operands, params, opset, constants).nodes]
