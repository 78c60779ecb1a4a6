"""Gathers and scatters on tapes (`tape_gather.c`)."""

from itertools import chain

import numpy as np

from onax._control.fused import dense_strides
from onax._prims.indexing import (
    fill_array,
    gather_p,
    scatter_add_p,
    scatter_max_p,
    scatter_min_p,
    scatter_mul_p,
    scatter_p,
    scatter_sub_p,
)
from onax._prims.indexing_kernels import CLIP
from onax._prims.indexing_records import FILL_OR_DROP, KERNEL_MODE, window_sizes
from onax._tape.copies import MOST_AXES
from onax._tape.rules import Unsupported, tape, type_number

PUT, ADD, SUB, MUL, MIN, MAX = range(6)  # how a scatter combines: tape_scatter.h


@tape.rule(gather_p)
def _gather(b, out, x, indices, *, dimension_numbers, slice_sizes, mode, fill_value, **_):
    layout, is_filled = dimension_numbers.layout(), mode is FILL_OR_DROP
    result = b.buffer(out)
    axes = _window_axes(layout, out.shape, x.shape)
    windows = [(slice_sizes[a], to, source) for a, to, source in axes]
    fill = fill_array(fill_value, x.dtype) if is_filled else np.zeros((), x.dtype)
    head = x.dtype.itemsize, PUT, 0, int(not is_filled)
    numbers = (*head, *_attributes(layout, slice_sizes, windows, out.shape, x.shape, indices), *_words(fill))
    b.emit("gather", [result], [x, indices], numbers)
    return result


def _scatter(how):
    def rule(b, out, x, indices, updates, *, dimension_numbers, mode, update_jaxpr, **_):
        if how == PUT and update_jaxpr is not None:
            raise Unsupported("a scatter combines by a function")
        layout, sizes = dimension_numbers.layout(), window_sizes(len(x.shape), dimension_numbers, updates.shape)
        windows = [(sizes[a], to, source) for a, source, to in _window_axes(layout, updates.shape, x.shape)]
        numbers = _attributes(layout, sizes, windows, updates.shape, x.shape, indices)
        element = 0 if how == PUT else _combined_type(how, x.dtype)
        result = b.reuse(x, out)
        head = x.dtype.itemsize, how, element, int(KERNEL_MODE[mode] == CLIP)
        b.emit("scatter", [result], [indices, updates], (*head, *numbers))
        return result

    return rule


tape.set(scatter_p, _scatter(PUT))
tape.set(scatter_add_p, _scatter(ADD))
tape.set(scatter_sub_p, _scatter(SUB))
tape.set(scatter_mul_p, _scatter(MUL))
tape.set(scatter_min_p, _scatter(MIN))
tape.set(scatter_max_p, _scatter(MAX))


def _combined_type(how, dtype):
    if (dtype.kind == "c" and how in (MIN, MAX)) or (dtype.kind == "b" and how == SUB):
        raise Unsupported(f"a scatter does not combine {dtype} so")
    return type_number(dtype)


def _window_axes(layout, own_shape, shape):
    """For each axis of the windows: operand axis, stride in the result or updates, stride in the operand."""
    own, strides = dense_strides(own_shape), dense_strides(shape)
    return [(a, own[o], strides[a]) for o, a in zip(layout.window_dims, layout.window_axes(len(shape)))]


def _attributes(layout, sizes, windows, own_shape, shape, indices):
    """Type of the indices, and how components of index vectors, axes of the batch and axes of windows are laid out."""
    own, strides = dense_strides(own_shape), dense_strides(shape)
    components = [(shape[a] - sizes[a], strides[a]) for a in layout.index_map]
    steps = dict(zip(layout.index_batching, [strides[a] for a in layout.batching]))
    axes = [o for o in range(len(own_shape)) if o not in layout.window_dims]
    batch = [(own_shape[o], own[o], steps.get(i, 0)) for i, o in enumerate(axes)]
    counts = len(components), len(batch), len(windows)
    if max(counts) > MOST_AXES:
        raise Unsupported(f"windows have more than {MOST_AXES} axes")
    return (type_number(indices.dtype), *counts, *chain(*components, *batch, *windows))


def _words(element):
    """The bits of an element as 64-bit words."""
    data = element.tobytes()
    return np.frombuffer(data + bytes(-len(data) % 8), np.int64).tolist()
