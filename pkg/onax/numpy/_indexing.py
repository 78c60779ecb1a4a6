"""`x[index]`, and the operations that an index becomes, for `x.at[index]` too.

    read         a parsed index as a static slice, a dynamic slice or a gather, whichever is the simplest that does
    Indexer      a parsed index as the dimension numbers and index vectors of a gather or scatter

Out-of-bounds reads are clamped by default, out-of-bounds writes dropped; NumPy raises for both.
"""

import numpy as np

from onax import lax
from onax._core.trace import Tracer, as_array
from onax._core.transfer_guards import report_index
from onax._ground import dims, dtypes
from onax._ground.config import CHECK_STATIC_INDICES, KEY_REUSE, guard_state
from onax._native import context
from onax._native.array import Array, ArrayImpl, make_array
from onax._prims.slicing import dim_value, wrap_negative_indices
from onax.numpy._index_expressions import (
    ascending_bounds,
    leading_arrays,
    parse,
    python_slice,
    widen,
    wrap_known_indices,
)

_IN_BOUNDS = lax.GatherScatterMode.PROMISE_IN_BOUNDS
_FILL = lax.GatherScatterMode.FILL_OR_DROP
_CLIP = lax.GatherScatterMode.CLIP
_INT32 = np.dtype(np.int32)


def _wrap_int(i, size, wrap=True):
    return i + size if wrap and i < 0 else i


# ---- reading ----


def getitem(x, index):
    """`x[index]`: NumPy's indexing, except that out-of-bounds integers are clamped.

    Raises TypeError for lists, floats and strings as indices.
    """
    if guard_state.used:
        report_index(index)
    if type(x) is ArrayImpl and context.get_trace() is None and x._shards is None:
        out = _read_concrete(x, index)
        if out is not None:
            return out
    return read(x, index)


def read(x, index, *, mode=None, fill_value=None, indices_are_sorted=False, unique_indices=False, wrap=True):
    """The elements of x at the index; for mode, fill_value and the promises see `lax.gather`, `x.at[].get`."""
    parsed = parse(x.shape, index)
    if all(e.kind in ("new", "gap") or _is_whole_and_forward(e, x.shape) for e in parsed.entries):
        return _arrange(x, parsed, (), ())
    mode = _IN_BOUNDS if mode is None else lax.GatherScatterMode.from_any(mode)
    if mode is _IN_BOUNDS and context.option_word() & CHECK_STATIC_INDICES:
        _check_static_indices(parsed, wrap)
    if mode is not _FILL and not _takes_part_of_split(x, parsed):
        out = _read_by_slice(x, parsed, wrap, mode is _CLIP)
        if out is None:
            out = _read_by_dynamic_slice(x, parsed, wrap)
        if out is not None:
            return out
    indexer = Indexer(parsed, wrap)
    indices = indexer.indices()
    if parsed.inserted:
        x = lax.expand_dims(x, parsed.inserted)
    shape = indexer.slice_shape()
    if dims.definitely_empty(shape):
        out = lax.full(shape, np.zeros((), x.dtype)) if not dtypes.is_extended(x.dtype) else _empty_of(x, shape)
    else:
        out = lax.gather(
            x,
            indices,
            indexer.gather_dimension_numbers(),
            indexer.sizes,
            unique_indices=unique_indices or indexer.scalar,
            indices_are_sorted=indices_are_sorted or indexer.scalar,
            mode=mode,
            fill_value=fill_value,
        )
    return indexer.arrange_result(out)


def _check_static_indices(parsed, wrap):
    """Raises IndexError for an int out of bounds."""
    for entry in parsed.entries:
        if entry.kind == "int" and dims.is_constant(entry.value) and dims.is_constant(parsed.shape[entry.axis]):
            i, size = entry.value, parsed.shape[entry.axis]
            if not 0 <= _wrap_int(i, size, wrap) < size:
                text = f"index {i} out of bounds for axis {entry.axis} with size {size} (normalize_indices={wrap})"
                raise IndexError(text)


def _empty_of(x, shape):
    """An empty array of x's extended dtype."""
    return lax.reshape(lax.slice(lax.reshape(x, (x.size,)), (0,), (0,)), shape)


def _read_concrete(x, index):
    """The elements of a concrete array by NumPy's own indexing, at clamped indices; None if that does not apply."""
    if (
        isinstance(index, Tracer)
        or is_committed_elsewhere(x, index)
        or (dtypes.is_extended(x.dtype) and context.option_word() & KEY_REUSE)
        or context.option_word() & CHECK_STATIC_INDICES
    ):
        return None
    arrays = leading_arrays(x.shape, index)
    if arrays is None:
        return _read_parsed(x, parse(x.shape, index))
    if len(arrays) == 1:
        return array_like(x, x._value.take(arrays[0], axis=0, mode="clip"))
    return _read_numpy(x, x._value, [_clamp_array(a, size) for a, size in zip(arrays, x.shape)])


def _read_parsed(x, parsed):
    """`_read_concrete` of a parsed index; None if one of its arrays is traced or indexes an empty axis."""
    indices = []
    for entry in parsed.entries:
        if entry.kind == "int":
            size = parsed.shape[entry.axis]
            if x.ndim and size == 0:
                raise _empty_axis(entry.axis)
            indices.append(_clamp(_wrap_int(entry.value, size), size))
        elif entry.kind == "array":
            if isinstance(entry.value, Tracer):
                return None
            size = parsed.shape[entry.axis]
            array = wrap_known_indices(np.asarray(entry.value), size)
            if size == 0 and array.size:
                return None  # the general path raises the error
            array = _clamp_array(array, size)
            indices.append(array if array.ndim else int(array))
        elif entry.kind == "slice":
            indices.append(python_slice(entry.value))
        elif entry.kind == "sized":
            return None
        elif entry.kind == "new":
            indices.append(None)
        else:
            indices.append(...)
    value = x._value
    for axis in parsed.inserted:
        value = np.expand_dims(value, axis)
    return _read_numpy(x, value, indices)


def _read_numpy(x, value, indices):
    if not any(i is Ellipsis for i in indices):
        indices.append(...)  # NumPy then returns an array of rank 0, not a scalar
    try:
        return array_like(x, value[tuple(indices)])
    except IndexError:  # arrays that do not broadcast together: the general path raises JAX's error
        return None


def is_committed_elsewhere(x, index):
    """Whether an array of the index is committed to a device that is not x's own: then the general path decides."""
    for part in index if type(index) is tuple else (index,):
        if type(part) is ArrayImpl and part._committed and not (x._committed and part._device is x._device):
            return True
    return False


def array_like(x, value):
    """An ndarray as an Array with x's dtype, weak type and device."""
    return make_array(value, x.dtype, x.weak_type, x._device, x._committed)


def _clamp(i, size):
    return 0 if i < 0 else min(i, size - 1)


def _clamp_array(indices, size):
    return np.maximum(np.minimum(indices, size - 1), 0) if indices.size else indices


def _empty_axis(axis):
    return IndexError(f"index is out of bounds for axis {axis} with size 0")


def _provably_inside(i, size, wrap):
    if dims.is_constant(size) and dims.is_constant(i):
        return 0 <= _wrap_int(i, size, wrap) < size
    if dims.is_constant(i) and i < 0:
        return wrap and dims.definitely_at_least(size, -i)
    return dims.definitely_at_least(i, 0) and dims.definitely_at_least(size, i + 1)


def _read_by_slice(x, parsed, wrap, clip=False):
    """Reads by slice, rev, squeeze and new axes; None if a part is dynamic, or out of bounds without `clip`."""
    starts, limits, strides, dropped, flipped = [], [], [], [], []
    for entry in parsed.entries:
        if entry.kind in ("array", "sized"):
            return None
        if entry.kind == "int":
            size = x.shape[entry.axis]
            if dims.is_constant(size) and size == 0:
                raise _empty_axis(entry.axis)
            i = _wrap_int(entry.value, size, wrap)
            if not _provably_inside(entry.value, size, wrap):
                if not (clip and dims.is_constant(i) and dims.is_constant(size)):
                    return None
                i = min(max(i, 0), size - 1)
            bounds = i, i + 1, 1
            dropped.append(entry.axis)
        elif entry.kind == "slice":
            *_, step, count = entry.value
            if step < 0 and not dims.equal(step, -1) and not dims.is_constant(count):
                return None  # where such elements begin in ascending order cannot be compared with the length
            bounds = ascending_bounds(entry.value)
            if step < 0:
                flipped.append(entry.axis)
        else:
            continue
        for into, value in zip((starts, limits, strides), bounds):
            into.append(value)
    if tuple(limits) != tuple(x.shape) or any(starts) or any(s != 1 for s in strides):
        x = lax.slice(x, starts, limits, strides if any(s != 1 for s in strides) else None)
    return _arrange(x, parsed, dropped, flipped)


def _arrange(x, parsed, dropped, flipped):
    """Flips axes of x, drops those that integers index, and adds new axes."""
    if flipped:
        x = lax.rev(x, flipped)
    if dropped:
        x = lax.squeeze(x, dropped)
    new = _new_axes(parsed.entries)
    return lax.expand_dims(x, new) if new else x


def _new_axes(entries):
    """The positions of new axes in the result of an index without arrays."""
    remaining = [e for e in entries if e.kind in ("slice", "sized", "new")]
    return [i for i, e in enumerate(remaining) if e.kind == "new"]


def _takes_part_of_split(x, parsed):
    """Whether an index takes a part of an array whose type says that it is split: as in JAX, a gather reads that."""
    if type(x) is not ArrayImpl or x._shards is None or x.aval.stated_sharding is None:
        return False
    return any(e.kind not in ("new", "gap") and not _is_whole(e, x.shape) for e in parsed.entries)


def _is_whole_and_forward(entry, shape):
    return entry.kind == "slice" and dims.equal(entry.value[2], 1) and _is_whole(entry, shape)


def _is_whole(entry, shape):
    return entry.kind == "slice" and abs(entry.value[2]) == 1 and entry.value[3] == shape[entry.axis]


def _read_by_dynamic_slice(x, parsed, wrap):
    """Reads by one dynamic_slice; None if the index holds arrays or strides."""
    if parsed.inserted:
        return None
    starts, sizes, dropped, flipped = [], [], [], []
    for entry in parsed.entries:
        if entry.kind in ("new", "gap"):
            continue
        if entry.kind == "array":
            if np.ndim(entry.value) if not isinstance(entry.value, Array) else entry.value.ndim:
                return None
            starts.append(_scalar_index(entry.value))
        elif entry.kind == "int":
            start = _static_start(entry.value)
            starts.append(start if wrap or not isinstance(start, int) else max(start, 0))
        elif entry.kind == "sized":
            if entry.value.stride != 1:
                return None
            starts.append(_sized_start(entry.value))
            sizes.append(entry.value.size)
            continue
        else:
            if entry.value[2] not in (1, -1):
                return None
            low, limit, _ = ascending_bounds(entry.value)
            starts.append(_static_start(low))
            sizes.append(limit - low)
            if entry.value[2] < 0:
                flipped.append(entry.axis)
            continue
        sizes.append(1)
        dropped.append(entry.axis)
    for axis in dropped:
        if dims.is_constant(x.shape[axis]) and x.shape[axis] == 0:
            raise _empty_axis(axis)
    if any(isinstance(start, Array) for start in starts):  # of int32, which the others must be, too
        starts = [_INT32.type(start) if isinstance(start, int) else start for start in starts]
    x = lax.dynamic_slice(x, starts, sizes, allow_negative_indices=wrap)
    return _arrange(x, parsed, dropped, flipped)


def _scalar_index(value):
    """A scalar index as an int32 Array."""
    return lax.convert_element_type(value if isinstance(value, Array) else as_array(value), _INT32)


def _sized_start(part):
    """The start of a `SizedSlice`."""
    start = part.start
    if isinstance(start, (int, np.integer, dims.SymbolicDim)):
        return _static_start(start)
    return _scalar_index(start)


def _static_start(i):
    """A static start index; an array while staging, as JAX's jaxprs show it."""
    if not dims.is_constant(i):
        return dim_value(i, _INT32)
    trace = context.get_trace()
    return as_array(np.int32(i)) if trace is not None and trace.staging else i


# ---- gather and scatter ----


class Indexer:
    """An index as the dimension numbers and index vectors of a gather or scatter.

    sizes      of a window, for each operand axis
    scalar     whether no array of rank 1 or more takes part: one window, or an evenly spaced grid of them
    """

    def __init__(self, parsed, wrap=True):
        self.parsed = parsed
        self.shape = parsed.shape
        self.columns = []  # (operand axis, array of int32, first of its axes in the batch)
        self.batch = ()
        self.kinds = []  # of each axis of the result without new axes: "batch" or "window"
        self.lengths = []
        self.new = []  # where new axes lie in the result
        self.flipped = []  # axes of the result without new axes
        self.sizes = list(parsed.shape)
        self.dropped = []
        arrays = {k: e.value for k, e in enumerate(parsed.entries) if e.kind == "array"}
        arrays = {k: self._normalize_array(v, parsed.entries[k].axis, wrap) for k, v in arrays.items()}
        self.scalar = not any(len(v.shape) for v in arrays.values())
        self._build(arrays, wrap)
        self.sizes = tuple(self.sizes)

    def _normalize_array(self, value, axis, wrap):
        """Wraps negative indices of an integer array."""
        size = self.shape[axis]
        is_spread = type(value) is ArrayImpl and value._shards is not None  # over several devices
        if context.get_trace() is None and not isinstance(value, Tracer) and dims.is_constant(size) and not is_spread:
            known = wrap_known_indices(np.asarray(value), size) if wrap else np.asarray(value)
            out = as_array(_as_int32(known, size))
            committed = type(value) is ArrayImpl and value._committed
            return out._with(device=value._device, committed=True) if committed else out
        if isinstance(value, np.ndarray):
            value = value.astype(dtypes.canonicalize_dtype(value.dtype))
            if wrap and value.ndim and value.dtype.kind == "i":  # JAX compares what NumPy holds while staging
                negative, value = as_array(value < 0), widen(as_array(value), size)
                return lax.select_n(negative, value, lax.add(value, dim_value(size, value.dtype)))
        value = value if isinstance(value, Array) else as_array(value)
        return wrap_negative_indices(widen(value, size), size) if wrap else value

    def _build(self, arrays, wrap):
        entries = self.parsed.entries
        advanced = []
        if not self.scalar:
            advanced = [k for k, e in enumerate(entries) if e.kind in ("array", "int")]
        together = advanced == list(range(advanced[0], advanced[-1] + 1)) if advanced else True
        group_at = advanced[0] if advanced and together else 0
        for k, entry in enumerate(entries):
            if advanced and k == group_at:
                self._add_group(advanced, arrays, wrap)
            if k in advanced:
                continue
            if entry.kind == "new":
                self.new.append(len(self.kinds) + len(self.new))
            elif entry.kind == "slice":
                start, _, step, count = entry.value
                self._add_slice(entry.axis, start, ascending_bounds(entry.value)[0], step, count)
            elif entry.kind == "sized":
                start = _sized_start(entry.value)
                self._add_slice(entry.axis, start, start, entry.value.stride, entry.value.size)
            elif entry.kind != "gap":
                value = arrays[k] if entry.kind == "array" else self._scalar_int(entry, wrap)
                value = lax.convert_element_type(value, _INT32) if isinstance(value, Array) else value
                self._add_point(entry.axis, value, len(self.batch))

    def _add_group(self, advanced, arrays, wrap):
        """Broadcasts the arrays, and the integers among them, to one group of batch axes."""
        entries = self.parsed.entries
        shapes = [tuple(arrays[k].shape) if k in arrays else () for k in advanced]
        shape = lax.broadcast_shapes(*shapes)
        first = len(self.batch)
        values = [arrays[k] if k in arrays else self._weak_int(entries[k], wrap) for k in advanced]
        values = [
            v if tuple(v.shape) == shape else _broadcast_last(v, shape, len(shape) - len(v.shape)) for v in values
        ]
        for k, value in zip(advanced, values):
            self._add_point(entries[k].axis, lax.convert_element_type(value, _INT32), first)
        self.batch += shape
        self.kinds += ["batch"] * len(shape)
        self.lengths += shape

    def _weak_int(self, entry, wrap):
        """An integer that takes part in a group of arrays: of the default dtype and weakly typed, as JAX stages it."""
        value = self._scalar_int(entry, wrap)
        if isinstance(value, np.ndarray):
            return make_array(value.astype(dtypes.canonicalize_dtype(np.int64)), None, True)
        return value

    def _scalar_int(self, entry, wrap):
        size = self.shape[entry.axis]
        if dims.is_constant(size) and size == 0:
            raise _empty_axis(entry.axis)
        i = entry.value
        if not dims.is_constant(i) or (i < 0 and wrap and not dims.is_constant(size)):
            return dim_value(_wrap_int(i, size, wrap), _INT32)
        return np.asarray(_wrap_int(i, size, wrap)).astype(_INT32)

    def _add_point(self, axis, value, first):
        self.columns.append((axis, value, first))
        self.sizes[axis] = 1
        self.dropped.append(axis)

    def _add_slice(self, axis, start, low, step, count):
        if step == 1:
            self.kinds.append("window")
            self.lengths.append(count)
            if not dims.equal(count, self.shape[axis]):  # as long as the axis, it is the whole axis
                self.columns.append((axis, _scalar(low), len(self.batch)))
                self.sizes[axis] = count
            return
        indices = lax.iota(_INT32, count)
        indices = lax.add(_scalar(start), lax.mul(_scalar(step), indices))
        if step < 0:
            indices = lax.rev(indices, (0,))
            self.flipped.append(len(self.kinds))
        self._add_point(axis, indices, len(self.batch))
        self.batch += (count,)
        self.kinds.append("batch")
        self.lengths.append(count)

    def slice_shape(self):
        """The shape of the windows put together, without new axes."""
        return tuple(self.lengths)

    def full_shape(self):
        """The shape of `x[index]`."""
        shape = list(self.lengths)
        for index in self.new:
            shape.insert(index, 1)
        return tuple(shape)

    def indices(self):
        """The index vectors: shape (batch..., number of columns)."""
        if not self.columns:
            return as_array(np.zeros((*self.batch, 0), _INT32))
        shape = (*self.batch, 1)
        parts = []
        for _, value, first in self.columns:
            rank = len(value.shape)
            parts.append(lax.broadcast_in_dim(value, shape, tuple(range(first, first + rank))))
        return lax.concatenate(parts, len(self.batch))

    def gather_dimension_numbers(self):
        """The dimension numbers of the read."""
        return lax.GatherDimensionNumbers(
            offset_dims=self._window_axes(),
            collapsed_slice_dims=tuple(sorted(self.dropped)),
            start_index_map=tuple(axis for axis, _, _ in self.columns),
        )

    def scatter_dimension_numbers(self):
        """The dimension numbers of the write."""
        return lax.ScatterDimensionNumbers(
            update_window_dims=self._window_axes(),
            inserted_window_dims=tuple(sorted(self.dropped)),
            scatter_dims_to_operand_dims=tuple(axis for axis, _, _ in self.columns),
        )

    def _window_axes(self):
        return tuple(i for i, kind in enumerate(self.kinds) if kind == "window")

    def arrange_result(self, out):
        """The gathered windows in the order of the index: axes flipped back, new axes added."""
        if self.flipped:
            out = lax.rev(out, self.flipped)
        return lax.expand_dims(out, self.new) if self.new else out

    def arrange_updates(self, updates):
        """Updates of `full_shape` as the scatter takes them: the inverse of `arrange_result`."""
        if self.new:
            updates = lax.squeeze(updates, self.new)
        return lax.rev(updates, self.flipped) if self.flipped else updates


def _as_int32(where, size):
    """Converts indices to int32; those that do not fit become -1 or size and stay out of bounds."""
    return np.clip(where, -1, size).astype(_INT32)


def _scalar(d):
    if isinstance(d, (Array, np.ndarray)):
        return d
    return np.asarray(d).astype(_INT32) if dims.is_constant(d) else dim_value(d, _INT32)


def _broadcast_last(value, shape, offset):
    """Broadcasts value to shape, aligned at the last axes."""
    return lax.broadcast_in_dim(value, shape, tuple(range(offset, len(shape))))
