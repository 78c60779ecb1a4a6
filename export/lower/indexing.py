"""Lowerings of gather and scatter.

The axes of the operand are of three kinds: indexed axes (S), axes batched with an axis of the indices (B), and the rest
(F), which a window covers completely.  An axis that a window covers in part and no index reaches is sliced, or counts
as S with start 0.  GatherND and ScatterND work on axes in the order (B, S, F); Gather if S is one axis.  No index
out of bounds reaches the runtime: starts are clamped, and elements out of bounds are masked after a gather or before a
scatter.

The other direction: `pkg/onax/onnx/indexing.py`.
"""

import numpy as np

from onax._ground import dims as dim_rules
from onax._prims import indexing as prims
from onax._prims.reductions import highest, lowest
from onax.export.graph import ops
from onax.export.graph.bounds import known_elements
from onax.export.lower.convert import F32, HALVES, INT32, INT64
from onax.export.lower.indexing_apply import scatter_apply
from onax.export.lower.registry import lowers
from onax.export.lower.shaping import arange
from onax.export.lower.slicing import clamp_index, index64

BOOL = np.dtype(np.bool_)

# ---- starts: the columns of the indices


def _columns(g, indices):
    """The components of the index vectors, each of the indices' batch shape."""
    count = indices.shape[-1]
    if indices.const is not None:
        return [g.const(indices.const[..., i]) for i in range(count)]
    batch = indices.shape[:-1]
    if count == 1:
        return [ops.reshape(g, indices, batch)]
    node = indices.node
    if (
        node is not None
        and node.op_type == "Concat"
        and node.attributes["axis"] == indices.ndim - 1
        and all(dim_rules.equal(v.shape[-1], 1) for v in node.inputs)
    ):
        return [ops.reshape(g, v, batch) for v in node.inputs]
    return [ops.gather(g, indices, g.const(i, INT64), indices.ndim - 1) for i in range(count)]


class _Starts:
    """Clamped starts by operand axis, each of the indices' batch shape; `valid`: where all were in bounds, or None."""

    __slots__ = ("by_axis", "valid")

    def __init__(self, g, shape, indices, axes, sizes, masked):
        self.by_axis = {}
        self.valid = None
        for axis, column in zip(axes, _columns(g, indices)):
            limit = shape[axis] - sizes[axis]
            start = clamp_index(g, column, limit)
            if masked and start is not column:
                self._mask(g, column, start)
            if not dim_rules.equal(limit, 0):
                self.by_axis[axis] = start

    def _mask(self, g, column, start):
        """Starts that clamping changed were out of bounds."""
        if column.const is not None and start.const is not None:
            if (column.const == start.const).all():
                return
            same = g.const(column.const == start.const)
        else:
            same = ops.equal(g, column if column.dtype == start.dtype else index64(g, column), start)
        self.valid = same if self.valid is None else ops.logical_and(g, self.valid, same)


def _add_window_offsets(g, start, size, after, ndim):
    """start + arange(size) along a new axis: number `after` of the `ndim` window axes that follow start's axes."""
    shape = (*start.shape, *[1] * ndim)
    start = ops.reshape(g, start, shape)
    if dim_rules.equal(size, 1):
        return start
    if start.const is not None and dim_rules.is_constant(size):
        steps = np.arange(size).reshape([size if i == after else 1 for i in range(ndim)])
        return g.const((start.const + steps).astype(start.dtype))
    steps = arange(g, size, start.dtype)
    return ops.add(g, start, ops.reshape(g, steps, [size if i == after else 1 for i in range(ndim)]))


def _index_vectors(g, columns, shape):
    """Stacks columns, which broadcast to `shape`, into int64 index vectors along a new last axis."""
    if all(c.const is not None for c in columns) and dim_rules.is_constant_shape(shape):
        arrays = [np.broadcast_to(c.const, shape) for c in columns]
        return g.const(np.stack(arrays, -1), INT64)
    parts = [ops.unsqueeze(g, ops.expand(g, index64(g, c), shape), (len(shape),)) for c in columns]
    return ops.concat(g, parts, len(shape))


# ---- gather


def _fill_value(dtype, fill_value):
    """The value of elements out of bounds."""
    return np.asarray(prims.default_fill(dtype) if fill_value is None else fill_value).astype(dtype)


def _slice_uncovered(g, x, sizes, keep):
    """Slices x to the window along axes that no index reaches."""
    limits = [d if i in keep else sizes[i] for i, d in enumerate(x.shape)]
    return ops.slice_(g, x, [0] * x.ndim, limits)


def _gather_nd(g, x, columns, axes, paired, windows):
    """GatherND; the axes of the result are (batched axes, other batch axes, windows, rest).

    columns  the starts by axis of S, whose batched axes come first
    """
    order = {a: i for i, a in enumerate(windows)}
    wide = [_add_window_offsets(g, columns[a], windows.get(a, 1), order.get(a, 0), len(windows)) for a in axes]
    shape = wide[0].shape
    for w in wide[1:]:
        shape = ops.broadcast_shape(shape, w.shape)
    rest = [i for i in range(x.ndim) if i not in axes and i not in paired]
    moved = ops.transpose(g, x, (*paired, *axes, *rest))
    vectors = _index_vectors(g, wide, shape)
    out = (*shape, *[x.shape[i] for i in rest])
    attributes = {"batch_dims": len(paired)} if paired else {}
    return g.node("GatherND", moved, vectors, out=(out, x.dtype), **attributes)


def _gather_one_axis(g, x, column, axis, size):
    """Gather for one axis of S and no B: the axes of the result are (before axis, batch, window if any, after axis)."""
    index = column if size is None else _add_window_offsets(g, column, size, 0, 1)
    index = index if index.dtype in (INT32, INT64) else index64(g, index)
    return ops.gather(g, x, index, axis)


def _arrange(g, result, have, want, out):
    """Transposes axes named `have` to the order `want`, then reshapes to `out`, which may add axes of length 1."""
    result = ops.transpose(g, result, [have.index(name) for name in want if name in have])
    return ops.reshape(g, result, out.shape)


@lowers(prims.gather_p)
def _gather(g, out, x, indices, *, dimension_numbers, slice_sizes, mode, fill_value=None, **_):
    d = dimension_numbers
    if dim_rules.definitely_empty(out.shape):
        return ops.full(g, out.shape, 0, out.dtype)
    masked = mode is prims.GatherScatterMode.FILL_OR_DROP
    starts = _Starts(g, x.shape, indices, d.start_index_map, slice_sizes, masked)
    paired = tuple(d.operand_batching_dims)
    axes = [a for a in range(x.ndim) if a in starts.by_axis]
    x = _slice_uncovered(g, x, slice_sizes, (*axes, *paired))
    result = _gather_clamped(g, out, x, starts, axes, paired, d, slice_sizes)
    if starts.valid is None:
        return result
    valid = ops.reshape(g, starts.valid, [1 if i in d.offset_dims else n for i, n in enumerate(out.shape)])
    fill = g.const(_fill_value(out.dtype, fill_value))
    if out.dtype == BOOL:  # Where has no bool kernel
        if bool(fill.const):
            return ops.binary(g, "Or", result, g.node("Not", valid))
        return ops.logical_and(g, result, valid)
    return g.node("Where", valid, result, fill, out=out)


def _gather_clamped(g, out, x, starts, axes, paired, d, sizes):
    """The gather, without masking."""
    # Names of the result's axes: ("batch", i) of the indices, ("operand", a) of the operand.
    batch_names = [("batch", i) for i in range(out.ndim - len(d.offset_dims))]
    dropped = (*d.collapsed_slice_dims, *paired)
    offset_names = iter([("operand", a) for a in range(x.ndim) if a not in dropped])
    batches = iter(batch_names)
    want = [next(offset_names) if i in d.offset_dims else next(batches) for i in range(out.ndim)]
    windows = {a: sizes[a] for a in axes if a not in d.collapsed_slice_dims}
    if not axes:
        return _broadcast_windows(g, out, x, d, want)
    if len(axes) == 1 and not paired:
        (a,) = axes
        result = _gather_one_axis(g, x, starts.by_axis[a], a, windows.get(a))
        before = [("operand", i) for i in range(a)]
        after = [("operand", i) for i in range(a + 1, x.ndim)]
        have = [*before, *batch_names, *([("operand", a)] if a in windows else []), *after]
        return _drop_collapsed(g, result, have, want, d, out)
    paired_batch = list(d.start_indices_batching_dims)
    others = [i for i in range(len(batch_names)) if i not in paired_batch]
    order = (*paired_batch, *others)
    columns = {a: ops.transpose(g, starts.by_axis[a], order) for a in axes}
    result = _gather_nd(g, x, columns, axes, paired, windows)
    rest = [("operand", i) for i in range(x.ndim) if i not in axes and i not in paired]
    have = [*[("batch", i) for i in order], *[("operand", a) for a in windows], *rest]
    return _drop_collapsed(g, result, have, want, d, out)


def _drop_collapsed(g, result, have, want, d, out):
    """Squeezes collapsed axes (length 1) that the result still has, then arranges the others."""
    extra = [i for i, name in enumerate(have) if name not in want]
    result = ops.squeeze(g, result, extra)
    return _arrange(g, result, [n for n in have if n in want], want, out)


def _broadcast_windows(g, out, x, d, want):
    """The gather if all starts are 0: broadcasts the window over the batch axes."""
    pairs = dict(zip(d.operand_batching_dims, d.start_indices_batching_dims))
    x = ops.squeeze(g, x, d.collapsed_slice_dims)
    axes = [a for a in range(len(d.collapsed_slice_dims) + x.ndim) if a not in d.collapsed_slice_dims]
    have = [("batch", pairs[a]) if a in pairs else ("operand", a) for a in axes]
    x = ops.transpose(g, x, [have.index(name) for name in want if name in have])
    shape = [n if name in have else 1 for name, n in zip(want, out.shape)]
    return ops.expand(g, ops.reshape(g, x, shape), out.shape)


# ---- scatter


def _identity(reduction, dtype):
    """The identity element of a reduction."""
    if reduction in ("add", "mul"):
        return np.array(reduction == "mul").astype(dtype)
    return (highest if reduction == "min" else lowest)(dtype)


class _ScatterLayout:
    """The correspondence between the axes of a scatter's operand, indices and updates."""

    __slots__ = ("axes", "batch", "operand_order", "paired", "rest", "sizes", "update_order", "windows")

    def __init__(self, x, updates, d, by_axis):
        dropped = (*d.inserted_window_dims, *d.operand_batching_dims)
        window_axes = [a for a in range(x.ndim) if a not in dropped]
        position = dict(zip(window_axes, d.update_window_dims))  # operand axis -> axis of updates
        self.sizes = [updates.shape[position[a]] if a in position else 1 for a in range(x.ndim)]
        self.paired = tuple(d.operand_batching_dims)
        # An axis that the window covers in part is indexed, from 0 when no index reaches it.
        self.axes = [a for a in range(x.ndim) if a not in self.paired
                     and (a in by_axis or not dim_rules.equal(self.sizes[a], x.shape[a]))]  # fmt: skip
        if not self.axes and not self.paired:
            self.axes = [0]
        self.windows = [a for a in self.axes if a in position]
        self.rest = [a for a in window_axes if a not in self.axes]
        batch = [i for i in range(updates.ndim) if i not in d.update_window_dims]
        self.batch = [updates.shape[i] for i in batch]
        self.operand_order = (*self.paired, *self.axes, *[a for a in range(x.ndim) if a in self.rest or
                              (a not in self.axes and a not in self.paired)])  # fmt: skip
        self.update_order = (*batch, *[position[a] for a in self.windows], *[position[a] for a in self.rest])


def _window_sizes(x, updates, d):
    """The window's size along each operand axis."""
    dropped = (*d.inserted_window_dims, *d.operand_batching_dims)
    position = iter(d.update_window_dims)
    return [1 if a in dropped else updates.shape[next(position)] for a in range(x.ndim)]


def _scatter_columns(g, layout, starts, d):
    """(index columns of the operand axes (B, S), their shape (batch, windows))."""
    nb, nw = len(layout.batch), len(layout.windows)
    columns = []
    for position in d.scatter_indices_batching_dims:
        line = arange(g, layout.batch[position], INT64)
        columns.append(ops.reshape(g, line, [layout.batch[position] if i == position else 1 for i in range(nb + nw)]))
    for a in layout.axes:
        start = starts.by_axis.get(a)
        if start is None:
            start = g.const(np.zeros([1] * nb, np.int64))
        size = layout.sizes[a] if a in layout.windows else 1
        after = layout.windows.index(a) if a in layout.windows else 0
        columns.append(_add_window_offsets(g, start, size, after, nw))
    return columns, (*layout.batch, *[layout.sizes[a] for a in layout.windows])


def _redirect_invalid(g, x, columns, valid, layout, n):
    """For a plain scatter: redirects updates out of bounds to a slot behind the n elements of the operand's first axis,
    which is added if the axis has none."""
    if dim_rules.equal(x.shape[0], n):
        x = ops.concat(g, (x, ops.slice_(g, x, [0] * x.ndim, [1, *x.shape[1:]])), 0)
    bad = ops.reshape(g, valid, (*valid.shape, *[1] * len(layout.windows)))
    return x, [ops.where(g, bad, index64(g, columns[0]), g.dim(n)), *columns[1:]]


def _may_be_empty(n):
    return not dim_rules.is_constant(n) and not dim_rules.definitely_at_least(n, 1)


def _add_slots(g, x, columns, first):
    """Adds a slot along indexed axes, from `first` on, that may be empty.

    The runtime wants indices in bounds of dropped updates too, and clamping to an empty axis gives -1.
    """
    columns = list(columns)
    for i, column in enumerate(columns[first:], first):
        if _may_be_empty(x.shape[i]):
            slot = ops.expand(g, ops.scalar(g, 0, x), [1 if j == i else d for j, d in enumerate(x.shape)])
            x = ops.concat(g, (x, slot), i)
            columns[i] = ops.maximum(g, column, ops.scalar(g, 0, column))
    return x, columns


# The runtime (1.31.1) runs ScatterND on several threads without guarding elements that several updates write: sums lose
# terms.  It uses one thread below 110,000 units of cost, which are the elements written.
_ONE_THREAD = 100_000
_MOST_PARTS = 64


def _scatter_nd(g, x, vectors, updates, meeting, reduction):
    """ScatterND; if updates may overlap (`meeting` is their reduction), in portions that one thread writes."""
    attributes = {"reduction": reduction} if reduction else {}
    depth = vectors.shape[-1]
    rows, width = dim_rules.prod(vectors.shape[:-1]), dim_rules.prod(x.shape[depth:])
    known = dim_rules.is_constant(rows) and dim_rules.is_constant(width)
    if vectors.const is not None:
        flat = vectors.const.reshape(-1, depth)
        meeting = meeting if len(np.unique(flat, axis=0)) < len(flat) else None
    if meeting is None or dim_rules.equal(rows, 1) or (known and rows * width <= _ONE_THREAD):
        return g.node("ScatterND", x, vectors, updates, out=x.aval, **attributes)
    vectors = ops.reshape(g, vectors, (rows, depth))
    updates = ops.reshape(g, updates, (rows, *x.shape[depth:]))
    portion = max(1, _ONE_THREAD // max(width, 1)) if known else 1
    if not known or rows > portion * _MOST_PARTS:
        return _scatter_elements(g, x, vectors, updates, rows, width, attributes)
    for start in range(0, rows, portion):
        end = min(start + portion, rows)
        positions, values = (
            ops.slice_(g, v, (start, *[0] * (v.ndim - 1)), (end, *v.shape[1:])) for v in (vectors, updates)
        )
        x = g.node("ScatterND", x, positions, values, out=x.aval, **attributes)
    return x


def _scatter_elements(g, x, vectors, updates, rows, width, attributes):
    """ScatterElements, which runs on one thread: slower, for many updates or an unknown number of them."""
    depth = vectors.shape[-1]
    strides = [dim_rules.prod(x.shape[i + 1 : depth]) for i in range(depth)]
    factors = ops.reshape(g, g.shape_const(strides), (depth, 1))
    flat = g.node("MatMul", vectors, factors, out=((rows, 1), INT64)) if depth > 1 else vectors
    positions = ops.expand(g, flat, (rows, width))
    operand = ops.reshape(g, x, (dim_rules.prod(x.shape[:depth]), width))
    updates = ops.reshape(g, updates, (rows, width))
    result = g.node("ScatterElements", operand, positions, updates, out=operand.aval, axis=0, **attributes)
    return ops.reshape(g, result, x.shape)


def scatter(g, out, x, indices, updates, d, mode, reduction, unique=False):
    """Writes (reduction None) or combines updates; `mode` drops windows out of bounds or clips them."""
    if dim_rules.definitely_empty(updates.shape) or dim_rules.definitely_empty(x.shape):
        return x
    if x.ndim == 0:
        x = ops.reshape(g, x, (1,))
        sizes = [1]
    else:
        sizes = _window_sizes(x, updates, d)
    masked = mode not in (prims.GatherScatterMode.CLIP, prims.GatherScatterMode.CLAMPED)
    starts = _Starts(g, x.shape, indices, d.scatter_dims_to_operand_dims, sizes, masked)
    layout = _ScatterLayout(x, updates, d, starts.by_axis)
    columns, shape = _scatter_columns(g, layout, starts, d)
    moved = ops.transpose(g, x, layout.operand_order)
    updates = ops.transpose(g, updates, layout.update_order)
    valid, before = starts.valid, moved
    single = dim_rules.equal(dim_rules.prod(layout.batch), 1)
    moved, columns = _add_slots(g, moved, columns, len(layout.paired))
    if valid is not None and reduction is None and not single:
        moved, columns = _redirect_invalid(g, moved, columns, valid, layout, before.shape[0])
    vectors = _index_vectors(g, columns, shape)
    rest = moved.shape[len(layout.paired) + len(layout.axes) :]
    updates = ops.reshape(g, updates, (*shape, *rest))
    if valid is not None and (reduction or single):
        is_valid = ops.reshape(g, valid, (*valid.shape, *[1] * (updates.ndim - valid.ndim)))
        if reduction:
            idle = g.const(_identity(reduction, x.dtype))
        else:  # a single window writes back the old elements
            idle = g.node("GatherND", moved, vectors, out=updates.aval)
        updates = ops.where(g, is_valid, updates, idle)
    result = _scatter_nd(g, moved, vectors, updates, None if unique else reduction, reduction)
    if moved is not before:
        result = ops.slice_(g, result, [0] * moved.ndim, list(before.shape))
    result = ops.transpose(g, result, np.argsort(layout.operand_order))
    return ops.reshape(g, result, out.shape)


def _nan_results(g, out, x, indices, updates, d, mode, unique):
    """Where a scattered minimum or maximum is NaN: the runtime drops NaN of the operand and of overlapping updates."""
    known = known_elements(updates)
    nan = ops.is_nan(g, x)
    if unique or (known is not None and not np.isnan(known).any()):
        return nan
    marks = ops.cast(g, ops.is_nan(g, updates), F32)
    met = scatter(g, out, ops.cast(g, nan, F32), indices, marks, d, mode, "max", unique)
    return ops.greater(g, met, g.const(np.float32(0)))


def _scatter_apply(g, x, indices, updates, numbers, mode, jaxpr, unique, params):
    return scatter_apply(
        g,
        x,
        indices,
        updates,
        dimension_numbers=numbers,
        mode=mode,
        update_jaxpr=jaxpr,
        update_consts=params["update_consts"],
        unique_indices=unique,
    )


def _register(primitive, reduction, negated=False):
    """Registers a scatter; `reduction` is the name in ONNX, None to overwrite; `negated` subtracts the updates."""

    def rule(g, out, x, indices, updates, *, dimension_numbers, mode, update_jaxpr, unique_indices=False, **params):
        if reduction is None and update_jaxpr is not None:
            return _scatter_apply(g, x, indices, updates, dimension_numbers, mode, update_jaxpr, unique_indices, params)
        if reduction and x.dtype in HALVES:  # rounded once, not after each overlapping update
            x, updates = ops.cast(g, x, F32), ops.cast(g, updates, F32)
        if negated:
            updates = ops.sub(g, ops.scalar(g, 0, updates), updates)
        result = scatter(g, out, x, indices, updates, dimension_numbers, mode, reduction, unique_indices)
        if reduction in ("min", "max") and x.dtype.kind == "f":
            nan = _nan_results(g, out, x, indices, updates, dimension_numbers, mode, unique_indices)
            result = ops.where(g, nan, ops.scalar(g, np.nan, result), result)
        return ops.cast(g, result, out.dtype)

    lowers(primitive)(rule)


_register(prims.scatter_p, None)
_register(prims.scatter_add_p, "add")
_register(prims.scatter_sub_p, "add", negated=True)
_register(prims.scatter_mul_p, "mul")
_register(prims.scatter_min_p, "min")
_register(prims.scatter_max_p, "max")
