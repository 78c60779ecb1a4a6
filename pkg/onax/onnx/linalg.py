"""Linear algebra.

The other direction: `export/lower/linalg.py`.
"""

import onax.numpy as jnp
from onax.onnx.operators import operator


@operator("Det")
def _det(call, x):
    return jnp.linalg.det(x)
