"""Slices and padding.

The other direction: `export/lower/slicing.py`.
"""

import onax.numpy as jnp
from onax import lax
from onax._core.trace import Tracer
from onax._ground.dims import is_constant
from onax.onnx.operators import operator
from onax.onnx.sizes import as_size

_NO_BOUND = 2**31 - 1  # the least number by which exporters mean the end of an axis of any size


def _counted_from_zero(bound, size, low):
    """A bound of a slice as a position from the start of an axis."""
    if is_constant(bound) and abs(bound) >= _NO_BOUND and not is_constant(size):
        return size if bound > 0 else low
    return bound + size if bound < 0 else bound


def _slice(x, starts, ends, axes, steps):
    index = [slice(None)] * x.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps):
        size, step = x.shape[axis], int(step)
        low, high = (0, size) if step > 0 else (-1, size - 1)
        start, end = (_counted_from_zero(as_size(v), size, low) for v in (start, end))
        start = min(max(start, 0), high)
        end = min(max(end, low), size)
        index[axis] = slice(start, None if end < 0 else end, step)
    return jnp.asarray(x)[tuple(index)]


@operator("Slice")
def _slice_by_attributes(call, x):
    starts, ends = call["starts"], call["ends"]
    return _slice(x, starts, ends, call.get("axes", range(len(starts))), [1] * len(starts))


@operator("Slice", since=10, static=(3, 4), bounds=(1, 2))
def _slice_by_inputs(call, x, starts, ends, axes=None, steps=None):
    axes = [int(axis) for axis in (range(len(starts)) if axes is None else axes)]
    steps = [1] * len(axes) if steps is None else [int(step) for step in steps]
    if isinstance(starts, Tracer) or isinstance(ends, Tracer):
        return _slice_of_known_size(call, jnp.asarray(x), starts, ends, axes, steps)
    return _slice(x, starts, ends, axes, steps)


def _slice_of_known_size(call, x, starts, ends, axes, steps):
    """A slice whose bounds are traced but differ by known numbers; a window beyond the array is moved into it."""
    for i, (axis, step, span) in enumerate(zip(axes, steps, call.difference(starts, ends))):
        if abs(span) > x.shape[axis]:
            call.refuse(f"its bounds are {abs(span)} apart, and the axis {axis} has {x.shape[axis]} elements")
        if span * step <= 0:
            x = lax.slice_in_dim(x, 0, 0, axis=axis)
            continue
        first = starts[i] if step > 0 else ends[i] + 1
        x = lax.dynamic_slice_in_dim(x, first, abs(span), axis)
        x = jnp.flip(x, axis) if step < 0 else x
        x = lax.slice_in_dim(x, 0, abs(span), abs(step), axis)
    return x


_MODES = {"constant": "constant", "reflect": "reflect", "edge": "edge", "wrap": "wrap"}


def _pad(call, x, pads, value, axes):
    count = len(axes)
    widths = [(0, 0)] * x.ndim
    for i, axis in enumerate(axes):
        widths[axis] = int(pads[i]), int(pads[i + count])
    mode = _MODES.get(call.get("mode", "constant"))
    if mode is None:
        call.refuse(f"the mode {call.get('mode')!r} of padding")
    if mode == "constant":
        return lax.pad(x, jnp.asarray(value, x.dtype), [(*width, 0) for width in widths])
    cropped = tuple(slice(max(-before, 0), size - max(-after, 0)) for size, (before, after) in zip(x.shape, widths))
    return jnp.pad(x[cropped], [(max(before, 0), max(after, 0)) for before, after in widths], mode=mode)


@operator("Pad")
def _pad_by_attributes(call, x):
    return _pad(call, jnp.asarray(x), call["pads"], call.get("value", 0.0), range(x.ndim))


@operator("Pad", since=11, static=(1, 3))
def _pad_by_inputs(call, x, pads, value=None, axes=None):
    axes = range(x.ndim) if axes is None else [int(axis) for axis in axes]
    value = 0 if value is None else jnp.reshape(value, ())
    return _pad(call, jnp.asarray(x), pads, value, axes)
