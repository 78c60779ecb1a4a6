"""Small libraries for examples, under the names of jax.example_libraries."""

from onax.example_libraries import optimizers, stax

__all__ = ["optimizers", "stax"]
