"""Pooling.

The other direction: `export/lower/windows.py`.
"""

import math

import numpy as np

import onax.numpy as jnp
from onax import lax
from onax.onnx.conv import spatial_padding
from onax.onnx.operators import operator


def _geometry(call, x):
    """(kernel, strides, dilations, padding) of the spatial dimensions; ceil_mode enlarges the padding after."""
    kernel = call["kernel_shape"]
    rank = len(kernel)
    strides, dilations = call.get("strides", (1,) * rank), call.get("dilations", (1,) * rank)
    padding = spatial_padding(call, x.shape[2:], kernel, strides, dilations)
    if not call.get("ceil_mode", 0) or call.get("auto_pad", "NOTSET") != "NOTSET":
        return kernel, strides, dilations, padding, padding
    larger = []
    for size, k, s, d, (before, after) in zip(x.shape[2:], kernel, strides, dilations, padding):
        span = (k - 1) * d + 1
        count = math.ceil((size + before + after - span) / s) + 1
        if (count - 1) * s >= size + before:  # the last window would begin in the padding
            count -= 1
        larger.append((before, max((count - 1) * s + span - size - before, 0)))
    return kernel, strides, dilations, padding, larger


def _windows(x, initial, combine, kernel, strides, dilations, padding):
    pads = [(0, 0), (0, 0), *padding]
    return lax.reduce_window(
        x, initial, combine, (1, 1, *kernel), (1, 1, *strides), pads, window_dilation=(1, 1, *dilations)
    )


@operator("MaxPool")
def _max_pool(call, x):
    x = jnp.asarray(x)
    kernel, strides, dilations, _, padding = _geometry(call, x)
    least = -jnp.inf if jnp.issubdtype(x.dtype, jnp.floating) else int(jnp.iinfo(x.dtype).min)
    if not call.outputs(1) and set(dilations) == {1}:
        return _windows(x, jnp.asarray(least, x.dtype), lax.max, kernel, strides, dilations, padding)
    # `reduce_window` has no gradient of dilated windows
    results = _max_pool_with_indices(call, x, kernel, strides, dilations, padding, least)
    return results if call.outputs(1) else results[0]


def _max_pool_with_indices(call, x, kernel, strides, dilations, padding, least):
    """The maxima, and their positions in the flattened input."""
    spatial = x.shape[2:]
    order = range(len(spatial)) if not call.get("storage_order", 0) else reversed(range(len(spatial)))
    place, step = np.zeros(spatial, np.int64), 1
    for axis in reversed(list(order)):
        shape = [1] * len(spatial)
        shape[axis] = spatial[axis]
        place = place + np.arange(spatial[axis]).reshape(shape) * step
        step *= spatial[axis]
    pads = [(0, 0), (0, 0), *padding]
    values = jnp.pad(x, pads, constant_values=least)
    places = jnp.pad(jnp.asarray(place), padding, constant_values=-1)
    counts = [(n - (k - 1) * d - 1) // s + 1 for n, k, s, d in zip(values.shape[2:], kernel, strides, dilations)]
    index = []
    for i, (count, k, s, d) in enumerate(zip(counts, kernel, strides, dilations)):
        grid = np.arange(count)[:, None] * s + np.arange(k) * d
        shape = [1] * (2 * len(kernel))
        shape[i], shape[i + len(kernel)] = count, k
        index.append(grid.reshape(shape))
    shape = (*x.shape[:2], *counts, -1)
    cells = values[(slice(None), slice(None), *index)].reshape(shape)
    where = places[tuple(index)].reshape(*counts, -1)
    # padding never wins, whatever the values are
    best = jnp.argmax(jnp.where((where >= 0), cells, jnp.asarray(least, x.dtype)), -1)
    first = jnp.take_along_axis(jnp.broadcast_to(where, cells.shape), best[..., None], -1)[..., 0]
    offsets = np.arange(x.shape[0] * x.shape[1]).reshape(*x.shape[:2], *[1] * len(spatial)) * int(np.prod(spatial))
    return jnp.max(cells, -1), first + jnp.asarray(offsets)


@operator("AveragePool")
def _average_pool(call, x):
    kernel, strides, dilations, padding, larger = _geometry(call, x)
    x = jnp.asarray(x)
    sums = _windows(x, jnp.zeros((), x.dtype), lax.add, kernel, strides, dilations, larger)
    ones = jnp.ones((1, 1, *x.shape[2:]), x.dtype)
    if call.get("count_include_pad", 0):
        ones = jnp.pad(ones, [(0, 0), (0, 0), *padding], constant_values=1)
        larger = [(0, b - a) for (_, a), (_, b) in zip(padding, larger)]
    return sums / _windows(ones, jnp.zeros((), x.dtype), lax.add, kernel, strides, dilations, larger)


@operator("LpPool")
def _lp_pool(call, x):
    kernel, strides, dilations, _, padding = _geometry(call, x)
    p = call.get("p", 2)
    powers = jnp.abs(x) ** p
    return _windows(powers, jnp.zeros((), powers.dtype), lax.add, kernel, strides, dilations, padding) ** (1 / p)


@operator("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def _global_pool(call, x):
    axes, kind = tuple(range(2, x.ndim)), call.node.op_type
    if kind == "GlobalMaxPool":
        return jnp.max(x, axes, keepdims=True)
    if kind == "GlobalAveragePool":
        return jnp.mean(x, axes, keepdims=True)
    p = call.get("p", 2)
    return jnp.sum(jnp.abs(x) ** p, axes, keepdims=True) ** (1 / p)
