"""Operators that read or write elements at computed indices.

The other direction: `export/lower/indexing.py`.
"""

import numpy as np

import onax.numpy as jnp
from onax import lax
from onax.onnx.operators import operator


def _wrap(indices, size):
    """Indices with negative ones counted from the end."""
    indices = jnp.asarray(indices)
    return (
        jnp.where(indices < 0, indices + size, indices) if jnp.issubdtype(indices.dtype, jnp.signedinteger) else indices
    )


@operator("Gather")
def _gather(call, x, indices):
    axis = call.get("axis", 0)
    return jnp.take(jnp.asarray(x), _wrap(indices, x.shape[axis]), axis)


@operator("GatherElements")
def _gather_elements(call, x, indices):
    axis = call.get("axis", 0)
    return jnp.asarray(x)[_positions(indices, axis % x.ndim, x.shape)]


def _positions(indices, axis, shape):
    """The index of each element that `indices` selects along an axis."""
    grid = [
        jnp.arange(n).reshape([-1 if i == d else 1 for i in range(len(shape))]) for d, n in enumerate(indices.shape)
    ]
    grid[axis] = _wrap(indices, shape[axis])
    return tuple(grid)


@operator("GatherND")
def _gather_nd(call, x, indices):
    batch, depth = call.get("batch_dims", 0), indices.shape[-1]
    lead = [
        jnp.arange(n).reshape([-1 if i == d else 1 for i in range(indices.ndim - 1)])
        for d, n in enumerate(x.shape[:batch])
    ]
    rest = [_wrap(indices[..., i], x.shape[batch + i]) for i in range(depth)]
    return jnp.asarray(x)[(*lead, *rest)]


def _scatter(call, x, index, updates):
    target = jnp.asarray(x).at[index]
    kind = call.get("reduction", "none")
    kinds = {"none": target.set, "add": target.add, "mul": target.multiply, "max": target.max, "min": target.min}
    if kind not in kinds:
        call.refuse(f"the reduction {kind!r} of a scatter")
    return kinds[kind](updates)


@operator("ScatterElements", "Scatter")
def _scatter_elements(call, x, indices, updates):
    return _scatter(call, x, _positions(indices, call.get("axis", 0) % x.ndim, x.shape), updates)


@operator("ScatterND")
def _scatter_nd(call, x, indices, updates):
    depth = indices.shape[-1]
    return _scatter(call, x, tuple(_wrap(indices[..., i], x.shape[i]) for i in range(depth)), updates)


@operator("TensorScatter")
def _tensor_scatter(call, cache, update, starts=None):
    axis = call.get("axis", -2) % cache.ndim
    batch, count, size = cache.shape[0], update.shape[axis], cache.shape[axis]
    starts = jnp.zeros(batch, jnp.int64) if starts is None else jnp.asarray(starts)
    positions = starts[:, None] + jnp.arange(count)
    if call.get("mode", "linear") == "circular":
        positions = positions % size
    moved, new = jnp.moveaxis(cache, axis, 1), jnp.moveaxis(update, axis, 1)
    return jnp.moveaxis(moved.at[jnp.arange(batch)[:, None], positions].set(new), 1, axis)


@operator("OneHot", static=(1,))
def _one_hot(call, indices, depth, values):
    depth, axis = int(np.reshape(depth, ())), call.get("axis", -1)
    axis += indices.ndim + 1 if axis < 0 else 0
    indices = jnp.expand_dims(_wrap(jnp.asarray(indices).astype(jnp.int64), depth), axis)
    shape = [1] * indices.ndim
    shape[axis] = depth
    return jnp.where(indices == jnp.arange(depth).reshape(shape), values[1], values[0])


@operator("Compress", static=(1,))
def _compress(call, x, condition):
    if "axis" not in call.attributes:
        x, axis = jnp.reshape(x, -1), 0
    else:
        axis = call["axis"]
    return jnp.take(x, jnp.asarray(np.flatnonzero(condition)), axis)


@operator("NonZero", static=(0,))
def _non_zero(call, x):
    return np.stack(np.nonzero(np.atleast_1d(x))).astype(np.int64)


@operator("ReverseSequence")
def _reverse_sequence(call, x, lengths):
    time, batch = call.get("time_axis", 0), call.get("batch_axis", 1)
    x = jnp.moveaxis(x, (batch, time), (0, 1))
    steps = jnp.arange(x.shape[1])
    lengths = jnp.asarray(lengths)[:, None]
    index = jnp.where(steps < lengths, lengths - 1 - steps, steps)
    return jnp.moveaxis(x[jnp.arange(x.shape[0])[:, None], index], (0, 1), (batch, time))


@operator("MaxUnpool", static=(2,))
def _max_unpool(call, x, indices, shape=None):
    kernel = call["kernel_shape"]
    strides, pads = call.get("strides", (1,) * len(kernel)), call.get("pads", (0,) * 2 * len(kernel))
    sizes = [
        (n - 1) * s - pads[i] - pads[i + len(kernel)] + k
        for i, (n, s, k) in enumerate(zip(x.shape[2:], strides, kernel))
    ]
    natural = (*x.shape[:2], *sizes)  # indices count elements of this shape; a given shape only adds margins
    result = jnp.zeros(int(np.prod(natural)), x.dtype).at[jnp.asarray(indices)].set(x).reshape(natural)
    if shape is None:
        return result
    return lax.pad(result, jnp.zeros((), x.dtype), [(0, int(n) - have, 0) for n, have in zip(shape, natural)])


@operator("Col2Im", static=(1, 2))
def _col_to_im(call, x, image, block):
    image, block = [int(n) for n in image], [int(n) for n in block]
    rank = len(image)
    strides, dilations = call.get("strides", (1,) * rank), call.get("dilations", (1,) * rank)
    pads = call.get("pads", (0,) * 2 * rank)
    channels = x.shape[1] // int(np.prod(block))
    padded = [n + pads[i] + pads[i + rank] for i, n in enumerate(image)]
    counts = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(padded, block, strides, dilations)]
    x = jnp.reshape(x, (x.shape[0], channels, *block, *counts))
    index = []
    for i in range(rank):
        where = np.arange(block[i])[:, None] * dilations[i] + np.arange(counts[i]) * strides[i]
        shape = [1] * (2 * rank)
        shape[i], shape[rank + i] = block[i], counts[i]
        index.append(where.reshape(shape))
    result = jnp.zeros((x.shape[0], channels, *padded), x.dtype).at[(slice(None), slice(None), *index)].add(x)
    return lax.slice(result, [0, 0, *pads[:rank]], [*x.shape[:2], *[p + n for p, n in zip(pads, image)]])
