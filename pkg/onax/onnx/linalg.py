"""Linear algebra."""

import onax.numpy as jnp
from onax.onnx.operators import operator


@operator("Det")
def _det(call, x):
    return jnp.linalg.det(x)
