"""Convolutions.

The other direction: `export/lower/conv.py`.
"""

import itertools

import numpy as np

import onax.numpy as jnp
from onax import lax
from onax.onnx.image import sample_linearly
from onax.onnx.operators import operator


def spatial_padding(call, sizes, kernel, strides, dilations):
    """(before, after) of each spatial dimension, by `pads` or `auto_pad`."""
    mode = call.get("auto_pad", "NOTSET")
    rank = len(kernel)
    if mode == "NOTSET":
        pads = call.get("pads", (0,) * 2 * rank)
        return [(pads[i], pads[i + rank]) for i in range(rank)]
    if mode == "VALID":
        return [(0, 0)] * rank
    result = []
    for size, k, s, d in zip(sizes, kernel, strides, dilations):
        total = max((-(-size // s) - 1) * s + (k - 1) * d + 1 - size, 0)
        small = total // 2
        result.append((small, total - small) if mode == "SAME_UPPER" else (total - small, small))
    return result


def convolve(call, x, w, dtype=None):
    """The convolution of a node, without its bias."""
    rank = x.ndim - 2
    strides, dilations = call.get("strides", (1,) * rank), call.get("dilations", (1,) * rank)
    padding = spatial_padding(call, x.shape[2:], w.shape[2:], strides, dilations)
    return lax.conv_general_dilated(
        x,
        w,
        strides,
        padding,
        rhs_dilation=dilations,
        feature_group_count=call.get("group", 1),
        preferred_element_type=dtype,
    )


def add_bias(y, bias):
    """Adds one number to each channel."""
    return y if bias is None else y + jnp.reshape(bias, (-1,) + (1,) * (y.ndim - 2))


@operator("Conv")
def _conv(call, x, w, bias=None):
    return add_bias(convolve(call, jnp.asarray(x), jnp.asarray(w)), bias)


@operator("ConvInteger")
def _conv_integer(call, x, w, x_zero=None, w_zero=None):
    x, w = jnp.asarray(x).astype(jnp.int32), jnp.asarray(w).astype(jnp.int32)
    x = x if x_zero is None else x - jnp.asarray(x_zero).astype(jnp.int32)
    if w_zero is not None:
        w = w - jnp.reshape(jnp.asarray(w_zero).astype(jnp.int32), (-1,) + (1,) * (w.ndim - 1))
    return convolve(call, x, w)


@operator("ConvTranspose")
def _conv_transpose(call, x, w, bias=None):
    rank = x.ndim - 2
    strides, dilations = call.get("strides", (1,) * rank), call.get("dilations", (1,) * rank)
    extra = call.get("output_padding", (0,) * rank)
    kernel, groups = w.shape[2:], call.get("group", 1)
    full = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    natural = [(n - 1) * s + f + e for n, s, f, e in zip(x.shape[2:], strides, full, extra)]
    mode, wanted = call.get("auto_pad", "NOTSET"), call.get("output_shape")
    if wanted is not None or mode.startswith("SAME"):
        wanted = [n * s for n, s in zip(x.shape[2:], strides)] if wanted is None else wanted[-rank:]
        crops = []
        for have, size in zip(natural, wanted):
            total = have - size
            small = total // 2
            crops.append((small, total - small) if mode == "SAME_UPPER" else (total - small, small))
    else:
        crops = spatial_padding(call, x.shape[2:], kernel, strides, dilations)
    # (in, out / groups, ...) -> (out, in / groups, ...), turned around
    w = jnp.flip(jnp.asarray(w), range(2, w.ndim))
    w = w.reshape(groups, w.shape[0] // groups, *w.shape[1:]).swapaxes(1, 2)
    w = w.reshape(-1, *w.shape[2:])
    padding = [(f - 1 - a, f - 1 - b + e) for f, (a, b), e in zip(full, crops, extra)]
    ones = (1,) * rank
    y = lax.conv_general_dilated(
        x, w, ones, padding, lhs_dilation=strides, rhs_dilation=dilations, feature_group_count=groups
    )
    return add_bias(y, bias)


@operator("DeformConv")
def _deform_conv(call, x, w, offset, bias=None, mask=None):
    rank = x.ndim - 2
    if rank != 2:
        call.refuse("deformable convolutions of other than two dimensions")
    kernel, groups, shares = w.shape[2:], call.get("group", 1), call.get("offset_group", 1)
    strides, dilations = call.get("strides", (1,) * rank), call.get("dilations", (1,) * rank)
    pads = call.get("pads", (0,) * 2 * rank)
    n, c = x.shape[:2]
    sizes = offset.shape[2:]
    taps = int(np.prod(kernel))
    offset = offset.reshape(n, shares, taps, rank, *sizes)
    mask = jnp.ones((n, shares, taps, *sizes), x.dtype) if mask is None else mask.reshape(n, shares, taps, *sizes)
    columns = []
    for tap, place in enumerate(itertools.product(*map(range, kernel))):
        starts = [np.arange(m) * s - p + d * k for m, s, p, d, k in zip(sizes, strides, pads, dilations, place)]
        rows = offset[:, :, tap, 0] + jnp.asarray(starts[0][:, None], x.dtype)
        cols = offset[:, :, tap, 1] + jnp.asarray(starts[1][None, :], x.dtype)
        values = sample_linearly(
            x.reshape(n * shares, c // shares, *x.shape[2:]), *(g.reshape(-1, *sizes) for g in (rows, cols))
        )
        columns.append(values * mask[:, :, tap].reshape(n * shares, 1, *sizes))
    patches = jnp.stack(columns, 2).reshape(n, groups, c // groups, taps, *sizes)
    weights = w.reshape(groups, w.shape[0] // groups, c // groups, taps)
    return add_bias(jnp.einsum("ngcthw,gdct->ngdhw", patches, weights).reshape(n, -1, *sizes), bias)
