"""Slicing and its adjoints: slice, dynamic_slice, dynamic_update_slice, concatenate, pad, split.

The family is closed under adjoints: a slice transposes to a pad and a pad to a slice, a dynamic slice to a dynamic
update, a concatenation to a split.  The batching rules of dynamic_slice and dynamic_update_slice are a gather and a
scatter; `indexing.py`, which is imported later, sets them.

A start index is an integer scalar; it is clamped so that the window lies inside the operand.
"""

import builtins
import operator
from collections.abc import Sequence

import numpy as np

from onax._core.facts import DATA_MOVEMENT, LINEAR_MOVEMENT
from onax._core.rules import InvalidOperands, deflinear_first, tangent_zero
from onax._core.trace import as_array, is_concrete, typeof
from onax._core.zeros import Zero, is_undefined_primal
from onax._ground import dims, dtypes
from onax._ground.polynomials import set_dim_to_array
from onax._ground.typing import ArrayLike, DimSize
from onax._native.array import Array, ArrayImpl
from onax._native.avals import ShapedArray
from onax._native.context import get_trace
from onax._native.dispatch import FIRST, Primitive
from onax._prims.convert import convert
from onax._prims.creation import instantiate_zeros, zeros_like_aval
from onax._prims.elementwise import add, lt, select_n
from onax._prims.elementwise_rows import kept
from onax._prims.shaping import (
    bdim_at_front,
    canonical_axis,
    canonical_shape,
    shape_of,
    squeeze,
)


def zero_scalar(dtype):
    """A zero of the dtype, as an ndarray of rank 0: an operand that prints as a literal."""
    return kept(np.zeros((), dtype))


# ---- slice ----


def _slice_kernel(x, *, start_indices, limit_indices, strides=None):
    for start, limit, d in zip(start_indices, limit_indices, x.shape, strict=True):
        if not 0 <= start <= limit <= d:
            raise InvalidOperands
    steps = strides or (1,) * x.ndim
    if len(steps) != x.ndim:
        raise InvalidOperands
    return x[tuple(map(builtins.slice, start_indices, limit_indices, steps))]


def _slice_abstract(x, *, start_indices, limit_indices, strides=None):
    return ShapedArray(_slice_shape(x.shape, start_indices, limit_indices, strides), x.dtype, x.weak_type)


def _slice_shape(shape, starts, limits, strides):
    if len(starts) != len(shape):
        raise TypeError(
            "slice start_indices must have length equal to the number of dimensions of the operand, got indices "
            f"{starts} for operand shape {shape}."
        )
    if len(limits) != len(starts):
        raise TypeError(
            f"slice limit_indices must have the same length as start_indices, got start_indices {starts} and "
            f"limit_indices {limits}."
        )
    if not all(limit <= d for limit, d in zip(limits, shape)):
        raise TypeError(
            f"slice limit_indices must be less than or equal to operand shape, got limit_indices {limits} for "
            f"operand shape {shape}."
        )
    if not all(start >= 0 for start in starts):
        raise TypeError(f"slice start_indices must have every element be nonnegative, got {starts}.")
    if not all(limit >= start for start, limit in zip(starts, limits)):
        raise TypeError(
            f"slice limit_indices must be greater than or equal to start_indices, got start_indices {starts} and "
            f"limit_indices {limits}."
        )
    sizes = tuple(limit - start for start, limit in zip(starts, limits))
    if strides is None:
        return sizes
    if len(strides) != len(shape):
        raise TypeError(
            "slice strides must have length equal to the number of dimensions of the operand, got strides "
            f"{strides} for operand shape {shape}."
        )
    if not all(stride >= 1 for stride in strides):
        raise TypeError(f"slice strides must be positive, got {strides}")
    return tuple((size + stride - 1) // stride for size, stride in zip(sizes, strides))


def _slice_batch(axis_data, operands, mapped, *, start_indices, limit_indices, strides=None):
    (x,), (d,) = operands, mapped
    starts, limits = list(start_indices), list(limit_indices)
    starts.insert(d, 0)
    limits.insert(d, x.shape[d])
    if strides is not None:
        strides = (*strides[:d], 1, *strides[d:])
    return slice_p.bind(x, start_indices=tuple(starts), limit_indices=tuple(limits), strides=strides), d


slice_p = Primitive(
    "slice",
    kernel=_slice_kernel,
    abstract_eval=_slice_abstract,
    batch=_slice_batch,
    facts=LINEAR_MOVEMENT,
)
deflinear_first(slice_p)


def slice(
    operand: ArrayLike,
    start_indices: Sequence[DimSize],
    limit_indices: Sequence[DimSize],
    strides: Sequence[int] | None = None,
) -> Array:
    """Returns the part of an array between known indices.

    Unlike Python's slices, none of the indices is clamped or counted from the end.  As in JAX, an eager slice without
    strides is a `dynamic_slice`: it moves into bounds where a start is negative.

    Args:
      operand: array of any dtype.
      start_indices: for each axis the first index, a nonnegative int.
      limit_indices: for each axis the index behind the last one.
      strides: for each axis the distance of the indices, a positive int; default: 1.

    Returns:
      Array.

    Raises:
      TypeError: lengths or bounds do not fit.

    Examples:
      >>> lax.slice(jnp.arange(10), (2,), (9,), (3,))
      Array([2, 5, 8], dtype=int32)
    """
    params = {
        "start_indices": _integers("start_indices", start_indices),
        "limit_indices": _integers("limit_indices", limit_indices),
        "strides": None if strides is None else _integers("strides", strides),
    }
    if params["strides"] is not None and any(map(_is_negative, params["strides"])):
        raise TypeError(f"slice strides must have every element be nonnegative, got {params['strides']}.")
    if params["strides"] is None and is_concrete(operand) and any(_is_negative(i) for i in params["start_indices"]):
        params |= _move_into_bounds(shape_of(operand), params["start_indices"], params["limit_indices"])
    return slice_p.bind(operand, **params)


def _is_negative(i):
    return dims.is_constant(i) and i < 0


def _move_into_bounds(shape, starts, limits):
    """Starts and limits of the window of the same sizes that lies within the shape, if one does."""
    sizes = [b - a for a, b in zip(starts, limits)]
    moved = [max(0, min(a, n - size)) for a, n, size in zip(starts, shape, sizes)]
    return {"start_indices": tuple(moved), "limit_indices": tuple(a + size for a, size in zip(moved, sizes))}


def _integers(what, values):
    try:
        return tuple(dims.as_dim(v) for v in values)
    except TypeError:
        kinds = tuple(type(v) for v in values)
        raise TypeError(f"slice {what} must have every element be an integer type, got {kinds}.") from None


# ---- start indices ----


def dim_value(d, dtype):
    """Converts a dimension, which may be symbolic, to a scalar of an integer dtype (wrapping as a cast does)."""
    if dims.is_constant(d):
        return np.asarray(d).astype(dtype)
    return convert(dim_as_value_p.bind(dim=d), dtype)


def _dim_as_value_kernel(*, dim):
    if not dims.is_constant(dim):
        raise NotImplementedError(
            "Evaluation rule for 'dim_as_value' is not implemented. It seems that you are using shape polymorphism "
            "outside jax.export."
        )
    return np.asarray(dim, dtypes.canonicalize_dtype(np.int64))


def _dim_as_value_abstract(*, dim):
    return ShapedArray((), dtypes.canonicalize_dtype(np.int64), weak_type=True)


dim_as_value_p = Primitive(
    "dim_as_value",
    kernel=_dim_as_value_kernel,
    abstract_eval=_dim_as_value_abstract,
    weak=lambda flags, params: True,
)


set_dim_to_array(lambda d: dim_as_value_p.bind(dim=d))


def wrap_negative_indices(index, size):
    """Adds the size of the axis to the negative elements of the integer array `index`."""
    dtype = index.dtype
    if dtypes.issubdtype(dtype, np.unsignedinteger):
        return index
    negative = lt(index, zero_scalar(dtype))
    return select_n(negative, index, add(convert(index, dtype), dim_value(size, dtype)))


def _as_scalars(indices):
    """Converts start indices to a sequence of scalars; splits an array of rank 1."""
    if not isinstance(indices, (Array, np.ndarray)):
        return list(indices)
    if len(indices.shape) != 1:
        raise ValueError(f"start indices must be a sequence or an array of rank 1, got shape {indices.shape}")
    if isinstance(indices, np.ndarray):
        return list(indices)
    parts = []
    for i in range(indices.shape[0]):
        part = slice_p.bind(indices, start_indices=(i,), limit_indices=(i + 1,), strides=(1,))
        parts.append(squeeze(part, (0,)))
    return parts


def _start_indices(operand, indices, allow_negative):
    """Converts start indices to scalar operands of one integer dtype and resolves negative ones."""
    shape = shape_of(operand)
    indices = _as_scalars(indices)
    if len(indices) != len(shape):
        raise ValueError(f"Length of slice indices must match number of operand dimensions ({len(indices)} vs {shape})")
    if isinstance(allow_negative, (bool, np.bool_)):
        allow_negative = (allow_negative,) * len(shape)
    return [_start_index(i, d, negative) for i, d, negative in zip(indices, shape, allow_negative)]


def _start_index(index, size, negative):
    plain = type(index) is ArrayImpl and negative and not index._committed
    if plain and get_trace() is None and index.dtype.kind == "i":
        value = index._value
        return value if value.ndim or value >= 0 else value + np.asarray(size).astype(value.dtype)
    if isinstance(index, (int, np.integer)):
        return _static_start(index, size, negative)
    if not isinstance(index, Array):
        index = as_array(index)
    if not negative or not _is_integer(index.dtype):
        return index
    return wrap_negative_indices(index, size)


def _static_start(index, size, negative):
    dtype = index.dtype if isinstance(index, np.integer) else dtypes.canonicalize_dtype(np.int64)
    dtype = dtypes.canonicalize_dtype(dtype)
    if index >= 0:
        return np.asarray(index).astype(dtype)
    if not negative:
        raise ValueError(f"Index {index} is out of bounds for dimension {size} if allow_negative_indices=False")
    if dims.is_constant(size):
        return np.asarray(int(index) + size).astype(dtype)
    return add(np.asarray(index).astype(dtype), dim_value(size, dtype))


def _is_integer(dtype):
    return dtypes.issubdtype(dtype, np.integer)


def _check_indices(name, indices):
    kinds = {i.dtype for i in indices}
    if len(kinds) > 1 or not all(_is_integer(k) for k in kinds):
        shown = ", ".join(str(i.dtype) for i in indices)
        raise TypeError(f"index arguments to {name} must be integers of the same type, got: {shown}")
    if any(i.shape for i in indices):
        raise TypeError(
            f"start_indices arguments to {name} must be scalars,  got indices "
            f"({', '.join(f'ShapedArray({i.str_short()})' for i in indices)})"
        )


def _clamp_starts(indices, window, shape):
    """The start of a window as ints, clamped so that it lies inside the operand."""
    starts = []
    for index, size, d in zip(indices, window, shape, strict=True):
        if not 0 <= size <= d:
            raise InvalidOperands
        i = int(index)
        starts.append(0 if i < 0 else min(i, d - size))
    return starts


# ---- dynamic_slice ----


def _dynamic_slice_kernel(x, *indices, slice_sizes):
    starts = _clamp_starts(indices, slice_sizes, x.shape)
    return x[tuple([builtins.slice(s, s + n) for s, n in zip(starts, slice_sizes)])]


def _dynamic_slice_abstract(x, *indices, slice_sizes):
    if len(slice_sizes) != x.ndim:
        raise TypeError(
            "slice slice_sizes must have length equal to the number of dimensions of the operand, got slice_sizes "
            f"{slice_sizes} for operand shape {x.shape}."
        )
    if not all(size <= d for size, d in zip(slice_sizes, x.shape)):
        raise TypeError(
            "slice slice_sizes must be less than or equal to operand shape, got slice_sizes "
            f"{slice_sizes} for operand shape {x.shape}."
        )
    if not all(size >= 0 for size in slice_sizes):
        raise TypeError(f"slice slice_sizes must be greater than or equal to zero, got slice_sizes of {slice_sizes}.")
    if len(indices) != x.ndim:
        raise TypeError(
            f"dynamic_slice start_indices must have one index an axis, got {len(indices)} for {x.str_short()}."
        )
    _check_indices("dynamic_slice", indices)
    return ShapedArray(slice_sizes, x.dtype, x.weak_type)


def _dynamic_slice_transpose(ct, x, *indices, slice_sizes):
    if not is_undefined_primal(x):
        raise TypeError("dynamic_slice is linear in its first operand only")
    if type(ct) is Zero:
        return [Zero(x.aval), *[None] * len(indices)]
    zeros = zeros_like_aval(x.aval.strip_weak_type())
    return [dynamic_update_slice_p.bind(zeros, ct, *indices), *[None] * len(indices)]


dynamic_slice_p = Primitive(
    "dynamic_slice",
    kernel=_dynamic_slice_kernel,
    abstract_eval=_dynamic_slice_abstract,
    transpose=_dynamic_slice_transpose,
    weak=FIRST,
    facts=frozenset({DATA_MOVEMENT}),
)


def _dynamic_slice_jvp(primals, tangents, **params):
    x, *starts = primals
    dot = tangents[0]  # computed first, as in JAX
    moved = dynamic_slice_p.bind(dot, *starts, **params) if type(dot) is not Zero else None
    out = dynamic_slice_p.bind(x, *starts, **params)
    return out, Zero(typeof(out).to_tangent_aval()) if moved is None else moved


dynamic_slice_p.jvp = _dynamic_slice_jvp


def dynamic_slice(
    operand: ArrayLike,
    start_indices: ArrayLike | Sequence[ArrayLike],
    slice_sizes: Sequence[DimSize],
    *,
    allow_negative_indices: bool | Sequence[bool] = True,
) -> Array:
    """Returns a window of an array that begins at indices which may be traced values.

    A window that would leave the array is moved back inside.

    Args:
      operand: array of any dtype.
      start_indices: where the window begins: a sequence of integer scalars of one dtype, one for each axis, or an
        integer array of shape (rank,).
      slice_sizes: the shape of the window, known ints.
      allow_negative_indices: whether negative indices count from the end; a bool, or one for each axis.

    Returns:
      Array of shape `slice_sizes`.

    Raises:
      TypeError: a size is larger than the axis, or indices are no integers of one dtype.
      ValueError: there is another number of indices.

    Examples:
      >>> lax.dynamic_slice(jnp.arange(6), (4,), (3,))
      Array([3, 4, 5], dtype=int32)
    """
    starts = _start_indices(operand, start_indices, allow_negative_indices)
    return dynamic_slice_p.bind(operand, *starts, slice_sizes=canonical_shape(slice_sizes))


# ---- dynamic_update_slice ----


def _dynamic_update_slice_kernel(x, update, *indices):
    starts = _clamp_starts(indices, update.shape, x.shape)
    out = x.copy()
    out[tuple([builtins.slice(s, s + n) for s, n in zip(starts, update.shape)])] = update
    return out


def _dynamic_update_slice_abstract(x, update, *indices):
    if x.ndim != update.ndim:
        raise TypeError(
            "dynamic_update_slice update must have the same rank as operand, got update shape "
            f"{update.shape} for operand shape {x.shape}."
        )
    if len(indices) != x.ndim:
        raise TypeError(
            "dynamic_update_slice start_indices must have length equal to the rank of operand, got indices of "
            f"length {len(indices)} for operand shape {x.shape}."
        )
    if not all(n <= d for n, d in zip(update.shape, x.shape)):
        raise TypeError(
            "dynamic_update_slice update shape must be smaller than operand shape, got update shape "
            f"{update.shape} for operand shape {x.shape}."
        )
    if x.dtype != update.dtype:
        raise TypeError(
            f"lax.dynamic_update_slice requires arguments to have the same dtypes, got {x.dtype}, {update.dtype}."
        )
    _check_indices("dynamic_update_slice", indices)
    return ShapedArray(x.shape, x.dtype, x.weak_type and update.weak_type)


def _dynamic_update_slice_jvp(primals, tangents):
    x, update, *indices = primals
    out = dynamic_update_slice_p.bind(x, update, *indices)
    if type(tangents[0]) is Zero and type(tangents[1]) is Zero:
        return out, tangent_zero(out)
    tx, tu = map(instantiate_zeros, tangents[:2])
    return out, dynamic_update_slice_p.bind(tx, tu, *indices)


def _dynamic_update_slice_transpose(ct, x, update, *indices):
    """The operand's cotangent is ct with zeros in the window; the update's cotangent is that window of ct."""
    if any(map(is_undefined_primal, indices)):
        raise TypeError("dynamic_update_slice is linear in its first two operands only")
    rest = [None] * len(indices)
    linear_x, linear_u = is_undefined_primal(x), is_undefined_primal(update)
    if type(ct) is Zero:
        return [Zero(x.aval) if linear_x else None, Zero(update.aval) if linear_u else None, *rest]
    u_aval = update.aval if linear_u else typeof(update)
    ct_x = ct_u = None
    if linear_x:
        zeros = zeros_like_aval(u_aval.update(dtype=ct.dtype, weak_type=False))
        ct_x = dynamic_update_slice_p.bind(ct, zeros, *indices)
    if linear_u:
        ct_u = dynamic_slice_p.bind(ct, *indices, slice_sizes=u_aval.shape)
    return [ct_x, ct_u, *rest]


dynamic_update_slice_p = Primitive(
    "dynamic_update_slice",
    kernel=_dynamic_update_slice_kernel,
    abstract_eval=_dynamic_update_slice_abstract,
    jvp=_dynamic_update_slice_jvp,
    transpose=_dynamic_update_slice_transpose,
    weak=lambda flags, params: flags[0] and flags[1],
    facts=frozenset({DATA_MOVEMENT}),
)


def dynamic_update_slice(
    operand: ArrayLike,
    update: ArrayLike,
    start_indices: ArrayLike | Sequence[ArrayLike],
    *,
    allow_negative_indices: bool | Sequence[bool] = True,
) -> Array:
    """Returns an array with a window replaced that begins at indices which may be traced values.

    A window that would leave the array is moved back inside.

    Args:
      operand: array of any dtype.
      update: the new elements, an array of the same dtype and rank, no larger than `operand`.
      start_indices: where the window begins, as in `dynamic_slice`.
      allow_negative_indices: whether negative indices count from the end; a bool, or one for each axis.

    Returns:
      Array like `operand`.

    Raises:
      TypeError: dtypes or ranks differ, `update` is larger, or indices are no integers of one dtype.
      ValueError: there is another number of indices.

    Examples:
      >>> lax.dynamic_update_slice(jnp.arange(6), jnp.array([9, 9]), (2,))
      Array([0, 1, 9, 9, 4, 5], dtype=int32)
    """
    starts = _start_indices(operand, start_indices, allow_negative_indices)
    return dynamic_update_slice_p.bind(operand, update, *starts)


# ---- concatenate ----


def _concatenate_kernel(*xs, dimension):
    if dimension < 0:
        raise InvalidOperands
    return np.concatenate(xs, axis=dimension)


def _concatenate_abstract(*xs, dimension):
    if not xs:
        raise TypeError("concatenate expects at least one operand, got 0.")
    shapes = ", ".join(str(x.shape) for x in xs)
    first = xs[0]
    if len({x.ndim for x in xs}) != 1:
        raise TypeError(f"Cannot concatenate arrays with different numbers of dimensions: got {shapes}.")
    if not 0 <= dimension < first.ndim:
        raise TypeError(f"concatenate dimension out of bounds: dimension {dimension} for shapes {shapes}.")
    others = first.shape[:dimension], first.shape[dimension + 1 :]
    for x in xs:
        if not _equal_others(x.shape, others, dimension):
            raise TypeError(
                "Cannot concatenate arrays with shapes that differ in dimensions other than the one being "
                f"concatenated: concatenating along dimension {dimension} for shapes {shapes}."
            )
    if any(x.dtype != first.dtype for x in xs):
        kinds = ", ".join(str(x.dtype) for x in xs)
        raise TypeError(
            f"lax.concatenate requires arguments to have the same dtypes, got {kinds}. (Tip: jnp.concatenate is a "
            "similar function that does automatic type promotion on inputs)."
        )
    total = sum((x.shape[dimension] for x in xs[1:]), first.shape[dimension])
    return ShapedArray((*others[0], total, *others[1]), first.dtype, all(x.weak_type for x in xs))


def _equal_others(shape, others, dimension):
    return dims.equal_shapes(shape[:dimension], others[0]) and dims.equal_shapes(shape[dimension + 1 :], others[1])


def _concatenate_jvp(primals, tangents, *, dimension):
    out = concatenate_p.bind(*primals, dimension=dimension)
    if all(type(t) is Zero for t in tangents):
        return out, tangent_zero(out)
    return out, concatenate_p.bind(*map(instantiate_zeros, tangents), dimension=dimension)


def _concatenate_transpose(ct, *xs, dimension):
    avals = [x.aval if is_undefined_primal(x) else typeof(x) for x in xs]
    if type(ct) is Zero:
        return [Zero(a) if is_undefined_primal(x) else None for x, a in zip(xs, avals)]
    parts = split_p.bind(ct, sizes=tuple(a.shape[dimension] for a in avals), axis=dimension)
    return [part if is_undefined_primal(x) else None for x, part in zip(xs, parts)]


def _concatenate_batch(axis_data, operands, mapped, *, dimension):
    moved = [bdim_at_front(x, d, axis_data.size) for x, d in zip(operands, mapped)]
    return concatenate_p.bind(*moved, dimension=dimension + 1), 0


concatenate_p = Primitive(
    "concatenate",
    kernel=_concatenate_kernel,
    abstract_eval=_concatenate_abstract,
    jvp=_concatenate_jvp,
    transpose=_concatenate_transpose,
    batch=_concatenate_batch,
    facts=LINEAR_MOVEMENT,
)


def concatenate(operands: Sequence[ArrayLike], dimension: int) -> Array:
    """Returns arrays joined along an existing axis.

    Unlike NumPy's it promotes nothing: all arrays have one dtype.

    Args:
      operands: a sequence of arrays of one dtype and rank, equal in all other axes; or one array, whose first axis is
        taken apart.
      dimension: the axis along which they are joined, counted from 0.

    Returns:
      Array.

    Raises:
      TypeError: dtypes, ranks or other axes differ.
      ValueError: there are no operands, or `dimension` is out of bounds.

    Examples:
      >>> lax.concatenate([jnp.array([1, 2]), jnp.array([3])], 0)
      Array([1, 2, 3], dtype=int32)
    """
    if isinstance(operands, Array):
        operands = [index_in_dim(operands, i, keepdims=False) for i in range(operands.shape[0])]
    if len(operands) == 0:
        raise ValueError("concatenate requires a non-empty sequences of arrays")
    if len(operands) == 1 and isinstance(operands[0], Array):
        return operands[0]
    return concatenate_p.bind(*operands, dimension=operator.index(dimension))


# ---- split ----


def _split_kernel(x, *, sizes, axis):
    ends, at = [], 0
    for size in sizes:
        if size < 0:
            raise InvalidOperands
        at += size
        ends.append(at)
    if at != x.shape[axis]:
        raise InvalidOperands
    lead = (builtins.slice(None),) * axis
    return [x[(*lead, builtins.slice(end - size, end))] for size, end in zip(sizes, ends)]


def _split_abstract(x, *, sizes, axis):
    shape = list(x.shape)
    if not 0 <= axis < x.ndim:
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {x.ndim}")
    if not all(size >= 0 for size in sizes):
        raise ValueError(f"Sizes passed to split must be nonnegative, got {list(sizes)}")
    if not dims.equal(sum(sizes), shape[axis]):
        raise ValueError(f"Sum of sizes {sum(sizes)} must be equal to dimension {axis} of the operand shape {shape}")
    return [ShapedArray((*shape[:axis], size, *shape[axis + 1 :]), x.dtype, x.weak_type) for size in sizes]


def _split_jvp(primals, tangents, *, sizes, axis):
    out = split_p.bind(*primals, sizes=sizes, axis=axis)
    if type(tangents[0]) is Zero:
        return out, tangent_zero(out)
    return out, split_p.bind(tangents[0], sizes=sizes, axis=axis)


def _split_transpose(cts, x, *, sizes, axis):
    if all(type(ct) is Zero for ct in cts):
        return [Zero(x.aval)]
    return [concatenate_p.bind(*map(instantiate_zeros, cts), dimension=axis)]


def _split_batch(axis_data, operands, mapped, *, sizes, axis):
    (x,), (d,) = operands, mapped
    out = split_p.bind(x, sizes=sizes, axis=axis + (axis >= d))
    return out, [d] * len(out)


split_p = Primitive(
    "split",
    multiple_results=True,
    kernel=_split_kernel,
    abstract_eval=_split_abstract,
    jvp=_split_jvp,
    transpose=_split_transpose,
    batch=_split_batch,
    facts=LINEAR_MOVEMENT,
)


def split(operand: ArrayLike, sizes: Sequence[DimSize], axis: int = 0) -> list[Array]:
    """Returns the consecutive parts of an array along an axis.

    Args:
      operand: array of any dtype.
      sizes: the lengths of the parts, nonnegative ints whose sum is the length of the axis.
      axis: the axis that is divided; a negative one counts from the end.

    Returns:
      List of arrays.

    Raises:
      ValueError: a size is negative, or they do not add up to the length of the axis.

    Examples:
      >>> lax.split(jnp.arange(5), (2, 3))
      [Array([0, 1], dtype=int32), Array([2, 3, 4], dtype=int32)]
    """
    if not isinstance(operand, Array):
        operand = as_array(operand)
    axis = canonical_axis(axis, operand.ndim)
    return split_p.bind(operand, sizes=tuple(dims.as_dim(s) for s in sizes), axis=axis)


# ---- along one axis ----


def slice_in_dim(
    operand: ArrayLike, start_index: DimSize | None, limit_index: DimSize | None, stride: int = 1, axis: int = 0
) -> Array:
    """Returns `operand[start:limit:stride]` along one axis.

    Args:
      operand: array of any dtype.
      start_index: the first index, or None for the beginning; a negative one counts from the end.
      limit_index: the index behind the last one, or None for the end; a negative one counts from the end.
      stride: the distance of the indices, a positive int.
      axis: the axis that is sliced.

    Returns:
      Array.

    Raises:
      TypeError: bounds do not fit.

    Examples:
      >>> lax.slice_in_dim(jnp.arange(6).reshape(2, 3), 1, None, axis=1)
      Array([[1, 2],
             [4, 5]], dtype=int32)
    """
    shape = shape_of(operand)
    axis = canonical_axis(axis, len(shape))
    size = shape[axis]
    start = 0 if start_index is None else dims.as_dim(start_index)
    limit = size if limit_index is None else dims.as_dim(limit_index)
    starts, limits, strides = [0] * len(shape), list(shape), [1] * len(shape)
    starts[axis] = start + size if start < 0 else start
    limits[axis] = limit + size if limit < 0 else limit
    strides[axis] = dims.as_dim(stride)
    return slice(operand, starts, limits, strides)


def index_in_dim(operand: ArrayLike, index: int, axis: int = 0, keepdims: bool = True) -> Array:
    """Returns the elements at a known index of an axis.

    Args:
      operand: array of any dtype.
      index: an int; a negative one counts from the end.
      axis: the axis that is indexed.
      keepdims: whether the axis stays, with length 1.

    Returns:
      Array.

    Raises:
      IndexError: the index is out of bounds.

    Examples:
      >>> lax.index_in_dim(jnp.arange(6).reshape(2, 3), -1, axis=1, keepdims=False)
      Array([2, 5], dtype=int32)
    """
    shape = shape_of(operand)
    index, axis = dims.as_dim(index), canonical_axis(axis, len(shape))
    size = shape[axis]
    wrapped = index + size if index < 0 else index
    if not 0 <= wrapped < size:
        raise IndexError(f"index {index} is out of bounds for axis {axis} with size {size}")
    out = slice_in_dim(operand, wrapped, wrapped + 1, 1, axis)
    return out if keepdims else squeeze(out, (axis,))
