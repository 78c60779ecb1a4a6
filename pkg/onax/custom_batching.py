"""Functions with their own batching rules, under JAX's names."""

from onax._control.custom_vmap import custom_vmap, sequential_vmap
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions

__all__ = ["custom_vmap", "sequential_vmap"]

_wrap_api_functions(globals(), __name__, globals().keys())
