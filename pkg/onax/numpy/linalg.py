"""onax.numpy.linalg: norms and products.  Decompositions and solvers need primitives that are not there yet."""

from onax.numpy._linalg import (
    cross,
    diagonal,
    matmul,
    matrix_norm,
    matrix_power,
    multi_dot,
    norm,
    outer,
    tensordot,
    trace,
    vecdot,
    vector_norm,
)
from onax.numpy._shaping import matrix_transpose
