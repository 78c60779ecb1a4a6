"""Operators that change dtypes."""

import numpy as np

import onax.numpy as jnp
from onax import lax
from onax.onnx.operators import operator
from onax.onnx.reading import dtype_of

_SATURATING = ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")


def convert(call, x, dtype):
    """A value in another dtype, by the rules of the operator Cast."""
    if dtype.kind == "O":
        call.refuse("onax has no arrays of strings")
    x = jnp.asarray(x)
    if dtype.name == "float8_e8m0fnu" and x.dtype != dtype:
        call.refuse("onax does not round to float8_e8m0fnu")
    if jnp.issubdtype(dtype, jnp.integer) and jnp.iinfo(dtype).bits < 8 and jnp.issubdtype(x.dtype, jnp.floating):
        x = x.astype(jnp.int32)  # the low bits of the integer, which is not saturated
    if dtype.name not in _SATURATING or not call.get("saturate", 1):
        return x.astype(dtype)
    largest = float(jnp.finfo(dtype).max)
    wide = x.astype(jnp.float32) if x.dtype.itemsize < 4 or x.dtype.kind not in "f" else x
    return jnp.where(jnp.isnan(wide), wide, jnp.clip(wide, -largest, largest)).astype(dtype)


@operator("Cast")
def _cast(call, x):
    return convert(call, x, dtype_of(call["to"]))


@operator("CastLike", typed=(1,))
def _cast_like(call, x, target):
    return convert(call, x, np.dtype(target.dtype))


@operator("BitCast")
def _bit_cast(call, x):
    x = jnp.asarray(x)
    return lax.bitcast_convert_type(x.astype(jnp.uint8) if x.dtype == bool else x, dtype_of(call["to"]))
