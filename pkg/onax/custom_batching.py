"""Functions with their own batching rules, under JAX's names."""

from onax._control.custom_vmap import custom_vmap, sequential_vmap

__all__ = ["custom_vmap", "sequential_vmap"]
