"""scaled_dot_general: products whose operands are quantized in blocks with a scale each, with their own derivative.

The formats are those of the Open Compute Project's specification of microscaling (MX), version 1.0, and NVFP4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._control.custom_vjp import custom_vjp
from onax._ground import dtypes
from onax._ground.typing import ArrayLike, DTypeLike
from onax._native.array import Array
from onax.nn._scaled_matmul import scaled_matmul
from onax.numpy._promotion import ensure_arraylikes

_F32 = np.dtype(np.float32)
_MANTISSA = np.uint32((1 << 23) - 1)


@dataclass(frozen=True, slots=True, eq=False)
class BlockScaleConfig:
    """How an operand is quantized: blocks of so many elements along the contracted axes have one scale.

    Attributes:
      mode: "mxfp8" or "nvfp4".
      block_size: the number of elements with one scale.
      data_type, scale_type: the dtypes of elements and scales.
      global_scale: a float32 array, by which all elements are divided first; nvfp4 only.
      infer_only: whether there are no derivatives.
    """

    mode: str
    block_size: int
    data_type: object
    scale_type: object
    global_scale: object
    infer_only: bool


def get_scaled_dot_general_config(mode: str, global_scale: ArrayLike | None = None) -> BlockScaleConfig:
    """Returns the block format for an operand of `scaled_dot_general` or for its gradient.

    Args:
      mode: "mxfp8": blocks of 32 float8_e4m3fn with scales that are powers of two; "nvfp4": blocks of 16 float4_e2m1fn
        with scales of float8_e4m3fn.
      global_scale: a float32 array of shape (1,) for nvfp4; default None, ones.

    Returns:
      A BlockScaleConfig.

    Raises:
      ValueError: another mode.

    Examples:
      >>> config = nn.get_scaled_dot_general_config("mxfp8")
      >>> config.block_size, config.data_type.__name__
      (32, 'float8_e4m3fn')
    """
    if mode == "nvfp4":
        scale = jnp.ones((1,), _F32) if global_scale is None else global_scale
        return BlockScaleConfig(mode, 16, ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e4m3fn, scale, False)
    if mode == "mxfp8":
        return BlockScaleConfig(mode, 32, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu, None, False)
    raise ValueError(f"Unsupported mode: {mode}")


def scaled_dot_general(
    lhs: ArrayLike,
    rhs: ArrayLike,
    dimension_numbers: Any,
    preferred_element_type: DTypeLike = np.float32,
    configs: Sequence[BlockScaleConfig] | None = None,
    implementation: str | None = None,
) -> Array:
    """`lax.dot_general` of operands that are quantized in blocks along the contracted axes.

    JAX has it on GPUs only, where products of quantized numbers are quick; here it tells what they would be.  The
    derivative is the product of the cotangent and the other operand, both quantized.  With nvfp4 neither is quantized
    there, and elements that the format cannot hold have a gradient of zero.

    Args:
      lhs, rhs: arrays of floats with at most one batch axis; the number of contracted elements is a multiple of the
        block size.
      dimension_numbers: as of `lax.dot_general`.
      preferred_element_type: dtype of the result: float32, bfloat16 or float16.
      configs: None for `lax.dot_general`, or three configs of `get_scaled_dot_general_config`, for lhs, rhs and
        the cotangent.
      implementation: ignored.

    Returns:
      An array with the axes: batch, free axes of lhs, free axes of rhs.

    Raises:
      ValueError: another dtype of the result, or contracted sizes that blocks do not divide.

    Examples:
      >>> import onax.numpy as jnp
      >>> from onax import nn
      >>> config = nn.get_scaled_dot_general_config("mxfp8")
      >>> x = jnp.linspace(-1, 1, 64).reshape(1, 64)
      >>> out = nn.scaled_dot_general(x, x, (((1,), (1,)), ((), ())), configs=[config] * 3)
      >>> out.shape, abs(float(out[0, 0] - x[0] @ x[0])) < 0.5
      ((1, 1), True)
    """
    lhs, rhs = ensure_arraylikes("scaled_dot_general", lhs, rhs)
    dtype = np.dtype(dtypes.check_user_dtype(preferred_element_type))
    if dtype not in (_F32, np.float16, dtypes.bfloat16):
        raise ValueError(
            f"Unsupported preferred_element_type: {dtype}. Allowed types are float32, bfloat16, and float16."
        )
    numbers = tuple(tuple(tuple(axes) for axes in pair) for pair in dimension_numbers)
    if configs is None:
        return lax.dot_general(lhs, rhs, numbers, preferred_element_type=dtype)
    return _with_derivative(numbers, dtype, tuple(configs))(lhs, rhs)


def _with_derivative(numbers, dtype, configs):
    @custom_vjp
    def product(lhs, rhs):
        return _quantized_dot(lhs, rhs, numbers, dtype, configs[:2])

    def forward(lhs, rhs):
        return product(lhs, rhs), (lhs, rhs)

    def backward(operands, ct):
        return tuple(_cotangent(side, operands, ct, numbers, configs) for side in (0, 1))

    product.defvjp(forward, backward)
    return product


def _quantized_dot(lhs, rhs, numbers, dtype, configs):
    """The product of the quantized operands, whose axes are first brought to (batch, free, contracted)."""
    contracted, batch = numbers
    sides = [_as_stack(x, c, b) for x, c, b in zip((lhs, rhs), contracted, batch)]
    quantized = [_quantize(x, config) for (x, _), config in zip(sides, configs)]
    (x, x_scales), (y, y_scales) = quantized
    out = scaled_matmul(x, y, x_scales, y_scales, preferred_element_type=_F32)
    for config in configs:
        if config.global_scale is not None:
            out = lax.mul(out, jnp.broadcast_to(jnp.reshape(config.global_scale, ()), out.shape))
    shape = [lhs.shape[i] for i in batch[0]] + [d for _, free in sides for d in free]
    return lax.convert_element_type(lax.reshape(out, shape), dtype)


def _free_axes(x, contracted, batch):
    return [i for i in range(x.ndim) if i not in contracted and i not in batch]


def _as_stack(x, contracted, batch):
    """(x as a stack of matrices, contracted elements last; the sizes of its free axes)."""
    free = _free_axes(x, contracted, batch)
    size = lambda axes: int(np.prod([x.shape[i] for i in axes]))
    moved = lax.transpose(x, (*batch, *free, *contracted))
    return lax.reshape(moved, (size(batch), size(free), size(contracted))), [x.shape[i] for i in free]


def _quantize(x, config):
    """(elements, scales) of a stack of matrices, as float32 numbers of their dtypes."""
    *rows, count = x.shape
    if count == 0 or count % config.block_size:
        raise ValueError(
            f"scaled_dot_general: {count} contracted elements are not a multiple of the block size "
            f"{config.block_size} of {config.mode}"
        )
    blocks = lax.reshape(lax.convert_element_type(x, _F32), (*rows, count // config.block_size, config.block_size))
    if config.global_scale is not None:
        blocks = blocks / jnp.reshape(config.global_scale, ())
    largest = float(ml_dtypes.finfo(config.data_type).max)
    scales = jnp.max(jnp.abs(blocks), axis=-1, keepdims=True) / largest
    if config.mode == "mxfp8":
        scales = _power_of_two_above(scales)
    else:
        scales = jnp.clip(scales, 0, float(ml_dtypes.finfo(config.scale_type).max))
        scales = scales.astype(config.scale_type).astype(_F32)
    elements = jnp.clip(blocks / scales, -largest, largest).astype(config.data_type).astype(_F32)
    return lax.reshape(elements, x.shape), lax.squeeze(scales, (x.ndim,))


def _power_of_two_above(x):
    """The least powers of two that are not below x, from 2**-127 to 2**127."""
    bits = lax.bitcast_convert_type(x, np.uint32)
    exponent, mantissa = bits >> 23, bits & _MANTISSA
    tiny = (exponent == 0) & (mantissa <= np.uint32(1 << 22))
    above = jnp.where((mantissa > 0) & (exponent != 254) & ~tiny, exponent + 1, exponent)
    return jnp.where(above == 0, np.float32(2.0**-127), lax.bitcast_convert_type(above << 23, np.float32))


def _cotangent(side, operands, ct, numbers, configs):
    """The cotangent of an operand: the product of `ct` and the other operand over the free axes of that."""
    x, y = operands[side], operands[1 - side]
    x_contracted, y_contracted = numbers[0][side], numbers[0][1 - side]
    x_batch, y_batch = numbers[1][side], numbers[1][1 - side]
    x_free, y_free = _free_axes(x, x_contracted, x_batch), _free_axes(y, y_contracted, y_batch)
    start = len(x_batch) + (len(x_free) if side == 0 else 0)
    ct_axes = tuple(range(start, start + len(y_free)))
    transposed = (ct_axes, tuple(y_free)), (tuple(range(len(x_batch))), tuple(y_batch))
    if configs[2].mode == "nvfp4":
        out = lax.dot_general(lax.convert_element_type(ct, y.dtype), y, transposed, preferred_element_type=_F32)
    else:
        out = _quantized_dot(ct, y, transposed, _F32, (configs[2], configs[1 - side]))
    by_y = [
        x_contracted[i] for i in np.argsort(y_contracted)
    ]  # the axes of x that y's remaining axes were contracted with
    out = lax.transpose(out, tuple(int(i) for i in np.argsort([*x_batch, *x_free, *by_y])))
    if configs[2].mode == "nvfp4":
        limit = _largest(configs[side])
        out = jnp.where(jnp.abs(x) <= limit, out, 0)
    return lax.convert_element_type(out, x.dtype)


def _largest(config):
    largest = float(ml_dtypes.finfo(config.data_type).max) * float(ml_dtypes.finfo(config.scale_type).max)
    return jnp.reshape(config.global_scale, ()) * largest
