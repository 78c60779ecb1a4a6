"""Smaller or quicker forms of an artefact: optimized ahead of time, float16, dynamic int8, weights stored as bfloat16.

`optimize` uses a session of onax.  ONNX Runtime's own tools make float16 and int8, in a subprocess: they import the
Python package of ONNX Runtime, which must not be imported into this process.  `store_as_bfloat16` traces the function
again: weights and parameters are stored in bfloat16 and converted to float32 before they are used.
"""

import os
import subprocess
import sys
import tempfile

import numpy as np

from onax._core.evaluate import eval_jaxpr
from onax._ground import dtypes, lazy
from onax._ground.errors import ExportError
from onax._native.array import make_array
from onax._native.tree import tree_flatten, tree_map, tree_unflatten
from onax._prims.convert import convert_element_type
from onax._transforms.abstract import ShapeDtypeStruct, stage
from onax.export import api, artifact, nodes

BFLOAT16 = np.dtype(dtypes.bfloat16)

# Largest expected difference of these forms from the function, relative to the largest value of a result.
TOLERANCES = {"float16": 2e-2, "bfloat16": 1e-1, "int8": 1e-1}

_TO_FLOAT16 = """
import sys, onnx
from onnxruntime.transformers.float16 import convert_float_to_float16
onnx.save(convert_float_to_float16(onnx.load(sys.argv[1]), keep_io_types=True), sys.argv[2])
"""
_TO_INT8 = """
import logging, sys
logging.disable(logging.WARNING)
from onnxruntime.quantization import QuantType, quantize_dynamic
quantize_dynamic(sys.argv[1], sys.argv[2], weight_type=QuantType.QInt8)
"""


def to_float16(exported):
    """The artefact converted to compute in float16; arguments and results keep their dtypes."""
    return _convert_in_subprocess(exported, _TO_FLOAT16, "float16")


def to_int8(exported):
    """The artefact with the weights of its matrix products in int8 (dynamic quantization)."""
    return _convert_in_subprocess(exported, _TO_INT8, "int8")


def _convert_in_subprocess(exported, program, what):
    with tempfile.TemporaryDirectory() as folder:
        before, after = os.path.join(folder, "before.onnx"), os.path.join(folder, "after.onnx")
        exported.save(before)
        done = subprocess.run([sys.executable, "-c", program, before, after], capture_output=True, text=True)
        if done.returncode:
            fault = done.stderr.strip().splitlines()[-1:] or ["no word"]
            raise ExportError(f"ONNX Runtime's tool could not convert the model to {what}: {fault[0]}")
        return _with_model(exported, artifact.read_file(after))


def optimize(exported):
    """The artefact after ONNX Runtime folded constants and fused nodes; it has standard operators only."""
    with tempfile.TemporaryDirectory() as folder:
        after = os.path.join(folder, "after.onnx")
        exported.session({"optimization": 1, "save_optimized": after})
        return _with_model(exported, artifact.read_file(after))


def _with_model(exported, raw):
    """An Exported of another model with the same signature; ExportError if it has operators that are not standard."""
    model = lazy.onnx.load_model_from_string(raw)
    used = {node.domain for node in model.graph.node} - {"", "ai.onnx"}
    if used:
        raise ExportError(f"the converted model has nonstandard operators from {', '.join(sorted(used))}")
    _sort_nodes(model.graph)
    del model.metadata_props[:]
    imports = [o for o in model.opset_import if o.domain in ("", "ai.onnx")]
    del model.opset_import[:]
    model.opset_import.extend(imports)
    return api.deserialize(artifact.seal(model.SerializeToString(), exported._entries))


def _sort_nodes(graph):
    """Sorts nodes topologically: ONNX requires it, and the converters do not keep it."""
    made = {name for node in graph.node for name in node.output if name}
    waiting, done, ordered = list(graph.node), set(), []
    while waiting:
        ready = [n for n in waiting if all(x in done or x not in made for x in _names_read(n))]
        if not ready:
            raise ExportError("the converted model has a cycle")
        ordered += ready
        done |= {name for node in ready for name in node.output}
        taken = {id(n) for n in ready}
        waiting = [n for n in waiting if id(n) not in taken]
    copies = [lazy.onnx.NodeProto.FromString(n.SerializeToString()) for n in ordered]
    del graph.node[:]
    graph.node.extend(copies)


def _names_read(node):
    """Names that a node reads, also in its subgraphs."""
    names = set(node.input)
    for graph in nodes.subgraphs(node):
        for inner in nodes.walk(graph):
            names.update(inner.input)
    return names


# --- bfloat16 -----------------------------------------------------------------------------------------------------


def store_as_bfloat16(fun, args, kwargs):
    """(function, args, kwargs) in which float32 weights are stored as bfloat16 and converted to float32 before use.

    Weights are the arrays of rank 1 and more that the function closes over, and the float32 leaves of arguments that
    are trees (a dictionary or list of parameters); an argument that is a single array keeps its dtype.
    """
    jaxpr, out_tree, _ = stage(fun, args, kwargs, traced_for="export")
    stored = [_narrow(c) for c in jaxpr.consts]

    def widened(*new_args, **new_kwargs):
        leaves, _ = tree_flatten((new_args, new_kwargs))
        flat = [_widen(x, v.aval.dtype) for x, v in zip(leaves, jaxpr.invars)]
        consts = [_widen(c, v.aval.dtype) for c, v in zip(stored, jaxpr.constvars)]
        return tree_unflatten(out_tree, eval_jaxpr(jaxpr, consts, *flat))

    widened.__name__ = getattr(fun, "__name__", "function")
    widened.__wrapped__ = fun
    return widened, tuple(map(_narrow_types, args)), {k: _narrow_types(v) for k, v in kwargs.items()}


def widen_bfloat16(fun, args, kwargs):
    """The function on bfloat16 arguments of `store_as_bfloat16`: the reference for such a model."""
    argument_dtypes = [x.dtype for x in tree_flatten((args, kwargs))[0]]

    def widened(*new_args, **new_kwargs):
        leaves, tree = tree_flatten((new_args, new_kwargs))
        new_args, new_kwargs = tree_unflatten(tree, [_widen(x, dtype) for x, dtype in zip(leaves, argument_dtypes)])
        return fun(*new_args, **new_kwargs)

    return widened


def _narrow(x):
    if np.ndim(x) and x.dtype == np.float32:
        return make_array(np.asarray(x).astype(BFLOAT16))
    return x


def _widen(x, dtype):
    return convert_element_type(x, dtype) if x.dtype == BFLOAT16 and dtype != BFLOAT16 else x


def _narrow_types(argument):
    """The types of one argument: float32 arrays of a tree become bfloat16."""
    leaves, tree = tree_flatten(argument)
    if tree.num_nodes == 1 and len(leaves) == 1:
        return argument
    return tree_map(
        lambda x: ShapeDtypeStruct(x.shape, BFLOAT16) if len(x.shape) and x.dtype == np.float32 else x, argument
    )
