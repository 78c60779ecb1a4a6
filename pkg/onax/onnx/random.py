"""Random numbers, from the key of the model's call; the bits are onax's, not those of another runtime.

The other direction: `export/lower/random.py`.
"""

import numpy as np

import onax.numpy as jnp
from onax import random as keyed
from onax.onnx.operators import operator
from onax.onnx.reading import dtype_of


def _draw(call, shape, dtype):
    wide = jnp.promote_types(dtype, jnp.float32)
    if call.node.op_type.startswith("RandomNormal"):
        values = keyed.normal(call.key, shape, wide) * call.get("scale", 1.0) + call.get("mean", 0.0)
    else:
        values = keyed.uniform(call.key, shape, wide, call.get("low", 0.0), call.get("high", 1.0))
    return values.astype(dtype)


@operator("RandomNormal", "RandomUniform")
def _random(call):
    return _draw(call, tuple(call["shape"]), dtype_of(call.get("dtype", 1)))


@operator("RandomNormalLike", "RandomUniformLike")
def _random_like(call, x):
    return _draw(call, x.shape, _dtype(call, x))


def _dtype(call, x):
    return dtype_of(call["dtype"]) if "dtype" in call.attributes else np.dtype(x.dtype)


@operator("Bernoulli")
def _bernoulli(call, x):
    return (keyed.uniform(call.key, x.shape, jnp.promote_types(x.dtype, jnp.float32)) < x).astype(_dtype(call, x))


@operator("Multinomial")
def _multinomial(call, x):
    count = call.get("sample_size", 1)
    drawn = keyed.categorical(call.key, x[:, None, :], -1, shape=(x.shape[0], count))
    return drawn.astype(dtype_of(call.get("dtype", 6)))
