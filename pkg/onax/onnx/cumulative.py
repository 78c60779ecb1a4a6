"""Cumulative sums and products.

The other direction: `export/lower/cumulative.py`.
"""

import numpy as np

import onax.numpy as jnp
from onax.onnx.operators import operator


@operator("CumSum", "CumProd", static=(1,))
def _cumulative(call, x, axis):
    axis = int(np.reshape(axis, ()))
    reverse, exclusive = call.get("reverse", 0), call.get("exclusive", 0)
    product = call.node.op_type == "CumProd"
    x = jnp.flip(x, axis) if reverse else jnp.asarray(x)
    if exclusive:
        first = jnp.full_like(jnp.take(x, jnp.arange(1), axis), 1 if product else 0)
        x = jnp.concatenate([first, jnp.take(x, jnp.arange(x.shape[axis] - 1), axis)], axis)
    result = (jnp.cumprod if product else jnp.cumsum)(x, axis, dtype=x.dtype)
    return jnp.flip(result, axis) if reverse else result
