"""Lowering of jaxprs to ONNX graphs: one file of rules for each family of primitives, and the loop that applies them.

Importing it fills the registry.
"""

from onax.export.lower import (
    collectives,
    control,
    conv,
    convert,
    cumulative,
    dot,
    elementwise,
    elementwise_complex,
    indexing,
    indexing_complex,
    linalg,
    misc,
    native_fused,
    random,
    reductions,
    reductions_complex,
    shaping,
    slicing,
    sorting,
    special,
    stacking,
    windows,
)

__all__ = [
    "collectives",
    "control",
    "conv",
    "convert",
    "cumulative",
    "dot",
    "elementwise",
    "elementwise_complex",
    "indexing",
    "indexing_complex",
    "linalg",
    "misc",
    "native_fused",
    "random",
    "reductions",
    "reductions_complex",
    "shaping",
    "slicing",
    "sorting",
    "special",
    "stacking",
    "windows",
]
