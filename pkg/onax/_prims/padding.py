"""Padding before, after and between elements, the adjoint of a slice with steps."""

import builtins
from collections.abc import Sequence

import numpy as np

from onax._core.facts import LINEAR_MOVEMENT, MAKES_NAN
from onax._core.rules import InvalidOperands, tangent_zero
from onax._core.trace import as_array
from onax._core.zeros import Zero, is_undefined_primal
from onax._ground import dims
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax._native.avals import ShapedArray
from onax._native.dispatch import Primitive
from onax._prims.creation import full, instantiate_zeros
from onax._prims.elementwise import select_n, sub
from onax._prims.shaping import broadcast_bdim, broadcast_in_dim, reduce_sum, shape_of
from onax._prims.slicing import slice_p, zero_scalar

# ---- pad ----


def _padded_dim(d, low, high, interior):
    return low + high + dims.dilate_dim(d, interior + 1)


def padded_ranges(shape, padded, padding_config):
    """For each axis which elements a pad keeps, and where: (first, count, first position, distance of positions)."""
    ranges = []
    for d, size, (low, _, interior) in zip(shape, padded, padding_config):
        step = interior + 1
        first = 0 if low >= 0 else -(low // step)
        last = min(d, (size - low + step - 1) // step)
        ranges.append((first, max(last - first, 0), low + first * step, step))
    return ranges


def _pad_kernel(x, value, *, padding_config):
    shape = []
    for d, (low, high, interior) in zip(x.shape, padding_config, strict=True):
        size = _padded_dim(d, low, high, interior)
        if interior < 0 or size < 0:
            raise InvalidOperands
        shape.append(size)
    if value.ndim:
        raise InvalidOperands
    out = np.full(shape, value, dtype=x.dtype)
    target, source = [], []
    for first, count, begin, step in padded_ranges(x.shape, shape, padding_config):
        source.append(builtins.slice(first, first + count))
        target.append(builtins.slice(begin, begin + (count - 1) * step + 1, step) if count else builtins.slice(0, 0))
    out[tuple(target)] = x[tuple(source)]
    return out


def _pad_abstract(x, value, *, padding_config):
    if x.dtype != value.dtype:
        raise TypeError(f"pad operand and padding_value must be same dtype: got {x.dtype} and {value.dtype}.")
    if value.shape:
        raise ValueError(f"padding_value must be a scalar; got np.shape(padding_value)={value.shape}")
    if len(padding_config) != x.ndim:
        raise ValueError(
            "length of padding_config must equal the number of axes of operand, got padding_config "
            f"{padding_config} for operand shape {x.shape}"
        )
    if not all(interior >= 0 for _, _, interior in padding_config):
        raise ValueError(f"interior padding in padding_config must be nonnegative, got padding_config {padding_config}")
    shape = tuple(_padded_dim(d, *config) for d, config in zip(x.shape, padding_config))
    if not all(d >= 0 for d in shape):
        raise ValueError(
            f"Dimension size after padding is not at least 0, got result shape {shape}, for padding_config "
            f"{padding_config} and operand shape {x.shape}"
        )
    return ShapedArray(shape, x.dtype, x.weak_type and value.weak_type)


def _pad_jvp(primals, tangents, *, padding_config):
    out = pad_p.bind(*primals, padding_config=padding_config)
    if all(type(t) is Zero for t in tangents):
        return out, tangent_zero(out)
    tx, tv = tangents
    tv = zero_scalar(tv.aval.dtype) if type(tv) is Zero else tv
    return out, pad_p.bind(instantiate_zeros(tx), tv, padding_config=padding_config)


def _pad_transpose(ct, x, value, *, padding_config):
    """The operand's cotangent is ct without the padding; the value's cotangent is the sum over the padding."""
    linear_x, linear_v = is_undefined_primal(x), is_undefined_primal(value)
    if type(ct) is Zero:
        return [Zero(x.aval) if linear_x else None, Zero(value.aval) if linear_v else None]
    cut = tuple((-low, -high, 0) for low, high, _ in padding_config)
    inside = pad_p.bind(ct, zero_scalar(ct.dtype), padding_config=cut)
    inside = slice_p.bind(
        inside,
        start_indices=(0,) * len(cut),
        limit_indices=shape_of(inside),
        strides=tuple(interior + 1 for _, _, interior in padding_config),
    )
    ct_value = None
    if linear_v:
        ct_value = sub(_sum_all(ct), _sum_all(inside))
    return [inside if linear_x else None, ct_value]


def _sum_all(x):
    return reduce_sum(x, tuple(range(len(shape_of(x)))))


def _pad_batch(axis_data, operands, mapped, *, padding_config):
    (x, value), (dx, dv) = operands, mapped
    if dx is None:
        x, dx = broadcast_bdim(x, axis_data.size, 0), 0
    config = (*padding_config[:dx], (0, 0, 0), *padding_config[dx:])
    if dv is None:
        return pad_p.bind(x, value, padding_config=config), dx
    # One value for each example: pad with zeros, then select the values where a padded mask is true.
    out = pad_p.bind(x, zero_scalar(x.dtype), padding_config=config)
    mask = pad_p.bind(full(x.shape, True, np.bool_), zero_scalar(np.bool_), padding_config=config)
    return select_n(mask, broadcast_in_dim(value, out.shape, (dx,)), out), dx


pad_p = Primitive(
    "pad",
    kernel=_pad_kernel,
    abstract_eval=_pad_abstract,
    jvp=_pad_jvp,
    transpose=_pad_transpose,
    batch=_pad_batch,
    facts=LINEAR_MOVEMENT | {MAKES_NAN},
)


def pad(operand: ArrayLike, padding_value: ArrayLike, padding_config: Sequence[tuple[int, int, int]]) -> Array:
    """Returns an array with elements added before, after and between its own.

    Args:
      operand: array of any dtype.
      padding_value: what is added, a scalar of the same dtype.
      padding_config: for each axis (low, high, interior): how many elements are added before the first, after the
        last, and between any two; negative low or high remove elements.

    Returns:
      Array.

    Raises:
      TypeError: the dtypes differ.
      ValueError: `padding_config` has another length, or leaves less than nothing.

    Examples:
      >>> lax.pad(jnp.array([1, 2]), 0, [(1, 2, 1)])
      Array([0, 1, 0, 2, 0, 0], dtype=int32)
    """
    if not isinstance(operand, Array):
        operand = as_array(operand)
    config = tuple((dims.as_dim(lo), dims.as_dim(hi), dims.as_dim(gap)) for lo, hi, gap in padding_config)
    return pad_p.bind(operand, padding_value, padding_config=config)


def dilate_and_pad(x, value, padding, dilation):
    """Inserts `value` between and around the elements of the ndarray x; returns x itself when nothing is inserted.

    padding holds one (low, high) pair for each axis, dilation one factor for each axis.
    """
    config = tuple((low, high, d - 1) for (low, high), d in zip(padding, dilation))
    if not any(any(c) for c in config):
        return x
    return pad_p.kernel(x, np.asarray(value, x.dtype), padding_config=config)


# ---- the transpose of a slice ----


def _slice_transpose(ct, x, *, start_indices, limit_indices, strides=None):
    """Pads the cotangent with zeros around and between the elements that were sliced."""
    if type(ct) is Zero:
        return [Zero(x.aval)]
    shape, strides = x.aval.shape, strides or (1,) * len(x.aval.shape)
    config = []
    for start, size, stride, d in zip(start_indices, ct.shape, strides, shape):
        config.append((start, d - start - dims.dilate_dim(size, stride), stride - 1))
    return [pad_p.bind(ct, zero_scalar(ct.dtype), padding_config=tuple(config))]


slice_p.transpose = _slice_transpose
