"""Operators that change dtypes.

The other direction: `export/lower/convert.py`.
"""

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
        return _to_power_of_two(x, dtype, call.get("round_mode", "up"), call.get("saturate", 1))
    if jnp.issubdtype(dtype, jnp.integer) and jnp.iinfo(dtype).bits < 8 and jnp.issubdtype(x.dtype, jnp.floating):
        x = x.astype(jnp.int32)  # the low bits of the integer, which is not saturated
    if dtype.name not in _SATURATING or not call.get("saturate", 1):
        return x.astype(dtype)
    largest = float(jnp.finfo(dtype).max)
    wide = x.astype(jnp.float32) if x.dtype.itemsize < 4 or x.dtype.kind not in "f" else x
    return jnp.where(jnp.isnan(wide), wide, jnp.clip(wide, -largest, largest)).astype(dtype)


def _to_power_of_two(x, dtype, mode, saturate):
    """Positive numbers as powers of two, whose exponents have 8 bits: those of float32."""
    bits = lax.bitcast_convert_type(x.astype(jnp.float32), jnp.uint32)
    exponent, fraction = (bits >> 23 & 0xFF).astype(jnp.int32), (bits & 0x7FFFFF).astype(jnp.int32)
    # below the least normal number of float32 there is one more power, the half of it
    least = {"up": 1, "down": 1 << 23, "nearest": 1 << 22}[mode]
    half = 1 << 22
    raised = jnp.where(exponent == 0, fraction - half >= (least + 1 >> 1), fraction >= least)
    result = exponent + raised
    small = (exponent == 0) & (fraction < half)
    if saturate:
        result = jnp.clip(result, 0, 254)
    else:
        result = jnp.where(small, 255, jnp.minimum(result, 255))
    result = jnp.where(jnp.isnan(x), 255, result)
    return lax.bitcast_convert_type(result.astype(jnp.uint8), dtype)


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
