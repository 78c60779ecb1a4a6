"""Operators that change shapes, or make arrays of a shape.

The other direction: `export/lower/shaping.py`.
"""

import math

import numpy as np

import onax.numpy as jnp
from onax._core.trace import Tracer
from onax.onnx.operators import operator
from onax.onnx.reading import dtype_of
from onax.onnx.sizes import are_named, as_numbers, as_size, as_sizes


@operator("Shape", typed=(0,))
def _shape(call, x):
    start, end = call.get("start", 0), call.get("end")
    return as_sizes(np.shape(x)[start:end])


@operator("Size", typed=(0,))
def _size(call, x):
    return as_sizes(np.size(x))


@operator("Reshape", static=(1,))
def _reshape(call, x, shape):
    keep = not call.get("allowzero", 0)
    sizes = [x.shape[i] if size == 0 and keep else as_size(size) for i, size in enumerate(shape)]
    return jnp.reshape(x, sizes)


@operator("Flatten")
def _flatten(call, x):
    axis = call.get("axis", 1)
    axis += x.ndim if axis < 0 else 0
    return jnp.reshape(x, (math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))


@operator("Squeeze", static=(1,))
def _squeeze(call, x, axes=None):
    axes = call.get("axes") if axes is None else axes
    return jnp.squeeze(x) if axes is None else jnp.squeeze(x, tuple(int(axis) for axis in axes))


@operator("Unsqueeze", static=(1,))
def _unsqueeze(call, x, axes=None):
    axes = call["axes"] if axes is None else axes
    return jnp.expand_dims(x, tuple(int(axis) for axis in np.reshape(axes, -1)))


@operator("Transpose")
def _transpose(call, x):
    return jnp.transpose(x, call.get("perm"))


@operator("Expand", static=(1,))
def _expand(call, x, shape):
    return jnp.broadcast_to(x, jnp.broadcast_shapes(np.shape(x), tuple(as_size(size) for size in shape)))


@operator("Tile", static=(1,))
def _tile(call, x, repeats):
    return jnp.tile(x, tuple(as_size(count) for count in repeats))


@operator("Concat")
def _concat(call, *xs):
    return jnp.concatenate([jnp.asarray(x) for x in xs], call.get("axis", 1))


@operator("Split", static=(1,))
def _split(call, x, sizes=None):
    axis = call.get("axis", 0)
    sizes = call.get("split") if sizes is None else sizes
    if sizes is None:
        count = call.get("num_outputs", call.output_count)
        size = -(-x.shape[axis] // count)
        sizes = [size] * (count - 1) + [x.shape[axis] - size * (count - 1)]
    if sum(sizes) != x.shape[axis]:
        raise ValueError(f"parts of the sizes {list(map(int, sizes))} do not make up the size {x.shape[axis]}")
    return tuple(jnp.split(x, np.cumsum(np.asarray(sizes, np.int64))[:-1].tolist(), axis))


@operator("ConstantOfShape", static=(0,))
def _constant_of_shape(call, shape):
    value = call.get("value", np.zeros(1, np.float32))
    return jnp.full(tuple(as_size(size) for size in shape), value.reshape(-1)[0], value.dtype)


@operator("EyeLike", typed=(0,))
def _eye_like(call, x):
    dtype = dtype_of(call.get("dtype")) if call.get("dtype") is not None else x.dtype
    return jnp.eye(*x.shape, k=call.get("k", 0), dtype=dtype)


@operator("Range", static=(2,), bounds=(0, 1))
def _range(call, start, limit, step):
    step = np.reshape(step, ())
    if isinstance(start, Tracer) or isinstance(limit, Tracer):
        count = max(-(-call.difference(start, limit)[0] // int(step)), 0)
        return jnp.reshape(start, ()) + jnp.asarray(np.arange(count) * step, start.dtype)
    if are_named(start) or are_named(limit):
        start, limit = np.reshape(start, ()).item(), np.reshape(limit, ()).item()
        count = -(-(limit - start) // int(step))  # sizes are not negative
        return as_numbers(as_sizes(start)) + jnp.arange(count, dtype=jnp.int64) * int(step)
    start, limit = np.reshape(start, ()), np.reshape(limit, ())
    count = max(int(np.ceil((limit - start) / step)), 0)
    return jnp.asarray(start + np.arange(count, dtype=start.dtype) * step, start.dtype)


@operator("Constant")
def _constant(call):
    for name, dtype in (("value_float", np.float32), ("value_floats", np.float32)):
        if name in call.attributes:
            return np.array(call[name], dtype)
    for name in ("value_int", "value_ints"):
        if name in call.attributes:
            return np.array(call[name], np.int64)
    value = call.get("value", call.get("sparse_value"))
    if value is None or value.dtype == object:
        call.refuse("onax has no arrays of strings")
    return value


@operator("DepthToSpace")
def _depth_to_space(call, x):
    n, c, h, w = x.shape
    block = call["blocksize"]
    if call.get("mode", "DCR") == "DCR":
        x = x.reshape(n, block, block, c // block**2, h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        x = x.reshape(n, c // block**2, block, block, h, w).transpose(0, 1, 4, 2, 5, 3)
    return x.reshape(n, c // block**2, h * block, w * block)


@operator("SpaceToDepth")
def _space_to_depth(call, x):
    n, c, h, w = x.shape
    block = call["blocksize"]
    order = (0, 3, 5, 1, 2, 4) if call.get("mode", "DCR") == "DCR" else (0, 1, 3, 5, 2, 4)
    x = x.reshape(n, c, h // block, block, w // block, block).transpose(order)
    return x.reshape(n, c * block**2, h // block, w // block)


@operator("Trilu", static=(1,))
def _trilu(call, x, k=None):
    return (jnp.triu if call.get("upper", 1) else jnp.tril)(x, 0 if k is None else int(k))


@operator("CenterCropPad", static=(1,))
def _center_crop_pad(call, x, shape):
    axes = call.get("axes", range(x.ndim))
    for axis, size in zip(axes, shape):
        have, size = x.shape[axis], int(size)
        if have > size:
            start = (have - size) // 2
            x = jnp.take(x, jnp.arange(start, start + size), axis)
        elif have < size:
            widths = [(0, 0)] * x.ndim
            widths[axis] = (size - have) // 2, size - have - (size - have) // 2
            x = jnp.pad(x, widths)
    return x
