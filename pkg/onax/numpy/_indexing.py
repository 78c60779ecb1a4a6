"""`x[index]` and the common ground of `x.at[index]`: what an index means, and the operations it becomes.

    parse        index -> entries, one for each operand axis or new axis; masks become integer arrays
    read         the entries as a static slice, a dynamic slice or a gather, whichever is the simplest that does
    update       the entries as the indices of a scatter

Out-of-bounds reads are clamped by default, out-of-bounds writes dropped; NumPy raises for both.
"""

import operator

import numpy as np

from onax import lax
from onax._core.trace import Tracer, as_array
from onax._ground import dims, dtypes
from onax._ground.config import KEY_REUSE
from onax._ground.errors import NonConcreteBooleanIndexError
from onax._native import context
from onax._native.array import Array, ArrayImpl, make_array
from onax._prims.slicing import dim_value, wrap_negative_indices

_IN_BOUNDS = lax.GatherScatterMode.PROMISE_IN_BOUNDS
_FILL = lax.GatherScatterMode.FILL_OR_DROP
_CLIP = lax.GatherScatterMode.CLIP
_INT32 = np.dtype(np.int32)
_WHOLE = slice(None)


class Entry:
    """One part of an index.

    kind   "new" (a new axis), "int", "slice", "array" (integers, rank 0 included), "gap" (an Ellipsis for no axes,
           which parts arrays all the same)
    value  None, the int (or symbolic dimension), (start, stop, step, count), the array
    axis   the operand axis it speaks of
    """

    __slots__ = ("axis", "kind", "value")

    def __init__(self, kind, value, axis):
        self.kind = kind
        self.value = value
        self.axis = axis


class Parsed:
    """An index against a shape: the entries in order, and operand axes to insert (by boolean scalars)."""

    __slots__ = ("entries", "inserted", "shape")

    def __init__(self, entries, inserted, shape):
        self.entries = entries
        self.inserted = inserted
        self.shape = shape


# ---- what an index means ----


def parse(shape, index):
    """The index as entries.

    Raises IndexError for too many indices or a mask of the wrong shape, TypeError for what is no index,
    NonConcreteBooleanIndexError for a mask that is being traced.
    """
    parts = [_checked(part) for part in _as_tuple(index)]
    used = sum(_axes_used(part) for part in parts)
    if used > len(shape):
        raise IndexError(f"Too many indices: array is {len(shape)}-dimensional, but {used} were indexed")
    dots = [k for k, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    at = dots[0] if dots else len(parts)
    rest = [_WHOLE] * (len(shape) - used) or [Ellipsis] * len(dots)
    parts[at : at + 1] = rest
    return _entries(shape, parts)


def _as_tuple(index):
    if isinstance(index, tuple):
        return index
    if isinstance(index, (list, range)):
        raise TypeError(
            "Using a non-tuple sequence for multidimensional indexing is not allowed; use `arr[array(seq)]` instead of "
            "`arr[seq]`. See https://github.com/jax-ml/jax/issues/4564 for more information."
        )
    return (index,)


def _checked(part):
    """One part: None, Ellipsis, a slice, an int, a bool, a NumPy or onax array of integers or bools."""
    if part is None or part is Ellipsis or isinstance(part, (slice, bool, np.bool_, dims.SymbolicDim)):
        return part
    if isinstance(part, (int, np.integer)):
        return int(part)
    if isinstance(part, str):
        raise TypeError(f"JAX does not support string indexing; got idx={part!r}")
    if isinstance(part, (list, tuple, range)):
        part = _from_sequence(part)
    if not isinstance(part, Array) and hasattr(type(part), "__jax_array__"):
        part = part.__jax_array__()
    if isinstance(part, (Array, np.ndarray, np.generic)):
        if part.dtype != np.bool_ and not dtypes.issubdtype(part.dtype, np.integer):
            raise _wrong_type(part.dtype)
        return part
    if isinstance(part, (float, complex)):
        raise _wrong_type(np.dtype(type(part)))
    return operator.index(part)


def _wrong_type(dtype):
    return TypeError(f"Indexer must have integer or boolean type, got indexer with type {dtype}")


def _from_sequence(part):
    """A list inside a tuple, as an array; an empty one is of integers."""
    if any(isinstance(i, Tracer) for i in part):
        return lax.concatenate([lax.reshape(lax.convert_element_type(i, _INT32), (1,)) for i in part], 0)
    array = np.asarray(part)
    return array if array.size else array.astype(np.int32)


def _axes_used(part):
    if part is None or part is Ellipsis or isinstance(part, (bool, np.bool_)):
        return 0
    if isinstance(part, (Array, np.ndarray)) and part.dtype == np.bool_:
        return part.ndim
    return 1


def _entries(shape, parts):
    entries, inserted, axis = [], [], 0
    shape = list(shape)
    for position, part in enumerate(parts):
        if part is None or part is Ellipsis:
            entries.append(Entry("new" if part is None else "gap", None, None))
            continue
        if isinstance(part, slice):
            entries.append(Entry("slice", _resolved(part, shape[axis], position), axis))
        elif isinstance(part, (bool, np.bool_)) or (not isinstance(part, int) and _is_mask(part)):
            found = _places_of(part, shape, axis, position)
            if not np.ndim(part):
                shape.insert(axis, 1)
                inserted.append(axis)
            entries += [Entry("array", where, axis + i) for i, where in enumerate(found)]
            axis += len(found)
            continue
        elif isinstance(part, (int, dims.SymbolicDim)):
            entries.append(Entry("int", part, axis))
        else:
            entries.append(Entry("array", part, axis))
        axis += 1
    return Parsed(entries, inserted, tuple(shape))


def _is_mask(part):
    return not isinstance(part, dims.SymbolicDim) and part.dtype == np.bool_


def _places_of(mask, shape, axis, position):
    """The places where a mask is true, one NumPy array for each of its axes; for a scalar those of a new axis."""
    if isinstance(mask, Tracer):
        concrete = mask.to_concrete_value()
        if concrete is None:
            raise NonConcreteBooleanIndexError(mask)
        mask = concrete
    mask = np.asarray(mask)
    if mask.ndim == 0:
        return (np.zeros(int(bool(mask)), np.int32),)
    expected = shape[axis : axis + mask.ndim]
    if not dims.equal_shapes(mask.shape, expected):
        raise IndexError(
            f"boolean index did not match shape of indexed array in index {position}: got {mask.shape}, expected "
            f"{expected}"
        )
    integer = dtypes.canonicalize_dtype(np.int64)
    return tuple(where.astype(integer) for where in mask.nonzero())


def _resolved(part, size, position):
    """(start, stop, step, count) of a slice: start and stop inside the axis, in the order of the step."""
    bounds = part.start, part.stop, part.step
    if any(isinstance(b, Tracer) for b in bounds):
        raise IndexError(f"Slice entries must be static integers. Got {part} at position {position}")
    start, stop, step = (b if b is None else dims.as_dim(b) for b in bounds)
    if not (dims.is_constant(size) and dims.is_constant(start) and dims.is_constant(stop)):
        return _resolved_symbolic(start, stop, 1 if step is None else step, size)
    start, stop, step = slice(start, stop, step).indices(size)
    return start, stop, step, len(range(start, stop, step))


def _resolved_symbolic(start, stop, step, size):
    if step > 0:
        first = 0 if start is None else _inside(start, size, 0)
        last = size if stop is None else _inside(stop, size, 0)
        return first, last, step, dims.non_negative(dims.ceil_div(last - first, step))
    first = size - 1 if start is None else _inside(start, size - 1, -1, size)
    last = -1 if stop is None else _inside(stop, size - 1, -1, size)
    return first, last, step, dims.non_negative(dims.ceil_div(first - last, -step))


def _inside(bound, high, low, size=None):
    """A bound of a slice, counted from the end if negative, between low and high."""
    if bound >= 0:
        return dims.min_dim(high, bound)
    return dims.max_dim(bound + (high if size is None else size), low)


def _wrapped_int(i, size, wrap=True):
    return i + size if wrap and i < 0 else i


# ---- reading ----


def getitem(x, index):
    """`x[index]`: NumPy's indexing, except that out-of-bounds integers are clamped.

    Raises TypeError for lists, floats and strings as indices.
    """
    if type(x) is ArrayImpl and context.get_trace() is None and x._shards is None:
        out = _read_now(x, index)
        if out is not None:
            return out
    return read(x, index)


def read(x, index, *, mode=None, fill_value=None, indices_are_sorted=False, unique_indices=False, wrap=True):
    """The elements of x at the index; for mode, fill_value and the promises see `lax.gather`, `x.at[].get`."""
    mode = _IN_BOUNDS if mode is None else lax.GatherScatterMode.from_any(mode)
    parsed = parse(x.shape, index)
    if mode is not _FILL:
        out = _static(x, parsed, wrap)
        if out is None:
            out = _dynamic(x, parsed, wrap)
        if out is not None:
            return out
    plan = Plan(parsed, wrap)
    indices = plan.indices()
    if parsed.inserted:
        x = lax.expand_dims(x, parsed.inserted)
    shape = plan.slice_shape()
    if dims.definitely_empty(shape):
        out = lax.full(shape, np.zeros((), x.dtype)) if not dtypes.is_extended(x.dtype) else _none_of(x, shape)
    else:
        out = lax.gather(
            x,
            indices,
            plan.gather_numbers(),
            plan.sizes,
            unique_indices=unique_indices or plan.scalar,
            indices_are_sorted=indices_are_sorted or plan.scalar,
            mode=mode,
            fill_value=fill_value,
        )
    return plan.finished(out)


def _none_of(x, shape):
    """An empty array of x's extended dtype."""
    return lax.reshape(lax.slice(lax.reshape(x, (x.size,)), (0,), (0,)), shape)


def _read_now(x, index):
    """The elements of a concrete array by NumPy's own indexing, at clamped places; None where that is not it."""
    if (
        isinstance(index, Tracer)
        or places_result(x, index)
        or (dtypes.is_extended(x.dtype) and context.option_word() & KEY_REUSE)
    ):
        return None
    if type(index) is ArrayImpl and index.ndim and index.dtype.kind in "iu" and x.ndim and x.shape[0]:
        places = from_end(index._value, x.shape[0])
        return wrapped(x, x._value.take(places, axis=0, mode="clip"))
    parsed = parse(x.shape, index)
    places = []
    for entry in parsed.entries:
        if entry.kind == "int":
            if x.ndim and parsed.shape[entry.axis] == 0:
                raise _empty_axis(entry.axis)
            places.append(_clamp(_wrapped_int(entry.value, parsed.shape[entry.axis]), parsed.shape[entry.axis]))
        elif entry.kind == "array":
            if isinstance(entry.value, Tracer):
                return None
            size = parsed.shape[entry.axis]
            where = from_end(np.asarray(entry.value), size)
            if size == 0 and where.size:
                return None  # the general path says what is wrong
            where = np.clip(where, 0, size - 1) if where.size else where
            places.append(where if where.ndim else int(where))
        elif entry.kind == "slice":
            places.append(as_slice(entry.value))
        elif entry.kind == "new":
            places.append(None)
        else:
            places.append(...)
    if not any(p is Ellipsis for p in places):
        places.append(...)  # NumPy then gives an array of rank 0, not a scalar
    value = x._value
    for axis in parsed.inserted:
        value = np.expand_dims(value, axis)
    try:
        return wrapped(x, value[tuple(places)])
    except IndexError:  # arrays that do not broadcast together: the general path says so in JAX's words
        return None


def places_result(x, index):
    """Whether arrays of an index are committed to a device that is not x's own: then the general path decides."""
    for part in index if type(index) is tuple else (index,):
        if type(part) is ArrayImpl and part._committed and not (x._committed and part._device is x._device):
            return True
    return False


def wrapped(x, value):
    """A piece of x, or an array of x's type, as an Array beside x."""
    return make_array(value, x.dtype, x.weak_type, x._device, x._committed)


def as_slice(resolved):
    """The Python slice for (start, stop, step, count)."""
    start, stop, step, count = resolved
    if count == 0:
        return slice(0, 0)
    return slice(start, stop if stop >= 0 else None, step)


def from_end(where, size):
    """Integer places (an ndarray), the negative ones counted from the end."""
    if where.dtype.kind == "u":
        return where.astype(np.intp) if where.dtype.itemsize < 8 else np.minimum(where, size).astype(np.intp)
    where = where.astype(np.intp, copy=False)
    if where.size and where.min() < 0:
        where = np.where(where < 0, where + size, where)
    return where


def _clamp(i, size):
    return 0 if i < 0 else min(i, size - 1)


def _empty_axis(axis):
    return IndexError(f"index is out of bounds for axis {axis} with size 0")


def _provably_inside(i, size, wrap):
    if dims.is_constant(size) and dims.is_constant(i):
        return 0 <= _wrapped_int(i, size, wrap) < size
    if dims.is_constant(i) and i < 0:
        return wrap and dims.definitely_at_least(size, -i)
    return dims.definitely_at_least(i, 0) and dims.definitely_at_least(size, i + 1)


def _static(x, parsed, wrap):
    """The index as slice, rev, squeeze and new axes; None when some part is dynamic or out of bounds."""
    starts, limits, strides, dropped, flipped = [], [], [], [], []
    for entry in parsed.entries:
        if entry.kind == "array":
            return None
        if entry.kind == "int":
            size = x.shape[entry.axis]
            if dims.is_constant(size) and size == 0:
                raise _empty_axis(entry.axis)
            if not _provably_inside(entry.value, size, wrap):
                return None
            i = _wrapped_int(entry.value, size, wrap)
            bounds = i, i + 1, 1
            dropped.append(entry.axis)
        elif entry.kind == "slice":
            bounds = _ascending(entry.value)
            if entry.value[2] < 0:
                flipped.append(entry.axis)
        else:
            continue
        for into, value in zip((starts, limits, strides), bounds):
            into.append(value)
    if tuple(limits) != tuple(x.shape) or any(starts) or any(s != 1 for s in strides):
        x = lax.slice(x, starts, limits, strides if any(s != 1 for s in strides) else None)
    return _arranged(x, parsed, dropped, flipped)


def _ascending(resolved):
    """(start, limit, stride) of the elements in ascending order."""
    start, stop, step, count = resolved
    if dims.is_constant(count) and count == 0:
        return start if start >= 0 else 0, start if start >= 0 else 0, 1
    if step > 0:
        return start, stop, step
    return start + (count - 1) * step, start + 1, -step


def _arranged(x, parsed, dropped, flipped):
    """x with axes flipped, the axes of integers dropped, new axes added."""
    if flipped:
        x = lax.rev(x, flipped)
    if dropped:
        x = lax.squeeze(x, dropped)
    new = _new_axes(parsed.entries)
    return lax.expand_dims(x, new) if new else x


def _new_axes(entries):
    """Where new axes lie in the result of an index without arrays."""
    kept = [e for e in entries if e.kind in ("slice", "new")]
    return [i for i, e in enumerate(kept) if e.kind == "new"]


def _dynamic(x, parsed, wrap):
    """The index as a dynamic_slice; None when it holds arrays or strides."""
    if parsed.inserted:
        return None
    starts, sizes, dropped, flipped = [], [], [], []
    for entry in parsed.entries:
        if entry.kind in ("new", "gap"):
            continue
        if entry.kind == "array":
            if np.ndim(entry.value) if not isinstance(entry.value, Array) else entry.value.ndim:
                return None
            starts.append(as_scalar(entry.value))
        elif entry.kind == "int":
            starts.append(_start(entry.value))
        else:
            if entry.value[2] not in (1, -1):
                return None
            low, limit, _ = _ascending(entry.value)
            starts.append(_start(low))
            sizes.append(limit - low)
            if entry.value[2] < 0:
                flipped.append(entry.axis)
            continue
        sizes.append(1)
        dropped.append(entry.axis)
    for axis in dropped:
        if dims.is_constant(x.shape[axis]) and x.shape[axis] == 0:
            raise _empty_axis(axis)
    x = lax.dynamic_slice(x, starts, sizes, allow_negative_indices=wrap)
    return _arranged(x, parsed, dropped, flipped)


def as_scalar(value):
    """A scalar index as an int32 Array."""
    return lax.convert_element_type(value if isinstance(value, Array) else as_array(value), _INT32)


def _start(i):
    """A static start: while staging an array, as JAX's programs show it."""
    if not dims.is_constant(i):
        return dim_value(i, _INT32)
    trace = context.get_trace()
    return as_array(np.int32(i)) if trace is not None and trace.staging else i


# ---- gather and scatter ----


class Plan:
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
        self.new = []  # places of new axes in the result
        self.flipped = []  # axes of the result without new axes
        self.sizes = list(parsed.shape)
        self.dropped = []
        arrays = {k: e.value for k, e in enumerate(parsed.entries) if e.kind == "array"}
        arrays = {k: self._normal(v, parsed.entries[k].axis, wrap) for k, v in arrays.items()}
        self.scalar = not any(len(v.shape) for v in arrays.values())
        self._build(arrays, wrap)
        self.sizes = tuple(self.sizes)

    def _normal(self, value, axis, wrap):
        """An integer array counted from the front."""
        size = self.shape[axis]
        if context.get_trace() is None and not isinstance(value, Tracer) and dims.is_constant(size):
            places = from_end(np.asarray(value), size) if wrap else np.asarray(value)
            out = as_array(_as_int32(places, size))
            committed = type(value) is ArrayImpl and value._committed
            return out._with(device=value._device, committed=True) if committed else out
        if isinstance(value, np.ndarray):
            value = value.astype(dtypes.canonicalize_dtype(value.dtype))
            if wrap and value.ndim and value.dtype.kind == "i":  # JAX compares what NumPy holds while staging
                negative, value = as_array(value < 0), as_array(value)
                return lax.select_n(negative, value, lax.add(value, dim_value(size, value.dtype)))
        value = value if isinstance(value, Array) else as_array(value)
        return wrap_negative_indices(value, size) if wrap else value

    def _build(self, arrays, wrap):
        entries = self.parsed.entries
        advanced = []
        if not self.scalar:
            advanced = [k for k, e in enumerate(entries) if e.kind in ("array", "int")]
        together = advanced == list(range(advanced[0], advanced[-1] + 1)) if advanced else True
        group_at = advanced[0] if advanced and together else 0
        for k, entry in enumerate(entries):
            if advanced and k == group_at:
                self._group(advanced, arrays, wrap)
            if k in advanced:
                continue
            if entry.kind == "new":
                self.new.append(len(self.kinds) + len(self.new))
            elif entry.kind == "slice":
                self._slice(entry)
            elif entry.kind != "gap":
                value = arrays[k] if entry.kind == "array" else self._scalar_int(entry, wrap)
                value = lax.convert_element_type(value, _INT32) if isinstance(value, Array) else value
                self._point(entry.axis, value, len(self.batch))

    def _group(self, advanced, arrays, wrap):
        """The arrays, and the integers among them, broadcast together: one run of batch axes."""
        entries = self.parsed.entries
        shapes = [tuple(arrays[k].shape) if k in arrays else () for k in advanced]
        shape = lax.broadcast_shapes(*shapes)
        first = len(self.batch)
        values = [arrays[k] if k in arrays else self._weak_int(entries[k], wrap) for k in advanced]
        values = [v if tuple(v.shape) == shape else _stretched(v, shape, len(shape) - len(v.shape)) for v in values]
        for k, value in zip(advanced, values):
            self._point(entries[k].axis, lax.convert_element_type(value, _INT32), first)
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
            return dim_value(_wrapped_int(i, size, wrap), _INT32)
        return np.asarray(_wrapped_int(i, size, wrap)).astype(_INT32)

    def _point(self, axis, value, first):
        self.columns.append((axis, value, first))
        self.sizes[axis] = 1
        self.dropped.append(axis)

    def _slice(self, entry):
        start, _, step, count = entry.value
        axis, size = entry.axis, self.shape[entry.axis]
        if step == 1:
            self.kinds.append("window")
            self.lengths.append(count)
            if not (dims.equal(start, 0) and dims.equal(count, size)):
                low = _ascending(entry.value)[0]
                value = np.asarray(low).astype(_INT32) if dims.is_constant(low) else dim_value(low, _INT32)
                self.columns.append((axis, value, len(self.batch)))
                self.sizes[axis] = count
            return
        places = lax.iota(_INT32, count)
        places = lax.add(_scalar(start), lax.mul(_scalar(step), places))
        if step < 0:
            places = lax.rev(places, (0,))
            self.flipped.append(len(self.kinds))
        self._point(axis, places, len(self.batch))
        self.batch += (count,)
        self.kinds.append("batch")
        self.lengths.append(count)

    def slice_shape(self):
        """The shape of the windows put together, without new axes."""
        return tuple(self.lengths)

    def full_shape(self):
        """The shape of `x[index]`."""
        shape = list(self.lengths)
        for place in self.new:
            shape.insert(place, 1)
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

    def gather_numbers(self):
        """The dimension numbers of the read."""
        return lax.GatherDimensionNumbers(
            offset_dims=self._windows(),
            collapsed_slice_dims=tuple(sorted(self.dropped)),
            start_index_map=tuple(axis for axis, _, _ in self.columns),
        )

    def scatter_numbers(self):
        """The dimension numbers of the write."""
        return lax.ScatterDimensionNumbers(
            update_window_dims=self._windows(),
            inserted_window_dims=tuple(sorted(self.dropped)),
            scatter_dims_to_operand_dims=tuple(axis for axis, _, _ in self.columns),
        )

    def _windows(self):
        return tuple(i for i, kind in enumerate(self.kinds) if kind == "window")

    def finished(self, out):
        """The gathered windows in the order of the index: axes flipped back, new axes added."""
        if self.flipped:
            out = lax.rev(out, self.flipped)
        return lax.expand_dims(out, self.new) if self.new else out

    def prepared(self, updates):
        """Updates of `full_shape` as the scatter takes them: the inverse of `finished`."""
        if self.new:
            updates = lax.squeeze(updates, self.new)
        return lax.rev(updates, self.flipped) if self.flipped else updates


def _as_int32(where, size):
    """Places as int32; those that do not fit become -1 or size, out of bounds as they were."""
    return np.clip(where, -1, size).astype(_INT32)


def _scalar(d):
    return np.asarray(d).astype(_INT32) if dims.is_constant(d) else dim_value(d, _INT32)


def _stretched(value, shape, offset):
    """value broadcast to shape; its axes are the last ones."""
    return lax.broadcast_in_dim(value, shape, tuple(range(offset, len(shape))))
