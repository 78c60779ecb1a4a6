"""Public modules of jax.experimental, imported on first access."""

import importlib

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._ground.unavailable import unavailable as _unavailable

_LAZY_MODULES = frozenset("checkify jet layout mesh_utils multihost_utils ode pjit rnn shard_map sparse".split())
_LAZY_ATTRIBUTES = {
    "EArray": "onax.experimental.hijax",
    "cur_qdd": "onax.experimental.hijax",
    "io_callback": "onax._control.callbacks",
    "primal_tangent_dtype": "onax._ground.dtypes",
}

_refuse = _unavailable(
    __name__,
    {
        "array_serialization": "its files are those of TensorStore; Orbax writes and reads them, jnp.save and jnp.load "
        "files of NumPy",
        "pallas mosaic": "it writes kernels for TPUs and GPUs; onax compiles operations of jnp and lax by itself, "
        "and onax.ffi calls kernels that were compiled elsewhere",
        "jax2tf": "it makes TensorFlow graphs; onax.export writes ONNX models",
    },
)


def __getattr__(name):
    if name in _LAZY_ATTRIBUTES:
        attributes = {name: getattr(importlib.import_module(_LAZY_ATTRIBUTES[name]), name)}
        _wrap_api_functions(attributes, __name__)
        return globals().setdefault(name, attributes[name])
    if name in _LAZY_MODULES:
        return importlib.import_module(f"onax.experimental.{name}")
    return _refuse(name)


def __dir__():
    return sorted({*globals(), *_LAZY_MODULES, *_LAZY_ATTRIBUTES})
