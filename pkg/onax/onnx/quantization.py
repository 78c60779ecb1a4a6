"""Quantized values and the operators on them, in their exact integer meaning."""

import numpy as np

import onax.numpy as jnp
from onax import lax
from onax.onnx.conv import convolve
from onax.onnx.convert import convert
from onax.onnx.dot import centered
from onax.onnx.evaluation import STRAIGHT_THROUGH
from onax.onnx.operators import operator
from onax.onnx.reading import dtype_of


def _aligned(v, x, axis, block):
    """A scale or zero point with the dimensions of x: one number, one per index of the axis, or one per block of it."""
    v = jnp.asarray(v)
    if v.ndim == 0 or (v.size == 1 and v.ndim < 2):
        return v.reshape(())
    if block:
        return jnp.take(jnp.repeat(v, block, axis), jnp.arange(x.shape[axis]), axis)
    shape = [1] * x.ndim
    shape[axis] = -1
    return v.reshape(shape)


def quantize(call, x, scale, zero, dtype):
    """round(x / scale) + zero in an integer dtype, saturated; x / scale in a float8 or float4 one."""
    y = x / scale
    if not jnp.issubdtype(dtype, jnp.integer):
        return convert(call, y.astype(jnp.float32), dtype)
    info = jnp.iinfo(dtype)
    y = jnp.round(y) if zero is None else jnp.round(y) + zero.astype(y.dtype)
    return jnp.clip(y, int(info.min), int(info.max)).astype(jnp.int32).astype(dtype)


@operator("QuantizeLinear")
def _quantize_linear(call, x, scale, zero=None):
    x = jnp.asarray(x)
    given = call.get("output_dtype", 0)
    dtype = zero.dtype if zero is not None else dtype_of(given) if given else np.dtype(np.uint8)
    axis, block = call.get("axis", 1), call.get("block_size", 0)
    axis = axis % x.ndim if x.ndim else 0
    precision = call.get("precision", 0)
    wide = dtype_of(precision) if precision else np.promote_types(np.float32, np.float32)
    x = x.astype(wide if precision or x.dtype.kind != "f" or x.dtype.itemsize < 4 else x.dtype)
    scale = _aligned(scale, x, axis, block).astype(x.dtype)
    zero = None if zero is None else _aligned(zero, x, axis, block)
    result = quantize(call, x, scale, zero, dtype)
    if call.straight_through and jnp.issubdtype(dtype, jnp.integer) and jnp.iinfo(dtype).bits <= _EXACT_BITS:
        scope = call.scope.values
        scope[STRAIGHT_THROUGH, call.node.outputs[0]] = _with_gradient(x / scale, zero, result)
    return result


_EXACT_BITS = 16  # float32 holds such integers, and their differences, exactly


def _with_gradient(y, zero, quantized):
    """The quantized integers as floats, with the gradient of y + zero inside of their range and none outside."""
    info = jnp.iinfo(quantized.dtype)
    real = jnp.clip(y if zero is None else y + zero.astype(y.dtype), int(info.min), int(info.max))
    return quantized.astype(y.dtype) + (real - lax.stop_gradient(real))


@operator("DequantizeLinear")
def _dequantize_linear(call, x, scale, zero=None):
    x = jnp.asarray(x)
    axis, block = call.get("axis", 1), call.get("block_size", 0)
    axis = axis % x.ndim if x.ndim else 0
    given = call.get("output_dtype", 0)
    dtype = dtype_of(given) if given else scale.dtype
    real = call.scope.values.get((STRAIGHT_THROUGH, call.node.inputs[0])) if call.straight_through else None
    if real is not None:
        real = real if zero is None else real - _aligned(zero, x, axis, block).astype(real.dtype)
        return (real.astype(jnp.float32) * _aligned(scale, x, axis, block).astype(jnp.float32)).astype(dtype)
    wide = x.astype(jnp.int32) if jnp.issubdtype(x.dtype, jnp.integer) else x.astype(jnp.float32)
    if zero is not None and jnp.issubdtype(x.dtype, jnp.integer):
        wide = wide - _aligned(zero, x, axis, block).astype(jnp.int32)
    return (wide.astype(jnp.float32) * _aligned(scale, x, axis, block).astype(jnp.float32)).astype(dtype)


@operator("DynamicQuantizeLinear")
def _dynamic_quantize_linear(call, x):
    high, low = jnp.maximum(jnp.max(x), 0), jnp.minimum(jnp.min(x), 0)
    scale = (high - low) / 255
    scale = jnp.where(scale == 0, jnp.ones((), x.dtype), scale)
    zero = jnp.clip(jnp.round(-low / scale), 0, 255).astype(jnp.uint8)
    return quantize(call, x, scale, zero.astype(jnp.int32), np.dtype(np.uint8)), scale, zero


@operator("QLinearMatMul")
def _quantized_matmul(call, a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero):
    product = jnp.matmul(centered(a, a_zero, -2), centered(b, b_zero, -1))
    scale = _column(a_scale).astype(jnp.float32) * jnp.asarray(b_scale).astype(jnp.float32)
    real = product.astype(jnp.float32) * scale
    return quantize(
        call, real, jnp.asarray(y_scale).astype(jnp.float32), jnp.asarray(y_zero).astype(jnp.int32), y_zero.dtype
    )


def _column(v):
    v = jnp.asarray(v)
    return v[:, None] if v.ndim == 1 and v.shape[0] > 1 else v


@operator("QLinearConv")
def _quantized_conv(call, x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias=None):
    def per_filter(v):
        v = jnp.asarray(v)
        return v.reshape((-1,) + (1,) * (x.ndim - 1)) if v.size > 1 else v.reshape(())

    a = jnp.asarray(x).astype(jnp.int32) - jnp.reshape(x_zero, ()).astype(jnp.int32)
    b = jnp.asarray(w).astype(jnp.int32) - per_filter(w_zero).astype(jnp.int32)
    total = convolve(call, a, b)
    if bias is not None:
        total = total + jnp.reshape(bias, (-1,) + (1,) * (x.ndim - 2))
    w_scale = jnp.asarray(w_scale)
    scale = w_scale.reshape((-1,) + (1,) * (x.ndim - 2)) if w_scale.size > 1 else w_scale.reshape(())
    real = total.astype(jnp.float32) * (jnp.reshape(x_scale, ()) * scale)
    return quantize(call, real, jnp.reshape(y_scale, ()), jnp.reshape(y_zero, ()).astype(jnp.int32), y_zero.dtype)
