"""Rooms under JAX's experimental names: imported when first asked for."""

import importlib

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions

_LATER = frozenset({"checkify", "layout", "mesh_utils", "multihost_utils", "ode", "pjit", "shard_map"})
_LATER_FUNCTIONS = {"io_callback": "onax._control.callbacks"}


def __getattr__(name):
    if name in _LATER_FUNCTIONS:
        found = {name: getattr(importlib.import_module(_LATER_FUNCTIONS[name]), name)}
        _wrap_api_functions(found, __name__)
        return globals().setdefault(name, found[name])
    if name in _LATER:
        return importlib.import_module(f"onax.experimental.{name}")
    raise AttributeError(f"module 'onax.experimental' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_LATER, *_LATER_FUNCTIONS})
