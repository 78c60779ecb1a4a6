"""Functions with their own batching rules, under JAX's names."""

from onax._control.custom_vmap import custom_vmap, sequential_vmap
from onax._core.public import publish as _publish

__all__ = ["custom_vmap", "sequential_vmap"]

_publish(globals(), __name__, globals().keys())
