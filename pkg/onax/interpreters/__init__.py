"""Transformation rules of primitives, for libraries that define primitives, under the names of jax.interpreters.

onax keeps rules in the fields of each `Primitive`; these modules show the fields as JAX's tables.
"""

from onax.interpreters import ad, batching, mlir, partial_eval, pxla, xla

__all__ = ["ad", "batching", "mlir", "partial_eval", "pxla", "xla"]
