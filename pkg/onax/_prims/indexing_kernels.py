"""Kernels of gather and scatter, which convert windows to grids of positions for NumPy's indexing.

A gather or scatter has one window of the operand for each index vector in a batch of them.  Each axis of the operand
has one of four roles:

    point      the window is one element wide and the axis is dropped; the index vector gives the position
    batching   likewise, but the position is that along an axis of the indices
    partial    the window is narrower than the axis: its positions count up from the window's start
    full       the window is the whole axis, so it is not indexed

Axes of the first three roles are *indexed*.  The operand is transposed so that its indexed axes come first, and is read
or written through one grid of positions for each of them, of shape (batch..., partial...); full axes follow.
"""

from dataclasses import dataclass

import numpy as np

CLIP, FILL_OR_DROP, PROMISE_IN_BOUNDS = "clip", "fill or drop", "promise in bounds"


@dataclass(slots=True, eq=False, repr=False)
class Layout:
    """The roles of axes, in a form that gather and scatter share.

    index_map        operand axis of each component of the index vectors
    point, batching  operand axes without an axis of the windows
    index_batching   index axes that go with `batching`
    window_dims      positions of the window axes in the result (gather) or the updates (scatter)
    """

    index_map: tuple
    point: tuple
    batching: tuple
    index_batching: tuple
    window_dims: tuple

    def window_axes(self, rank):
        """Operand axes that windows keep, in order."""
        return [a for a in range(rank) if a not in self.point and a not in self.batching]


def to_intp(indices):
    """Converts index vectors to intp; indices too large for it stay out of bounds."""
    if indices.dtype.kind == "u" and indices.dtype.itemsize == 8:
        indices = np.minimum(indices, np.uint64(np.iinfo(np.intp).max))
    return indices.astype(np.intp, copy=False)


def _limits(layout, shape, sizes):
    """The largest start of a window, for each component of an index vector."""
    return np.array([shape[a] - sizes[a] for a in layout.index_map], np.intp)


def in_bounds(indices, layout, shape, sizes):
    """Whether each window lies inside the operand; shape of the batch."""
    return ((indices >= 0) & (indices <= _limits(layout, shape, sizes))).all(axis=-1)


def clamp(indices, layout, shape, sizes):
    """Clamps index vectors so that each window lies inside the operand."""
    return np.maximum(np.minimum(indices, _limits(layout, shape, sizes)), 0)


def _window_start(indices, layout, rank):
    """The start of a single window: one int for each operand axis."""
    start = [0] * rank
    for k, axis in enumerate(layout.index_map):
        start[axis] = int(indices[k])
    return start


def _window(start, layout, sizes):
    """The basic index of one window, which drops point axes."""
    return tuple([s if a in layout.point else slice(s, s + sizes[a]) for a, s in enumerate(start)])


def _grids(indices, layout, shape, sizes):
    """(indexed axes, full axes, partial axes, a grid of positions for each indexed axis); the grids broadcast
    together."""
    batch = indices.shape[:-1]
    window_axes = layout.window_axes(len(shape))
    partial = [a for a in window_axes if sizes[a] != shape[a]]
    full = [a for a in window_axes if sizes[a] == shape[a]]
    component = {a: k for k, a in enumerate(layout.index_map)}
    tail = (1,) * len(partial)
    indexed, grids = [], []
    for axis in range(len(shape)):
        if axis in full:
            continue
        grid = np.zeros((1,) * (len(batch) + len(partial)), np.intp)
        if axis in component:
            grid = indices[..., component[axis]].reshape(batch + tail)
        if axis in layout.batching:
            along = layout.index_batching[layout.batching.index(axis)]
            line = [1] * grid.ndim
            line[along] = batch[along]
            grid = grid + np.arange(batch[along], dtype=np.intp).reshape(line)
        elif axis in partial:
            line = [1] * grid.ndim
            line[len(batch) + partial.index(axis)] = sizes[axis]
            grid = grid + np.arange(sizes[axis], dtype=np.intp).reshape(line)
        indexed.append(axis)
        grids.append(grid)
    return indexed, full, partial, grids


def _result_axes(layout, rank, batch_rank, partial, full, out_rank):
    """The position of each axis of the result in (batch..., partial..., full...)."""
    of_window = {}
    for position, axis in zip(layout.window_dims, layout.window_axes(rank)):
        if axis in partial:
            of_window[position] = batch_rank + partial.index(axis)
        else:
            of_window[position] = batch_rank + len(partial) + full.index(axis)
    batch = iter(range(batch_rank))
    return [of_window[o] if o in of_window else next(batch) for o in range(out_rank)]


def _permute(x, order):
    return x if order == list(range(len(order))) else x.transpose(order)


# ---- gather ----


def gather(x, indices, layout, sizes):
    """Reads windows; `indices` has dtype intp, and windows that are out of bounds are clamped."""
    rank, batch_rank = x.ndim, indices.ndim - 1
    out_rank = batch_rank + len(layout.window_dims)
    if rank == 0:
        return np.broadcast_to(x, indices.shape[:-1]).copy()
    simple = not layout.batching
    if simple and batch_rank == 0:
        start = _window_start(clamp(indices, layout, x.shape, sizes), layout, rank)
        out = x[_window(start, layout, sizes)]
        return np.asarray(out) if type(out) is np.void else out  # a single key as a NumPy scalar would lose its dtype
    if simple and len(layout.index_map) == 1 and layout.point == layout.index_map and _others_full(x, sizes, layout):
        return _take(x, indices, layout, out_rank)
    indices = clamp(indices, layout, x.shape, sizes)
    indexed, full, partial, grids = _grids(indices, layout, x.shape, sizes)
    if not indexed:  # every axis is full: each window is the operand itself
        out = np.broadcast_to(x, (*indices.shape[:-1], *x.shape)).copy()
    else:
        shape = (*indices.shape[:-1], *(sizes[a] for a in partial))
        grids[0] = np.broadcast_to(grids[0], shape)
        out = _permute(x, indexed + full)[tuple(grids)]
    return _permute(out, _result_axes(layout, rank, batch_rank, partial, full, out_rank))


def _others_full(x, sizes, layout):
    return all(n == d or a in layout.point for a, (n, d) in enumerate(zip(sizes, x.shape)))


def _take(x, indices, layout, out_rank):
    """Takes elements along one axis by NumPy's take, which also clamps."""
    axis, batch_rank = layout.point[0], indices.ndim - 1
    out = x.take(indices[..., 0], axis=axis, mode="clip")
    window_positions = [*range(axis), *range(axis + batch_rank, out_rank)]  # positions of the windows' axes in `out`
    at = dict(zip(layout.window_dims, window_positions))
    batch = iter(range(axis, axis + batch_rank))
    return _permute(out, [at[o] if o in at else next(batch) for o in range(out_rank)])


def fill(out, ok, layout, value):
    """Replaces windows that are not `ok` (of the batch's shape) by the value."""
    if ok.all():
        return out
    line = iter(ok.shape)
    mask = ok.reshape([1 if o in layout.window_dims else next(line) for o in range(out.ndim)])
    return np.where(mask, out, value)


# ---- scatter ----


def scatter(x, indices, updates, layout, sizes, mode, op):
    """Returns a copy of x with the updates combined into their windows.

    `op` is a ufunc, or None to overwrite.  Overlapping windows are combined in order, or the last one wins.
    """
    rank, batch_rank = x.ndim, indices.ndim - 1
    if not x.size:  # every window is out of bounds
        return x.copy()
    if mode == CLIP:
        indices, ok = clamp(indices, layout, x.shape, sizes), None
    else:
        ok = in_bounds(indices, layout, x.shape, sizes)
    if batch_rank == 0 and not layout.batching:
        out = x.copy()
        if ok is None or ok:
            _write(out, _window(_window_start(indices, layout, rank), layout, sizes) if rank else ..., updates, op)
        return out
    if ok is not None and not ok.all():
        indices = clamp(indices, layout, x.shape, sizes)
    indexed, full, partial, grids = _grids(indices, layout, x.shape, sizes)
    order = _result_axes(layout, rank, batch_rank, partial, full, updates.ndim)
    updates = updates.transpose(np.argsort(order)) if updates.ndim else updates
    shape = (*indices.shape[:-1], *(sizes[a] for a in partial))
    out = np.array(_permute(x, indexed + full), order="C", copy=True)
    lead = out.shape[: len(indexed)]
    rows = np.broadcast_to(np.ravel_multi_index(grids, lead) if indexed else np.intp(0), shape).reshape(-1)
    flat = out.reshape(int(np.prod(lead)), -1) if out.size else out.reshape(0, 0)
    values = updates.reshape(len(rows), -1) if updates.size else updates.reshape(0, 0)
    if ok is not None and not ok.all():
        keep = np.broadcast_to(ok.reshape(ok.shape + (1,) * len(partial)), shape).reshape(-1)
        rows, values = rows[keep], values[keep]
    if len(rows) and out.size:
        combine(flat, rows, values, op)
    return _permute(out, list(np.argsort(indexed + full)))


def _write(out, position, updates, op):
    if op is None:
        out[position] = updates
    else:
        out[position] = op(out[position], updates)


def combine(flat, rows, values, op):
    """Combines row i of `values` into row rows[i] of `flat`, in order, in place."""
    if op is None:
        flat[rows] = values
        return
    if len(rows) == 1 or _are_distinct(rows, len(flat)):
        flat[rows] = op(flat[rows], values)
        return
    width = flat.shape[1]
    if width > 1:  # ufunc.at is fast for one axis only
        rows = (rows[:, None] * width + np.arange(width, dtype=np.intp)).reshape(-1)
    op.at(flat.reshape(-1), rows, values.reshape(-1))


def _are_distinct(rows, bound):
    if len(rows) > bound:
        return False
    seen = np.zeros(bound, bool)
    seen[rows] = True
    return np.count_nonzero(seen) == len(rows)
