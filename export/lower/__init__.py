"""Lowering of jaxprs to ONNX graphs: one file of rules for each family of primitives, and the loop that applies them.

Importing it fills the registry.
"""

from onax.export.lower import (
    control,
    convert,
    cumulative,
    dot,
    elementwise,
    elementwise_complex,
    indexing,
    misc,
    reductions,
    shaping,
    slicing,
    special,
    stacking,
)
    sorting,

__all__ = [
    "control",
    "convert",
    "cumulative",
    "dot",
    "elementwise",
    "elementwise_complex",
    "indexing",
    "misc",
    "reductions",
    "shaping",
    "slicing",
    "special",
    "stacking",
]
    "sorting",
