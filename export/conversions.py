"""Smaller or quicker forms of an artefact: optimised ahead of time, float16, dynamic int8, weights kept as bfloat16.

`optimised` uses a session of ours.  float16 and int8 are made by ONNX Runtime's own tools in a process of their own:
they import its Python package, which this process must not.  bfloat16 is made by tracing again (`storing`): weights
and parameters are kept in bfloat16 and widened where they are used, so arithmetic stays in float32.
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
from onax.export import api, artifact

BFLOAT16 = np.dtype(dtypes.bfloat16)

# Largest difference from the function, relative to the largest value, that these forms are expected to keep to.
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
    """The artefact computing in float16; arguments and results keep their dtypes."""
    return _converted(exported, _TO_FLOAT16, "float16")


def to_int8(exported):
    """The artefact with the weights of its matrix products in int8, quantised as they are used."""
    return _converted(exported, _TO_INT8, "int8")


def _converted(exported, program, what):
    with tempfile.TemporaryDirectory() as folder:
        before, after = os.path.join(folder, "before.onnx"), os.path.join(folder, "after.onnx")
        exported.save(before)
        done = subprocess.run([sys.executable, "-c", program, before, after], capture_output=True, text=True)
        if done.returncode:
            fault = done.stderr.strip().splitlines()[-1:] or ["no word"]
            raise ExportError(f"ONNX Runtime's tool could not convert the model to {what}: {fault[0]}")
        return _resealed(exported, artifact.read_file(after))


def optimised(exported):
    """The artefact with constants folded and nodes fused by ONNX Runtime, standard operators alone."""
    with tempfile.TemporaryDirectory() as folder:
        after = os.path.join(folder, "after.onnx")
        exported.session({"optimization": 1, "save_optimized": after})
        return _resealed(exported, artifact.read_file(after))


def _resealed(exported, raw):
    """An Exported of another model with the same signature; ExportError if it is not one of standard operators."""
    model = lazy.onnx.load_model_from_string(raw)
    used = {node.domain for node in model.graph.node} - {"", "ai.onnx"}
    if used:
        raise ExportError(f"the converted model has operators that are no standard: of {', '.join(sorted(used))}")
    _sort_nodes(model.graph)
    del model.metadata_props[:]
    kept = [o for o in model.opset_import if o.domain in ("", "ai.onnx")]
    del model.opset_import[:]
    model.opset_import.extend(kept)
    return api.deserialize(artifact.seal(model.SerializeToString(), exported._entries))


def _sort_nodes(graph):
    """Puts nodes after those whose results they read, as ONNX demands and the converters do not keep to."""
    made = {name for node in graph.node for name in node.output if name}
    waiting, done, ordered = list(graph.node), set(), []
    while waiting:
        ready = [n for n in waiting if all(x in done or x not in made for x in _read_by(n))]
        if not ready:
            raise ExportError("the converted model has nodes that read one another's results")
        ordered += ready
        done |= {name for node in ready for name in node.output}
        taken = {id(n) for n in ready}
        waiting = [n for n in waiting if id(n) not in taken]
    copies = [lazy.onnx.NodeProto.FromString(n.SerializeToString()) for n in ordered]
    del graph.node[:]
    graph.node.extend(copies)


def _read_by(node):
    """Names that a node reads, in its subgraphs too."""
    names = set(node.input)
    for attribute in node.attribute:
        for inner in (attribute.g, *attribute.graphs):
            for other in inner.node:
                names |= _read_by(other)
    return names


# --- bfloat16 -----------------------------------------------------------------------------------------------------


def storing(fun, args, kwargs):
    """(function, args, kwargs) in which float32 weights are bfloat16 and widened to float32 before they are used.

    Weights are the arrays of rank 1 and more that the function closes over, and the float32 leaves of its arguments
    that stand in a tree (a dictionary or list of parameters); arrays given by themselves keep their dtype.
    """
    jaxpr, out_tree, _ = stage(fun, args, kwargs, traced_for="export")
    stored = [_narrowed(c) for c in jaxpr.consts]

    def widened(*new_args, **new_kwargs):
        leaves, _ = tree_flatten((new_args, new_kwargs))
        flat = [_widened(x, v.aval.dtype) for x, v in zip(leaves, jaxpr.invars)]
        consts = [_widened(c, v.aval.dtype) for c, v in zip(stored, jaxpr.constvars)]
        return tree_unflatten(out_tree, eval_jaxpr(jaxpr, consts, *flat))

    widened.__name__ = getattr(fun, "__name__", "function")
    widened.__wrapped__ = fun
    return widened, tuple(map(_narrowed_types, args)), {k: _narrowed_types(v) for k, v in kwargs.items()}


def widening(fun, args, kwargs):
    """The function on arguments that `storing` made bfloat16: what such a model is compared with."""
    wanted = [x.dtype for x in tree_flatten((args, kwargs))[0]]

    def widened(*new_args, **new_kwargs):
        leaves, tree = tree_flatten((new_args, new_kwargs))
        new_args, new_kwargs = tree_unflatten(tree, [_widened(x, dtype) for x, dtype in zip(leaves, wanted)])
        return fun(*new_args, **new_kwargs)

    return widened


def _narrowed(x):
    if np.ndim(x) and x.dtype == np.float32:
        return make_array(np.asarray(x).astype(BFLOAT16))
    return x


def _widened(x, dtype):
    return convert_element_type(x, dtype) if x.dtype == BFLOAT16 and dtype != BFLOAT16 else x


def _narrowed_types(argument):
    """Types of one argument: a tree of parameters is stored in bfloat16."""
    leaves, tree = tree_flatten(argument)
    if tree.num_nodes == 1 and len(leaves) == 1:
        return argument
    return tree_map(
        lambda x: ShapeDtypeStruct(x.shape, BFLOAT16) if len(x.shape) and x.dtype == np.float32 else x, argument
    )
