"""Ahead-of-time export to standard ONNX files.

    exported = onax.export.export(fun)(*args)       arrays, or ShapeDtypeStructs with symbolic dimensions
    exported.save("fun.onnx")                       a file that ONNX Runtime runs without onax
    onax.export.load("fun.onnx").call(*args)        or onax, as a function of trees

The names are those of `jax.export`; `Exported.onnx_model` takes the place of its `mlir_module`.
"""

import importlib
import os

from onax._ground import source

source.register_folder(os.path.dirname(__file__))

# `jit` imports `onax.export.lower` and needs none of these names, so their modules are imported on first access.
_HOMES = {
    "DisabledSafetyCheck": "platforms",
    "Exported": "api",
    "SymbolicScope": "shapes",
    "default_export_platform": "api",
    "deserialize": "api",
    "export": "api",
    "is_symbolic_dim": "shapes",
    "load": "api",
    "maximum_supported_calling_convention_version": "platforms",
    "minimum_supported_calling_convention_version": "platforms",
    "register_namedtuple_serialization": "artifact",
    "register_pytree_node_serialization": "artifact",
    "save": "api",
    "symbolic_args_specs": "shapes",
    "symbolic_dim_bounds": "shapes",
    "symbolic_shape": "shapes",
}

__all__ = [
    "DisabledSafetyCheck",
    "Exported",
    "SymbolicScope",
    "default_export_platform",
    "deserialize",
    "export",
    "is_symbolic_dim",
    "load",
    "maximum_supported_calling_convention_version",
    "minimum_supported_calling_convention_version",
    "register_namedtuple_serialization",
    "register_pytree_node_serialization",
    "save",
    "symbolic_args_specs",
    "symbolic_dim_bounds",
    "symbolic_shape",
]


def __getattr__(name):
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'onax.export' has no attribute {name!r}")
    return getattr(importlib.import_module(f"onax.export.{home}"), name)


def __dir__():
    return [*globals(), *__all__]
