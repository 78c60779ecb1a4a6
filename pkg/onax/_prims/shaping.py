"""Shapes: broadcast_in_dim, reshape, transpose, squeeze, rev, reduce_sum.

The family is closed under adjoints: a broadcast transposes to a sum and a sum to a broadcast.  Dimensions may be
symbolic; rules compute with them only by `_ground/dims.py` and by Python's arithmetic operators.
"""

import operator
from collections.abc import Sequence

import numpy as np

from onax._core.facts import LINEAR, LINEAR_MOVEMENT, MAKES_NAN
from onax._core.rules import deflinear
from onax._core.sharding import insert_spec_entry
from onax._core.trace import Tracer, as_array, typeof
from onax._ground import dims, dtypes
from onax._ground.config import config
from onax._ground.typing import ArrayLike, DimSize, Shape, ShardingLike
from onax._native.array import Array
from onax._native.avals import ShapedArray
from onax._native.dispatch import Primitive
from onax._prims.convert import bitcast_convert_type_p
from onax._prims.placement import lie_as_type, placed, sharding_of_cotangent, stated_sharding, with_out_sharding

# ---- shapes and axes as users write them ----


def shape_of(x):
    """The shape of anything that counts as an array; TypeError for anything else."""
    return x.shape if isinstance(x, Array) else typeof(x).shape


def canonical_shape(shape, named=""):
    """Converts a shape to a tuple of ints and symbolic dimensions; raises TypeError, prefixed by `named`, for
    others."""
    if type(shape) is tuple:
        for d in shape:
            if type(d) is not int:
                break
        else:
            return shape
    try:
        return tuple(d if isinstance(d, dims.SymbolicDim) else operator.index(d) for d in _items(shape))
    except TypeError as e:
        shown = shape if isinstance(shape, (int, float, str, list, Tracer)) else tuple(shape)
        items = shown if isinstance(shown, (tuple, list)) else (shown,)
        advice = "\nIf using `jit`, try using `static_argnums` or applying `jit` to smaller subfunctions.\n"
        origin = next((f"{advice}{d._origin_msg()}" for d in items if isinstance(d, Tracer)), "")
        raise TypeError(
            f"{named}Shapes must be 1D sequences of concrete values of integer type, got {shown}.{origin}"
        ) from e


def _items(shape):
    return (shape,) if isinstance(shape, (int, np.integer, dims.SymbolicDim)) else shape


def canonical_axis(axis, ndim):
    """Converts an axis to one counted from the front; raises ValueError if it is out of bounds."""
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {ndim}")
    return axis + ndim if axis < 0 else axis


def _indices(axes):
    return axes if type(axes) is tuple else tuple(operator.index(a) for a in axes)


def check_sequence(name, values):
    """Returns sizes or axes given as a sequence; raises TypeError for a single number, as in JAX."""
    if isinstance(values, (int, np.integer)):
        raise TypeError(f"{name} takes a tuple or list of integers, got {values!r} of type {type(values)}")
    return values


def broadcast_shapes(*shapes: Sequence[DimSize]) -> Shape:
    """Returns the shape to which NumPy's rules broadcast some shapes.

    Args:
      *shapes: sequences of nonnegative ints, or of symbolic dimensions.

    Returns:
      Tuple.

    Raises:
      ValueError: the shapes do not fit one another.

    Examples:
      >>> lax.broadcast_shapes((3, 1), (4,), (1, 1, 1))
      (1, 3, 4)
    """
    if len(shapes) == 1:
        return _check_static_sizes(canonical_shape(shapes[0]))
    shapes = [canonical_shape(check_sequence("broadcast_shapes", s)) for s in shapes]
    rank = max(map(len, shapes), default=0)
    padded = [(1,) * (rank - len(s)) + s for s in shapes]
    out = tuple(map(dims.broadcast_dim, zip(*padded)))
    if None in out:
        raise ValueError(f"Incompatible shapes for broadcasting: shapes={shapes}")
    return _check_static_sizes(out)


def _check_static_sizes(shape):
    for d in shape:
        if type(d) is int and d < 0:
            raise TypeError(
                f"Only non-negative indices are allowed when broadcasting static shapes, but got shape {shape}."
            )
    return shape


# ---- broadcast_in_dim ----


def _broadcast_kernel(x, *, shape, broadcast_dimensions, sharding=None):
    if broadcast_dimensions:
        if len(shape) != len(broadcast_dimensions):
            middle = [1] * len(shape)
            for axis, d in zip(broadcast_dimensions, x.shape):
                middle[axis] = d
            x = x.reshape(middle)
            if x.shape == shape:
                return x
    elif not any(x.tobytes()):
        return np.zeros(shape, x.dtype)
    out = np.empty(shape, x.dtype)
    out[...] = x
    return out


def _check_broadcast(x, shape, broadcast_dimensions):
    if len(broadcast_dimensions) != x.ndim:
        raise TypeError(
            "broadcast_in_dim broadcast_dimensions must have length equal to operand ndim; got "
            f"broadcast_dimensions {broadcast_dimensions} for operand ndim {x.ndim}."
        )
    if len(shape) < x.ndim:
        raise TypeError(
            "broadcast_in_dim target broadcast shape must have equal or higher rank to the operand shape; got "
            f"operand ndim {x.ndim} and target broadcast ndim {len(shape)}."
        )
    for d in shape:
        if type(d) is int and d < 0:
            raise TypeError(f"broadcast_in_dim shape must have every element be nonnegative, got {shape}.")
    if any(a < 0 for a in broadcast_dimensions):
        raise TypeError(
            f"broadcast_in_dim broadcast_dimensions must have every element be nonnegative, got {broadcast_dimensions}."
        )
    if any(a >= len(shape) for a in broadcast_dimensions):
        raise TypeError(
            f"broadcast_in_dim broadcast_dimensions must be a subset of output dimensions, got "
            f"{broadcast_dimensions} for operand ndim {x.ndim} and shape {shape}."
        )
    for axis, d in zip(broadcast_dimensions, x.shape):
        if not (type(d) is int and d == 1) and not dims.equal(d, shape[axis]):
            raise TypeError(
                "broadcast_in_dim operand dimension sizes must either be 1, or be equal to their corresponding "
                f"dimensions in the target broadcast shape; got operand of shape {x.shape}, target broadcast "
                f"shape {shape}, broadcast_dimensions {broadcast_dimensions} "
            )
    if len(set(broadcast_dimensions)) != len(broadcast_dimensions):
        raise TypeError(
            "broadcast_in_dim broadcast_dimensions must not contain duplicates, got "
            f"broadcast_dimensions {broadcast_dimensions}"
        )


def _broadcast_abstract(x, *, shape, broadcast_dimensions, sharding=None):
    _check_broadcast(x, shape, broadcast_dimensions)
    if any(a > b for a, b in zip(broadcast_dimensions, broadcast_dimensions[1:])):
        raise TypeError(
            f"broadcast_in_dim broadcast_dimensions must be strictly increasing; got {broadcast_dimensions}"
        )
    return ShapedArray(shape, x.dtype, x.weak_type)


def _broadcast_transpose(ct, x, *, shape, broadcast_dimensions, sharding=None):
    """Sums over new and stretched axes, then restores the stretched ones with length 1."""
    stretched = tuple(i for i, axis in enumerate(broadcast_dimensions) if not dims.equal(x.aval.shape[i], shape[axis]))
    operand_axes = {axis for i, axis in enumerate(broadcast_dimensions) if i not in stretched}
    total = reduce_sum(ct, tuple(a for a in range(len(shape)) if a not in operand_axes))
    return [expand_dims(total, stretched)]


def _broadcast_batch(axis_data, operands, mapped, *, shape, broadcast_dimensions, sharding=None):
    x = bdim_at_front(operands[0], mapped[0], axis_data.size)
    axes = (0, *(a + 1 for a in broadcast_dimensions))
    return broadcast_in_dim_p.bind(x, shape=(x.shape[0], *shape), broadcast_dimensions=axes, sharding=None), 0


def _broadcast_pretty(eqn, names):
    axes = eqn.params["broadcast_dimensions"]
    return {"broadcast_dimensions": axes} if axes else {}


broadcast_in_dim_p = Primitive(
    "broadcast_in_dim",
    kernel=_broadcast_kernel,
    abstract_eval=_broadcast_abstract,
    batch=_broadcast_batch,
    pretty=_broadcast_pretty,
    facts=LINEAR_MOVEMENT,
)
deflinear(broadcast_in_dim_p, _broadcast_transpose)


def broadcast_in_dim(
    operand: ArrayLike,
    shape: Sequence[DimSize],
    broadcast_dimensions: Sequence[int],
    *,
    out_sharding: ShardingLike = None,
) -> Array:
    """Returns an array repeated to fill a shape; its axis i becomes axis `broadcast_dimensions[i]` of the result.

    Unlike in NumPy, axes are not aligned automatically.

    Args:
      operand: array of any dtype.
      shape: the shape of the result.
      broadcast_dimensions: for each axis of `operand` its position in the result, in any order.  An axis of the operand
        has length 1, and is repeated, or the length of the result's axis.
      out_sharding: a sharding for the result; default: decided by the operand.

    Returns:
      Array of shape `shape`.

    Raises:
      TypeError: lengths do not fit, or `broadcast_dimensions` repeats.

    Examples:
      >>> lax.broadcast_in_dim(jnp.array([1, 2]), (2, 3), (0,))
      Array([[1, 1, 1],
             [2, 2, 2]], dtype=int32)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, broadcast_in_dim, operand, shape, broadcast_dimensions)
    shape, axes = canonical_shape(shape), _indices(broadcast_dimensions)
    have = shape_of(operand)
    if have == shape and axes == tuple(range(len(shape))) and isinstance(operand, Array):
        return operand
    ordered = tuple(sorted(set(axes)))
    if len(axes) != len(have) or axes != ordered or (axes and axes[0] < 0):
        _check_broadcast(typeof(operand), shape, axes)
    if axes != ordered:  # the primitive and all its rules are for increasing axes
        operand, axes = transpose(operand, [axes.index(a) for a in ordered]), ordered
        if shape_of(operand) == shape:
            return operand
    return broadcast_in_dim_p.bind(operand, shape=shape, broadcast_dimensions=axes, sharding=None)


def broadcast(operand: ArrayLike, sizes: Sequence[DimSize], *, out_sharding: ShardingLike = None) -> Array:
    """Returns an array repeated along new leading axes.

    Args:
      operand: array of any dtype.
      sizes: the lengths of the new axes, nonnegative ints.
      out_sharding: a sharding for the result; default: decided by the operand.

    Returns:
      Array of shape (*sizes, *operand.shape).

    Raises:
      TypeError: a size is negative or no int.

    Examples:
      >>> lax.broadcast(jnp.array([1, 2]), (2,))
      Array([[1, 2],
             [1, 2]], dtype=int32)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, broadcast, operand, sizes)
    sizes, shape = canonical_shape(check_sequence("broadcast", sizes)), shape_of(operand)
    if not sizes:
        return as_array(operand)
    axes = tuple(range(len(sizes), len(sizes) + len(shape)))
    return broadcast_in_dim(operand, (*sizes, *shape), axes)


def broadcast_typed(x, aval, dims=()):
    """x repeated to a type that says its sharding; None for a type that says none."""
    if aval.stated_sharding is None:
        return None
    out = broadcast_in_dim_p.bind(x, shape=aval.shape, broadcast_dimensions=dims, sharding=aval.stated_sharding)
    return lie_as_type(out, aval)


def broadcast_to_rank(x: ArrayLike, rank: int) -> Array:
    """Returns an array with as many leading axes of length 1 as it lacks for a rank.

    Args:
      x: array of any dtype.
      rank: the least number of axes of the result.

    Returns:
      Array of shape (1, ..., 1, *x.shape), or x if it has as many axes.

    Examples:
      >>> lax.broadcast_to_rank(jnp.ones(2), 3).shape
      (1, 1, 2)
    """
    shape, rank = shape_of(x), operator.index(rank)
    missing = rank - len(shape)
    if missing <= 0:
        return as_array(x)
    wide = (*(1,) * missing, *shape)
    return broadcast_in_dim_p.bind(x, shape=wide, broadcast_dimensions=tuple(range(missing, rank)), sharding=None)


def expand_dims(array: ArrayLike, dimensions: Sequence[int]) -> Array:
    """Returns an array with axes of length 1 inserted.

    Args:
      array: array of any dtype.
      dimensions: the positions of the new axes in the result; negative ones count from its end.

    Returns:
      Array.

    Raises:
      ValueError: a position is out of bounds or repeated.

    Examples:
      >>> lax.expand_dims(jnp.ones((2, 3)), (0, -1)).shape
      (1, 2, 3, 1)
    """
    shape = shape_of(array)
    rank = len(shape) + len(check_sequence("expand_dims", dimensions))
    positions = {d + rank if d < 0 else d for d in map(operator.index, dimensions)}
    if len(positions) != len(dimensions) or (positions and not 0 <= min(positions) <= max(positions) < rank):
        for d in dimensions:
            canonical_axis(d, rank)
        raise ValueError(f"repeated axis in lax.expand_dims: {tuple(dimensions)}")
    if not positions:
        return as_array(array)
    axes = tuple([a for a in range(rank) if a not in positions])
    rest = iter(shape)
    out = tuple([1 if a in positions else next(rest) for a in range(rank)])
    return broadcast_in_dim_p.bind(array, shape=out, broadcast_dimensions=axes, sharding=None)


# ---- reshape ----


def _reshape_kernel(x, *, new_sizes, dimensions, sharding=None):
    if dimensions is not None:
        x = x.transpose(dimensions)
    return x.reshape(new_sizes)


def _reshape_abstract(x, *, new_sizes, dimensions, sharding=None):
    if any(type(d) is int and d < 0 for d in new_sizes):
        raise TypeError(f"reshape new_sizes must all be positive, got {new_sizes}.")
    if not dims.equal(dims.prod(new_sizes), dims.prod(x.shape)):
        raise TypeError(f"reshape total size must be unchanged, got new_sizes {new_sizes} for shape {x.shape}.")
    if dimensions is not None and sorted(dimensions) != list(range(x.ndim)):
        raise TypeError(
            "reshape dimensions must be a permutation of operand dimensions, got dimensions "
            f"{dimensions} for shape {x.shape}."
        )
    return ShapedArray(new_sizes, x.dtype, x.weak_type)


def _reshape_transpose(ct, x, *, new_sizes, dimensions, sharding=None):
    shape = x.aval.shape
    if dimensions is None:
        return [reshape(ct, shape, out_sharding=sharding_of_cotangent(x.aval, ct))]
    return [transpose(reshape(ct, tuple(shape[d] for d in dimensions)), _inverse(dimensions))]


def _reshape_batch(axis_data, operands, mapped, *, new_sizes, dimensions, sharding=None):
    x = bdim_at_front(operands[0], mapped[0], axis_data.size)
    if dimensions is not None:
        dimensions = (0, *(d + 1 for d in dimensions))
    if sharding is not None:
        sharding = insert_spec_entry(sharding, 0, axis_data.explicit_mesh_axis)
    return reshape_p.bind(x, new_sizes=(x.shape[0], *new_sizes), dimensions=dimensions, sharding=sharding), 0


reshape_p = Primitive(
    "reshape", kernel=_reshape_kernel, abstract_eval=_reshape_abstract, batch=_reshape_batch, facts=LINEAR_MOVEMENT
)
deflinear(reshape_p, _reshape_transpose)


def _not_an_array(name, x):
    return TypeError(
        f"Error interpreting argument to {name} as a JAX value. The problematic value is of type {type(x)} and was "
        f"passed to {name} at position 0."
    )


def reshape(
    operand: ArrayLike,
    new_sizes: Sequence[DimSize],
    dimensions: Sequence[int] | None = None,
    *,
    out_sharding: ShardingLike = None,
) -> Array:
    """Returns the elements of an array, in row-major order, in another shape.

    Args:
      operand: array of any dtype.
      new_sizes: the shape of the result; unlike in NumPy, -1 is not inferred.
      dimensions: a permutation of the axes, in which they are brought first; default: their order.
      out_sharding: a sharding for the result; default: decided by the operand.

    Returns:
      Array of shape `new_sizes`.

    Raises:
      TypeError: the number of elements differs, a size is negative, or `dimensions` is no permutation.

    Examples:
      >>> lax.reshape(jnp.arange(6), (3, 2))
      Array([[0, 1],
             [2, 3],
             [4, 5]], dtype=int32)
    """
    if out_sharding is not None:
        out_sharding = stated_sharding(out_sharding, "reshape")
    new_sizes = canonical_shape(new_sizes, "reshape: ")
    try:
        shape = shape_of(operand)
    except TypeError:
        raise _not_an_array("reshape", operand) from None
    if dimensions is not None:
        dimensions = _indices(dimensions)
        if dimensions == tuple(range(len(shape))):
            dimensions = None
    if dimensions is None and shape == new_sizes and isinstance(operand, Array) and out_sharding is None:
        return operand
    for d in new_sizes:
        if type(d) is int and d < 0:  # NumPy would infer one of them
            _reshape_abstract(typeof(operand), new_sizes=new_sizes, dimensions=dimensions)
    out = reshape_p.bind(operand, new_sizes=new_sizes, dimensions=dimensions, sharding=out_sharding)
    return placed(out, out_sharding)


def collapse(operand: ArrayLike, start_dimension: int, stop_dimension: int | None = None) -> Array:
    """Returns an array with adjacent axes merged into one.

    Args:
      operand: array of any dtype.
      start_dimension: the first axis that is merged; a negative one counts from the end.
      stop_dimension: the axis behind the last one that is merged; default: all that follow.

    Returns:
      Array of as many elements, in the same order.

    Raises:
      ValueError: the range is out of bounds, or it ends before it begins.

    Examples:
      >>> lax.collapse(jnp.ones((2, 3, 4)), 0, 2).shape
      (6, 4)
    """
    shape = shape_of(operand)
    lo, hi, _ = slice(start_dimension, stop_dimension).indices(len(shape))
    if hi < lo:
        raise ValueError(f"Invalid dimension range passed to collapse: {shape}[{lo}:{hi}]")
    return reshape(operand, (*shape[:lo], dims.prod(shape[lo:hi]), *shape[hi:]))


# ---- transpose ----


def _inverse(permutation):
    out = [0] * len(permutation)
    for i, p in enumerate(permutation):
        out[p] = i
    return tuple(out)


def _transpose_abstract(x, *, permutation):
    if sorted(permutation) != list(range(x.ndim)):
        raise TypeError(
            "transpose permutation isn't a permutation of operand dimensions, got permutation "
            f"{permutation} for operand shape {x.shape}."
        )
    return ShapedArray(tuple(x.shape[p] for p in permutation), x.dtype, x.weak_type)


def _transpose_kernel(x, *, permutation):
    if permutation and min(permutation) < 0:  # NumPy would count these from the end
        raise TypeError("negative axis")
    return x.transpose(permutation)


def _transpose_batch(axis_data, operands, mapped, *, permutation):
    (x,), (d,) = operands, mapped
    return transpose_p.bind(x, permutation=(d, *(p if p < d else p + 1 for p in permutation))), 0


transpose_p = Primitive(
    "transpose",
    kernel=_transpose_kernel,
    abstract_eval=_transpose_abstract,
    batch=_transpose_batch,
    facts=LINEAR_MOVEMENT,
)
deflinear(transpose_p, lambda ct, x, *, permutation: [transpose(ct, _inverse(permutation))])


def transpose(operand: ArrayLike, permutation: Sequence[int]) -> Array:
    """Returns an array with its axes in another order.

    Args:
      operand: array of any dtype.
      permutation: for each axis of the result the axis of `operand` that it is, counted from 0.

    Returns:
      Array.

    Raises:
      TypeError: `permutation` does not name each axis once.

    Examples:
      >>> lax.transpose(jnp.ones((2, 3, 4)), (2, 0, 1)).shape
      (4, 2, 3)
    """
    permutation = tuple(operator.index(p) for p in permutation)
    if isinstance(operand, Array) and permutation == tuple(range(operand.ndim)):
        return operand
    return transpose_p.bind(operand, permutation=permutation)


# ---- squeeze ----


def _squeeze_kernel(x, *, dimensions):
    return x.squeeze(dimensions)


def _squeeze_abstract(x, *, dimensions):
    _check_squeeze(x.shape, dimensions)
    shape = tuple(d for i, d in enumerate(x.shape) if i not in dimensions)
    return ShapedArray(shape, x.dtype, x.weak_type)


def _check_squeeze(shape, dimensions):
    if any(not dims.equal(shape[d], 1) for d in dimensions):
        raise ValueError(
            f"cannot select an axis to squeeze out which has size not equal to one, got {shape=} and {dimensions=}"
        )


def _squeeze_batch(axis_data, operands, mapped, *, dimensions):
    x = bdim_at_front(operands[0], mapped[0], axis_data.size)
    return squeeze_p.bind(x, dimensions=tuple(d + 1 for d in dimensions)), 0


squeeze_p = Primitive(
    "squeeze",
    kernel=_squeeze_kernel,
    abstract_eval=_squeeze_abstract,
    batch=_squeeze_batch,
    facts=LINEAR_MOVEMENT,
)
deflinear(squeeze_p, lambda ct, x, *, dimensions: [expand_dims(ct, dimensions)])


def squeeze(array: ArrayLike, dimensions: Sequence[int]) -> Array:
    """Returns an array without some of its axes of length 1.

    Args:
      array: array of any dtype.
      dimensions: the axes that go, as a sequence of ints; negative ones count from the end.

    Returns:
      Array.

    Raises:
      ValueError: an axis has another length, is out of bounds, or is named twice.

    Examples:
      >>> lax.squeeze(jnp.ones((1, 3, 1)), (0,)).shape
      (3, 1)
    """
    try:
        rank = len(shape_of(array))
    except TypeError:
        raise _not_an_array("squeeze", array) from None
    positions = tuple([d + rank if d < 0 else d for d in map(operator.index, dimensions)])
    if not positions:
        return as_array(array)
    if not 0 <= min(positions) <= max(positions) < rank:
        for d in dimensions:
            canonical_axis(d, rank)
    if len(set(positions)) != len(positions):
        raise ValueError(f"dimensions are not unique: {positions}")
    return squeeze_p.bind(array, dimensions=positions)


# ---- rev ----


def _rev_kernel(x, *, dimensions):
    return np.flip(x, dimensions) if dimensions else x


def _rev_abstract(x, *, dimensions):
    if len(set(dimensions)) != len(dimensions):
        raise TypeError(f"rev dimensions must be unique, got {dimensions}.")
    if any(d < 0 for d in dimensions):
        raise TypeError(f"rev dimensions must have every element be nonnegative, got {dimensions}.")
    if any(d >= x.ndim for d in dimensions):
        raise TypeError(
            f"rev dimensions must all be less than operand ndim, got dimensions {dimensions} for operand ndim {x.ndim}."
        )
    return ShapedArray(x.shape, x.dtype, x.weak_type)


def _rev_batch(axis_data, operands, mapped, *, dimensions):
    (x,), (d,) = operands, mapped
    return rev_p.bind(x, dimensions=tuple(a + (a >= d) for a in dimensions)), d


rev_p = Primitive("rev", kernel=_rev_kernel, abstract_eval=_rev_abstract, batch=_rev_batch, facts=LINEAR_MOVEMENT)
deflinear(rev_p, lambda ct, x, *, dimensions: [rev(ct, dimensions)])


def rev(operand: ArrayLike, dimensions: Sequence[int]) -> Array:
    """Returns an array with the order of its elements reversed along some axes.

    Args:
      operand: array of any dtype.
      dimensions: the axes, as a sequence of ints counted from 0.

    Returns:
      Array like `operand`.

    Raises:
      TypeError: an axis is out of bounds or repeated.

    Examples:
      >>> lax.rev(jnp.array([[1, 2], [3, 4]]), (1,))
      Array([[2, 1],
             [4, 3]], dtype=int32)
    """
    dimensions = _indices(dimensions)
    _rev_abstract(typeof(operand), dimensions=dimensions)
    return rev_p.bind(operand, dimensions=dimensions)


# ---- reduce_sum ----


def check_axes(aval, axes):
    """The axes of a reduction; ValueError when one repeats or is out of bounds."""
    if len(set(axes)) != len(axes):
        raise ValueError(f"duplicate value in 'axes' of reduction: {axes}")
    if not all(0 <= a < aval.ndim for a in axes):
        raise ValueError(f"reduction axes {axes} contains out-of-bounds indices for {aval.str_short()}.")
    return axes


def reduction_axes(operand, axes):
    """Converts axes to a tuple; refuses those that NumPy would count from the end; the kernel refuses other errors."""
    axes = _indices(axes)
    if axes and min(axes) < 0:
        check_axes(typeof(operand), axes)
    return axes


def reduced_shape(shape, axes):
    """The shape after removing the axes."""
    return tuple(d for i, d in enumerate(shape) if i not in axes)


def check_number_dtype(name, dtype):
    """TypeError unless dtype is a number type."""
    if isinstance(dtype, dtypes.ExtendedDType) or not dtypes.issubdtype(dtype, np.number):
        raise TypeError(f"{name} does not accept dtype {dtype}. Accepted dtypes are subtypes of number.")


def _reduce_sum_kernel(x, *, axes, out_sharding=None):
    dtype = x.dtype
    if dtype.itemsize < 4 and dtype.kind not in "iu":  # narrow floats are summed in float32, rounded once
        return np.add.reduce(x.astype(np.float32), axis=axes).astype(dtype)
    return np.add.reduce(x, axis=axes, dtype=dtype)


def _reduce_sum_abstract(x, *, axes, out_sharding=None):
    check_number_dtype("reduce_sum", x.dtype)
    return ShapedArray(reduced_shape(x.shape, check_axes(x, axes)), x.dtype, x.weak_type)


def _reduce_sum_transpose(ct, x, *, axes, out_sharding=None):
    remaining = tuple(i for i in range(len(x.aval.shape)) if i not in axes)
    typed = broadcast_typed(ct, x.aval, remaining)
    return [broadcast_in_dim(ct, x.aval.shape, remaining) if typed is None else typed]


def _reduce_sum_batch(axis_data, operands, mapped, *, axes, out_sharding=None):
    (x,), (d,) = operands, mapped
    moved = tuple(a + (a >= d) for a in axes)
    at = d - sum(a < d for a in moved)
    if out_sharding is not None:
        out_sharding = insert_spec_entry(out_sharding, at, axis_data.explicit_mesh_axis)
    return reduce_sum_p.bind(x, axes=moved, out_sharding=out_sharding), at


reduce_sum_p = Primitive(
    "reduce_sum",
    kernel=_reduce_sum_kernel,
    abstract_eval=_reduce_sum_abstract,
    batch=_reduce_sum_batch,
    facts=frozenset({LINEAR, MAKES_NAN}),
)
deflinear(reduce_sum_p, _reduce_sum_transpose)


def reduce_sum(operand: ArrayLike, axes: Sequence[int], *, out_sharding: ShardingLike = None) -> Array:
    """Returns the sum of the elements over some axes.

    Differs from NumPy's sum in the dtype, which is that of the operand: small integers wrap.

    Args:
      operand: array of integer, floating or complex dtype; float16 and bfloat16 are added in float32.
      axes: the axes that are summed, as a sequence of ints counted from 0.
      out_sharding: a sharding for the result; default: decided by the operand.

    Returns:
      Array without these axes.

    Raises:
      TypeError: the dtype is bool.
      ValueError: an axis is out of bounds or repeated, or `allow_f16_reductions` is off
        and numbers of 16 bits are added.

    Examples:
      >>> lax.reduce_sum(jnp.ones((2, 3)), (0,))
      Array([2., 2., 2.], dtype=float32)
    """
    if out_sharding is not None:
        out_sharding = stated_sharding(out_sharding, "reduce_sum")
    axes = reduction_axes(operand, axes)
    if not config.jax_allow_f16_reductions:
        _check_width_of_sum(typeof(operand), axes)
    return placed(reduce_sum_p.bind(operand, axes=axes, out_sharding=out_sharding), out_sharding)


def _check_width_of_sum(aval, axes):
    """Raises ValueError for a sum of several float16 or bfloat16 numbers."""
    if aval.dtype in (np.float16, dtypes.bfloat16) and any(aval.shape[axis] != 1 for axis in axes):
        raise ValueError(
            f"reduce_sum on operand {aval.str_short()} is not allowed when jax_allow_f16_reductions=False."
        )


# ---- the mapped axis ----


def moveaxis(x, source, destination):
    """x with one axis moved."""
    if source == destination:
        return x
    order = [i for i in range(len(shape_of(x))) if i != source]
    order.insert(destination, source)
    return transpose(x, order)


def broadcast_bdim(x, size, axis):
    """x repeated along a new axis."""
    shape = shape_of(x)
    new = (*shape[:axis], size, *shape[axis:])
    return broadcast_in_dim(x, new, tuple(i for i in range(len(new)) if i != axis))


def bdim_at_front(x, dim, size):
    """x with its mapped axis in front; an operand without one is repeated."""
    return broadcast_bdim(x, size, 0) if dim is None else moveaxis(x, dim, 0)


def _bitcast_batch(axis_data, operands, mapped, *, new_dtype):
    """Keeps the mapped axis in place unless it is last and a widening cast consumes the last axis."""
    (x,), (d,) = operands, mapped
    if d == x.ndim - 1 and dtypes.itemsize_bits(x.dtype) < dtypes.itemsize_bits(new_dtype):
        x, d = moveaxis(x, d, 0), 0
    return bitcast_convert_type_p.bind(x, new_dtype=new_dtype), d


bitcast_convert_type_p.batch = _bitcast_batch
