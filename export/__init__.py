"""Ahead-of-time export to standard ONNX files.

    exported = onax.export.export(fun)(*args)       arrays, or ShapeDtypeStructs with symbolic dimensions
    exported.save("fun.onnx")                       runs in ONNX Runtime alone
    onax.export.load("fun.onnx").call(*args)        or as a function of trees again

The names are those of `jax.export`; `Exported.onnx_model` stands for its `mlir_module`.
"""

import os

from onax._ground import source
from onax._ground.lazy import LazyModule

source.register_folder(os.path.dirname(__file__))

# The compiler imports `onax.export.lower` and needs none of this, so names are fetched when they are asked for.
_HOMES = {
    **dict.fromkeys(
        ("Exported", "default_export_platform", "deserialize", "export", "load", "save"),
        LazyModule("onax.export.api"),
    ),
    **dict.fromkeys(
        ("register_namedtuple_serialization", "register_pytree_node_serialization"),
        LazyModule("onax.export.artifact"),
    ),
    **dict.fromkeys(
        ("SymbolicScope", "is_symbolic_dim", "symbolic_args_specs", "symbolic_shape"),
        LazyModule("onax.export.shapes"),
    ),
}

__all__ = [
    "Exported",
    "SymbolicScope",
    "default_export_platform",
    "deserialize",
    "export",
    "is_symbolic_dim",
    "load",
    "register_namedtuple_serialization",
    "register_pytree_node_serialization",
    "save",
    "symbolic_args_specs",
    "symbolic_shape",
]


def __getattr__(name):
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'onax.export' has no attribute {name!r}")
    return getattr(home, name)


def __dir__():
    return [*globals(), *__all__]
