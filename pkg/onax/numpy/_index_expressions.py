"""Index expressions as NumPy and JAX read them, for `x[index]`, `x.at[index]`, gathers and scatters.

There are three readers, from the quickest to the most general:

    basic_index      (compiled) ints, slices, None and Ellipsis, which NumPy reads as JAX does
    leading_arrays   concrete integer arrays, and ints among them, over the first axes
    parse            everything: one entry for each operand axis or new axis; masks become integer arrays
"""

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from onax import lax
from onax._core.trace import Tracer, as_array
from onax._ground import dims, dtypes
from onax._ground.errors import NonConcreteBooleanIndexError
from onax._native.array import Array, ArrayImpl, basic_index
from onax._native.tree import register_pytree_node, tree_flatten

_INT32 = np.dtype(np.int32)
_WHOLE = slice(None)


@dataclass(slots=True, eq=False, repr=False)
class Entry:
    """One part of an index.

    kind   "new" (a new axis), "int", "slice", "sized" (a `SizedSlice`), "array" (integers, rank 0 included), "gap" (an
           Ellipsis for no axes, which separates arrays all the same)
    value  None, the int (or symbolic dimension), (start, stop, step, count), the SizedSlice, the array
    axis   the operand axis that it indexes
    """

    kind: str
    value: object
    axis: int | None


@dataclass(slots=True, eq=False, repr=False)
class ParsedIndex:
    """An index against a shape: the entries in order, and operand axes to insert (by boolean scalars)."""

    entries: list
    inserted: list
    shape: tuple


# ---- slices whose start may be computed ----


@dataclass(slots=True, repr=False)
class SizedSlice:
    """What `ds` returns: `size` positions from `start` on, which may be traced, `stride` apart."""

    start: Any
    size: Any
    stride: int = 1

    def __post_init__(self):
        if self.stride < 0:
            raise ValueError("`stride` must be >= 0.")

    def __repr__(self):
        return f"Slice(start={self.start}, size={self.size}, stride={self.stride})"


def _flatten_sized_slice(part):
    """A start and a size that are known belong to the structure."""
    dynamic = tuple(None if _is_known(v) else v for v in (part.start, part.size))
    return dynamic, (*(v if d is None else None for v, d in zip((part.start, part.size), dynamic)), part.stride)


def _unflatten_sized_slice(known, dynamic):
    return SizedSlice(*(k if d is None else d for k, d in zip(known, dynamic)), known[2])


def _is_known(value):
    return isinstance(value, (int, np.integer, dims.SymbolicDim))


register_pytree_node(SizedSlice, _flatten_sized_slice, _unflatten_sized_slice)


def ds(start: Any, size: int | None = None, stride: int | None = None) -> Any:
    """Returns the index of a number of positions from a start on, which may be traced.

    `ds(n)` means the first n positions, and `ds(None)` all.

    Args:
      start: an integer scalar.  A slice with stride 1 that would leave the array when it is read begins earlier; a
        negative start counts from the end.
      size: an int.
      stride: an int that is not negative; default None, 1.

    Returns:
      A slice, for `x[...]`, `x.at[...]` and references.

    Raises:
      ValueError: the stride is negative or traced.

    Examples:
      >>> x = jnp.arange(5)
      >>> x[onax.ds(1, 3)], onax.jit(lambda i: x[onax.ds(i, 2)])(3)
      (Array([1, 2, 3], dtype=int32), Array([3, 4], dtype=int32))
    """
    if start is None:
        return slice(None)
    if stride is None:
        stride = 1
    if not isinstance(stride, (int, np.integer)):
        raise ValueError("Non-static stride in `dslice`")
    return SizedSlice(0, start, int(stride)) if size is None else SizedSlice(start, size, int(stride))


# ---- concrete arrays over the first axes ----


def leading_arrays(shape, index):
    """The integer arrays of an index over the first axes, as ndarrays counted from the front.

    Ints beside arrays count as arrays of rank 0.  None if the index holds anything else, if an axis is empty, or if
    there are more arrays than axes; nothing is clamped, and the arrays need not broadcast together.
    """
    parts = index if type(index) is tuple else (index,)
    if len(parts) > len(shape):
        return None
    arrays = []
    for part, size in zip(parts, shape):
        if type(part) is ArrayImpl and part.dtype.kind in "iu":
            part = part._value
        elif type(part) is int:
            part = np.asarray(part)
        else:
            return None
        if not size:
            return None
        arrays.append(wrap_known_indices(part, size))
    return arrays


def wrap_known_indices(indices, size):
    """An integer ndarray with the negative ones counted from the end of an axis, as intp."""
    if indices.dtype.kind == "u":
        return indices.astype(np.intp) if indices.dtype.itemsize < 8 else np.minimum(indices, size).astype(np.intp)
    indices = indices.astype(np.intp, copy=False)
    if indices.size and indices.min() < 0:
        indices = np.where(indices < 0, indices + size, indices)
    return indices


def widen(indices, size):
    """Signed indices as int32 where their own dtype cannot hold the axis length: counting from the end would overflow.

    JAX raises OverflowError there, or wraps around.
    """
    dtype = indices.dtype
    narrow = dtypes.itemsize_bits(dtype) < 32 and not dtypes.is_unsigned(dtype)
    if narrow and dims.is_constant(size) and size > dtypes.iinfo(dtype).max:
        return lax.convert_element_type(indices, _INT32)
    return indices


# ---- any index ----


def parse(shape, index):
    """The index as entries.

    Raises IndexError for too many indices or a mask of the wrong shape, TypeError for a value that is not an index,
    NonConcreteBooleanIndexError for a mask that is being traced.
    """
    parts = [_normalize_part(part) for part in _as_tuple(index)]
    used = sum(_count_axes(part) for part in parts)
    if used > len(shape):
        raise IndexError(f"Too many indices: array is {len(shape)}-dimensional, but {used} were indexed")
    dots = [k for k, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    at = dots[0] if dots else len(parts)
    rest = [_WHOLE] * (len(shape) - used) or [Ellipsis] * len(dots)
    parts[at : at + 1] = rest
    return _parse_entries(shape, parts)


def _as_tuple(index):
    if isinstance(index, tuple):
        return index
    if isinstance(index, (list, range)):
        better = "tuple" if any(map(_needs_tuple, index)) else "array"
        raise TypeError(
            f"Using a non-tuple sequence for multidimensional indexing is not allowed; use `arr[{better}(seq)]` "
            "instead of `arr[seq]`. See https://github.com/jax-ml/jax/issues/4564 for more information."
        )
    return (index,)


def _needs_tuple(part):
    """Whether a list with this part means an index with several parts, not an array of integers."""
    if isinstance(part, (Array, np.ndarray)):
        return part.ndim != 0
    return part is None or part is Ellipsis or isinstance(part, (list, tuple, range, str, slice))


def _normalize_part(part):
    """Converts one part to None, Ellipsis, a slice, an int, a bool, or a NumPy or onax array of integers or bools."""
    if part is None or part is Ellipsis or isinstance(part, (slice, bool, np.bool_, dims.SymbolicDim, SizedSlice)):
        return part
    if isinstance(part, (int, np.integer)):
        return int(part)
    if isinstance(part, str):
        raise TypeError(f"JAX does not support string indexing; got idx={part!r}")
    if isinstance(part, (list, tuple, range)):
        part = _array_of_sequence(part)
    if not isinstance(part, Array) and hasattr(type(part), "__jax_array__"):
        part = part.__jax_array__()
    if isinstance(part, (Array, np.ndarray, np.generic)):
        if part.dtype != np.bool_ and not dtypes.issubdtype(part.dtype, np.integer):
            raise _index_dtype_error(part.dtype)
        return part
    if isinstance(part, (float, complex)):
        raise _index_dtype_error(np.dtype(type(part)))
    if hasattr(type(part), "__index__"):
        return operator.index(part)
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), newaxis (`None`) and integer or boolean arrays are valid "
        f"indices. Got {part}"
    )


def _index_dtype_error(dtype):
    return TypeError(f"Indexer must have integer or boolean type, got indexer with type {dtype}")


def _array_of_sequence(part):
    """Converts a list inside a tuple, perhaps of lists, to an array; an empty list gives integers."""
    if any(isinstance(i, Tracer) for i in tree_flatten(part)[0]):
        rows = [_array_of_sequence(i) if isinstance(i, (list, tuple, range)) else as_array(i) for i in part]
        dtype = np.result_type(*(row.dtype for row in rows))
        return lax.concatenate([lax.expand_dims(lax.convert_element_type(row, dtype), (0,)) for row in rows], 0)
    array = np.asarray(part)
    return array if array.size else array.astype(np.int32)


def _count_axes(part):
    if part is None or part is Ellipsis or isinstance(part, (bool, np.bool_)):
        return 0
    if isinstance(part, (Array, np.ndarray)) and part.dtype == np.bool_:
        return part.ndim
    return 1


def _parse_entries(shape, parts):
    entries, inserted, axis = [], [], 0
    shape = list(shape)
    for position, part in enumerate(parts):
        if part is None or part is Ellipsis:
            entries.append(Entry("new" if part is None else "gap", None, None))
            continue
        if isinstance(part, slice):
            entries.append(Entry("slice", _resolve_slice(part, shape[axis], position), axis))
        elif isinstance(part, SizedSlice):
            entries.append(Entry("sized", part, axis))
        elif isinstance(part, (bool, np.bool_)) or (not isinstance(part, int) and _is_mask(part)):
            indices = _mask_to_indices(part, shape, axis, position)
            if not np.ndim(part):
                shape.insert(axis, 1)
                inserted.append(axis)
            entries += [Entry("array", where, axis + i) for i, where in enumerate(indices)]
            axis += len(indices)
            continue
        elif isinstance(part, (int, dims.SymbolicDim)):
            entries.append(Entry("int", part, axis))
        else:
            entries.append(Entry("array", part, axis))
        axis += 1
    return ParsedIndex(entries, inserted, tuple(shape))


def _is_mask(part):
    return not isinstance(part, dims.SymbolicDim) and part.dtype == np.bool_


def _mask_to_indices(mask, shape, axis, position):
    """The indices where a mask is true, one NumPy array for each axis; a scalar mask indexes a new axis."""
    if isinstance(mask, Tracer):
        concrete = mask.to_concrete_value()
        if concrete is None:
            raise NonConcreteBooleanIndexError(mask)
        mask = concrete
    mask = np.asarray(mask)
    if mask.ndim == 0:
        return (np.zeros(int(bool(mask)), np.int32),)
    expected = shape[axis : axis + mask.ndim]
    # An axis without elements fits any: as in the array API standard, such a mask selects nothing.
    fits = (size == 0 or dims.equal(size, other) for size, other in zip(mask.shape, expected))
    if len(expected) != mask.ndim or not all(fits):
        raise IndexError(
            f"boolean index did not match shape of indexed array in index {position}: got {mask.shape}, expected "
            f"{expected}"
        )
    integer = dtypes.canonicalize_dtype(np.int64)
    return tuple(where.astype(integer) for where in mask.nonzero())


def _resolve_slice(part, size, position):
    """(start, stop, step, count) of a slice: start and stop inside the axis, in the order of the step."""
    bounds = part.start, part.stop, part.step
    if any(isinstance(b, Tracer) for b in bounds):
        raise IndexError(f"Slice entries must be static integers. Got {part} at position {position}")
    start, stop, step = (b if b is None else dims.as_dim(b) for b in bounds)
    if not (dims.is_constant(size) and dims.is_constant(start) and dims.is_constant(stop)):
        return _resolve_symbolic_slice(start, stop, 1 if step is None else step, size)
    start, stop, step = slice(start, stop, step).indices(size)
    return start, stop, step, len(range(start, stop, step))


def _resolve_symbolic_slice(start, stop, step, size):
    if step > 0:
        first = 0 if start is None else _clamp_bound(start, size, 0)
        last = size if stop is None else _clamp_bound(stop, size, 0)
        extent = dims.max_dim(0, last - first)
        return first, first + extent, step, (extent + step - 1) // step
    first = size - 1 if start is None else _clamp_bound(start, size - 1, -1, size)
    last = -1 if stop is None else _clamp_bound(stop, size - 1, -1, size)
    extent = dims.max_dim(0, first - last)
    return first, first - extent, step, (extent - step - 1) // -step


def _clamp_bound(bound, high, low, size=None):
    """A bound of a slice, counted from the end if negative, between low and high."""
    if bound >= 0:
        return dims.min_dim(high, bound)
    return dims.max_dim(low, bound + (high if size is None else size))


def python_slice(resolved):
    """The Python slice for (start, stop, step, count)."""
    start, stop, step, count = resolved
    if count == 0:
        return slice(0, 0)
    return slice(start, stop if stop >= 0 else None, step)


def ascending_bounds(resolved):
    """(start, limit, stride) of the elements in ascending order."""
    start, stop, step, count = resolved
    if dims.is_constant(count) and count == 0:
        return start if start >= 0 else 0, start if start >= 0 else 0, 1
    if step > 0:
        return start, stop, step
    return start + (count - 1) * step, start + 1, -step


__all__ = [
    "Entry",
    "ParsedIndex",
    "SizedSlice",
    "ascending_bounds",
    "basic_index",
    "ds",
    "leading_arrays",
    "parse",
    "python_slice",
    "widen",
    "wrap_known_indices",
]  # fmt: skip
