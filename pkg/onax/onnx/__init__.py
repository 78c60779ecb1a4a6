"""ONNX models as functions: `load` reads any `.onnx` file, `register` adds operators.

A loaded model can be called, jitted, differentiated, batched, fine-tuned and exported again.  Each operator is a
function of arrays in the file with the name of its family, as each lowering is in `export/lower/`.
"""

from onax.onnx import (
    activations,
    control,
    conv,
    convert,
    cumulative,
    definitions,
    dot,
    elementwise,
    fft,
    image,
    indexing,
    linalg,
    normalization,
    quantization,
    random,
    recurrent,
    reductions,
    shaping,
    slicing,
    sorting,
    windows,
)
from onax.onnx.model import Model, load
from onax.onnx.operators import register

__all__ = ["Model", "load", "register"]
