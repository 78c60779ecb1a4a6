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
from onax._tape.copies import MOST_AXES, copied
from onax._tape.index_expressions import (
    PUT,
    Component,
    combinations,
    combines,
    gather_at_p,
    scatter_at_p,
)
from onax._tape.rules import Unsupported, tape, type_number

# ---- index vectors in one array


@tape.rule(gather_p)
def _gather(b, out, x, indices, *, dimension_numbers, slice_sizes, mode, fill_value, **_):
    components = _side_by_side(indices, dimension_numbers)
    return _gathered(b, out, x, [indices], components, dimension_numbers, slice_sizes, mode, fill_value)


def _scatter(primitive):
    how = combinations.get(primitive)

    @tape.rule(primitive)
    def rule(b, out, x, indices, updates, *, dimension_numbers, mode, update_jaxpr, **_):
        if how == PUT and update_jaxpr is not None:
            raise Unsupported("a scatter combines by a function")
        components = _side_by_side(indices, dimension_numbers)
        return _scattered(b, out, x, updates, [indices], components, how, dimension_numbers, mode)


_scatter(scatter_p)
_scatter(scatter_add_p)
_scatter(scatter_sub_p)
_scatter(scatter_mul_p)
_scatter(scatter_min_p)
_scatter(scatter_max_p)


def _side_by_side(indices, numbers):
    strides = dense_strides(indices.shape)[:-1]
    return [Component(0, k, strides, 0) for k in range(len(numbers.layout().index_map))]


# ---- each component where it lies


@tape.rule(gather_at_p)
def _gather_at(b, out, x, *indices, components, batch, dimension_numbers, slice_sizes, mode, fill_value):
    return _gathered(b, out, x, indices, components, dimension_numbers, slice_sizes, mode, fill_value)


@tape.rule(scatter_at_p)
def _scatter_at(b, out, x, updates, *indices, how, components, batch, dimension_numbers, mode):
    return _scattered(b, out, x, updates, indices, components, how, dimension_numbers, mode)


# ---- instructions


def _gathered(b, out, x, indices, components, numbers, sizes, mode, fill_value):
    layout = numbers.layout()
    windows = [(sizes[a], to, source) for a, to, source in _window_axes(layout, out.shape, x.shape)]
    start, vectors, batch = _batch(layout, sizes, out.shape, x.shape, indices, components)
    if not vectors:
        return _copied(b, out, x, layout, start, batch, windows)
    is_filled = mode is FILL_OR_DROP
    fill = fill_array(fill_value, x.dtype) if is_filled else np.zeros((), x.dtype)
    result = b.buffer(out)
    head = x.dtype.itemsize, PUT, 0, int(not is_filled)
    b.emit("gather", [result], [x, *indices], (*head, *_attributes(start, vectors, batch, windows), *_words(fill)))
    return result


def _copied(b, out, x, layout, start, batch, windows):
    """Windows whose places are known: a strided copy."""
    steps, places = iter([step for _, _, step in batch]), dict(zip(layout.window_dims, [s for _, _, s in windows]))
    strides = [places[o] if o in places else next(steps) for o in range(len(out.shape))]
    return copied(b, out, x, out.shape, strides, start)


def _scattered(b, out, x, updates, indices, components, how, numbers, mode):
    layout, sizes = numbers.layout(), window_sizes(len(x.shape), numbers, updates.shape)
    if how != PUT and not combines(how, x.dtype):
        raise Unsupported(f"a scatter does not combine {x.dtype} so")
    windows = [(sizes[a], to, source) for a, source, to in _window_axes(layout, updates.shape, x.shape)]
    attributes = _attributes(*_batch(layout, sizes, updates.shape, x.shape, indices, components), windows)
    result = b.reuse(x, out)
    head = x.dtype.itemsize, how, 0 if how == PUT else type_number(x.dtype), int(KERNEL_MODE[mode] == CLIP)
    b.emit("scatter", [result], [updates, *indices], (*head, *attributes))
    return result


def _window_axes(layout, own_shape, shape):
    """For each axis of the windows: operand axis, stride in the result or updates, stride in the operand."""
    own, strides = dense_strides(own_shape), dense_strides(shape)
    return [(a, own[o], strides[a]) for o, a in zip(layout.window_dims, layout.window_axes(len(shape)))]


def _batch(layout, sizes, own_shape, shape, indices, components):
    """Where windows start, the components of index vectors that are read, and the axes of the batch."""
    own, strides = dense_strides(own_shape), dense_strides(shape)
    axes = [o for o in range(len(own_shape)) if o not in layout.window_dims]
    along = dict(zip(layout.index_batching, [strides[a] for a in layout.batching]))
    steps, start, vectors = [along.get(i, 0) for i in range(len(axes))], 0, []
    for c, a in zip(components, layout.index_map):
        if c.operand is None:
            start += c.start * strides[a]
            steps = [step + s * strides[a] for step, s in zip(steps, c.strides)]
        else:
            number = type_number(indices[c.operand].dtype)
            vectors.append((c.operand + 2, number, c.start, c.wrap, shape[a] - sizes[a], strides[a], *c.strides))
    return start, vectors, [(own_shape[o], own[o], step) for o, step in zip(axes, steps)]


def _attributes(start, vectors, batch, windows):
    counts = len(vectors), len(batch), len(windows)
    if max(counts) > MOST_AXES:
        raise Unsupported(f"windows have more than {MOST_AXES} axes")
    return (start, *counts, *chain(*vectors, *batch, *windows))


def _words(element):
    """The bits of an element as 64-bit words."""
    data = element.tobytes()
    return np.frombuffer(data + bytes(-len(data) % 8), np.int64).tolist()
