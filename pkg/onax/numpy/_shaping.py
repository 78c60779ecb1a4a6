"""Changing shapes: reshape, transpose and their relatives, joining, splitting, repeating, flipping."""

import operator

import numpy as np

from onax import lax
from onax._control.jit_call import staged
from onax._core.api_functions import name_error, static_argnames
from onax._core.trace import concrete_or_error
from onax._ground import dims, dtypes
from onax._native.array import Array, ArrayImpl
from onax._prims.placement import with_out_sharding
from onax._prims.shaping import canonical_shape
from onax.numpy._creation import asarray, broadcast_to
from onax.numpy._promotion import (
    canonical_axes,
    canonical_axis,
    check_arraylike,
    ensure_arraylike,
    ensure_arraylikes,
    promote_dtypes,
    static_axes,
)

# --- one array, other axes ----------------------------------------------------------------------------------------


def reshape(a, shape, order="C", *, copy=None, out_sharding=None):
    """The elements of an array in another shape.

    Args:
      a: an array.
      shape: an int or a sequence of ints with the same product as the shape of `a`; one of them may be -1, which stands
        for the size that is left over.
      order: "C" reads and writes elements in row-major order, "F" in column-major order.
      copy: True returns a new array even if the shape stays; None and False leave that open.
      out_sharding: where the result lies, a NamedSharding or a PartitionSpec over the mesh in context.

    Raises TypeError if the numbers of elements differ.

    Examples:
      >>> jnp.reshape(jnp.arange(6), (2, -1))
      Array([[0, 1, 2],
             [3, 4, 5]], dtype=int32)
    """
    if out_sharding is not None:
        return with_out_sharding(out_sharding, reshape, a, shape, order, copy=copy)
    a = ensure_arraylike("reshape", a)
    if type(shape) is tuple and type(a) is ArrayImpl and order == "C" and copy is None and _has_size(shape, a.size):
        return a if shape == a.shape else lax.reshape_p.bind(a, new_sizes=shape, dimensions=None, sharding=None)
    if order == "C":
        out = lax.reshape(a, _target_shape(a.shape, shape))
    elif order == "F":
        target = _target_shape(a.shape, shape)
        out = lax.reshape(a, target[::-1], tuple(range(a.ndim))[::-1])
        out = lax.transpose(out, tuple(range(len(target)))[::-1])
    elif order in ("A", "K"):
        raise NotImplementedError(f"np.reshape order={order} is not implemented: an Array has no memory order.")
    else:
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    return lax.copy_p.bind(out) if copy and out is a else out


def _has_size(shape, size):
    """Whether all dimensions are non-negative ints whose product is `size`."""
    product = 1
    for n in shape:
        if type(n) is not int or n < 0:
            return False
        product *= n
    return product == size


def _target_shape(have, shape):
    """The requested shape with -1 resolved."""
    if type(shape) is not tuple:
        if isinstance(shape, (int, np.integer, dims.SymbolicDim)) or (
            isinstance(shape, (Array, np.ndarray)) and shape.ndim == 0
        ):
            shape = [shape]
        elif isinstance(shape, str):
            raise TypeError("'str' object cannot be interpreted as an integer")
    shape = canonical_shape(shape)
    unknown = [i for i, d in enumerate(shape) if type(d) is int and d == -1]
    if len(unknown) > 1:
        raise TypeError(f"can only specify one unknown axis size with a `-1` value, got {shape}")
    total = dims.prod(have)
    rest = dims.prod(tuple(d for i, d in enumerate(shape) if i not in unknown))
    what = f"cannot reshape array of shape {have} (size {total}) into shape {shape}"
    if unknown:
        if isinstance(rest, int) and isinstance(total, int) and (rest == 0 or total % rest):
            raise TypeError(
                f"{what} because the product of specified axis sizes ({rest}) does not evenly divide {total}"
            )
        return tuple(total // rest if i in unknown else d for i, d in enumerate(shape))
    if not dims.equal(total, rest):
        raise TypeError(f"{what} (size {rest})")
    return shape


@static_argnames("order")
def ravel(a, order="C", *, out_sharding=None):
    """The elements of a as a rank-1 array, row-major ('F': column-major)."""
    if out_sharding is not None:
        return with_out_sharding(out_sharding, ravel, a, order)
    a = ensure_arraylike("ravel", a)
    if order == "K":
        raise NotImplementedError("Ravel not implemented for order='K'.")
    size = dims.prod(a.shape)
    if order == "F":
        return lax.reshape(a, (size,), tuple(range(a.ndim))[::-1])
    return reshape(a, (size,), order=order)


def transpose(a, axes=None):
    """a with its axes in the given order; reversed without one."""
    a = ensure_arraylike("transpose", a)
    ndim = a.ndim
    if axes is None:
        return lax.transpose(a, tuple(range(ndim))[::-1])
    try:
        axes = tuple(canonical_axis(i, ndim) for i in axes)
    except (TypeError, ValueError) as error:
        name_error(error, "onax.numpy.transpose")
        raise
    return lax.transpose(a, axes)


def permute_dims(a, /, axes):
    """a with its axes in the given order."""
    return transpose(a, axes)


def matrix_transpose(x, /):
    """x with its last two axes swapped.  Raises ValueError below rank 2."""
    x = ensure_arraylike("matrix_transpose", x)
    if x.ndim < 2:
        raise ValueError(f"x must be at least two-dimensional for matrix_transpose; got ndim={x.ndim}")
    return swapaxes(x, -1, -2)


@static_argnames("axis1", "axis2")
def swapaxes(a, axis1, axis2):
    """a with two axes swapped."""
    a = ensure_arraylike("swapaxes", a)
    order = list(range(a.ndim))
    i, j = canonical_axis(axis1, a.ndim), canonical_axis(axis2, a.ndim)
    order[i], order[j] = order[j], order[i]
    return lax.transpose(a, order)


def moveaxis(a, source, destination):
    """a with one or several axes moved to other positions; the others keep their order."""
    a = ensure_arraylike("moveaxis", a)
    source = tuple(canonical_axis(i, a.ndim) for i in static_axes(source))
    destination = tuple(canonical_axis(i, a.ndim) for i in static_axes(destination))
    if len(source) != len(destination):
        raise ValueError(f"Inconsistent number of elements: {len(source)} vs {len(destination)}")
    order = [i for i in range(a.ndim) if i not in source]
    for index, axis in sorted(zip(destination, source)):
        order.insert(index, axis)
    return lax.transpose(a, order)


@staged("rollaxis", ("axis", "start"), compiled_from=None)
def rollaxis(a, axis, start=0):
    """a with `axis` moved to before `start`.  `moveaxis` is clearer."""
    a = ensure_arraylike("rollaxis", a)
    start = operator.index(start)
    if not -a.ndim <= start <= a.ndim:
        raise ValueError(f"{start=} must satisfy {-a.ndim}<=start<={a.ndim}")
    start += a.ndim if start < 0 else 0
    axis = canonical_axis(axis, a.ndim)
    return moveaxis(a, axis, start - 1 if start > axis else start)


def squeeze(a, axis=None):
    """a without its axes of length 1, or without the given ones.  Raises ValueError if one is longer."""
    a = ensure_arraylike("squeeze", a)
    if axis is None:
        axis = tuple(i for i, d in enumerate(a.shape) if type(d) is int and d == 1)
    return lax.squeeze(a, canonical_axes(static_axes(axis), a.ndim))


def expand_dims(a, axis):
    """a with axes of length 1 at the given positions of the result."""
    a = ensure_arraylike("expand_dims", a)
    return lax.expand_dims(a, static_axes(axis))


def broadcast_shapes(*shapes):
    """The shape of the arrays of these shapes after broadcasting.  Raises ValueError when they do not fit."""
    shapes = [(s,) if np.ndim(s) == 0 else tuple(s) for s in shapes]
    for shape in shapes:
        if any(isinstance(n, (int, np.integer)) and n < 0 for n in shape):
            raise TypeError(
                f"Only non-negative indices are allowed when broadcasting static shapes, but got shape {shape!r}."
            )
    return lax.broadcast_shapes(*shapes)


def broadcast_arrays(*args):
    """The arguments, broadcast to their common shape: a list."""
    args = ensure_arraylikes("broadcast_arrays", *args)
    shape = lax.broadcast_shapes(*(x.shape for x in args)) if args else ()
    return [broadcast_to(x, shape) for x in args]


def _shape_of(a):
    """The shape of anything array-like, lists included."""
    return np.shape(a) if not hasattr(a, "shape") else tuple(a.shape)


def shape(a):
    """The shape of a, a tuple."""
    return _shape_of(a)


def ndim(a):
    """The number of axes of a."""
    return len(_shape_of(a))


def size(a, axis=None):
    """The number of elements of a, or its length along the given axes."""
    shape = _shape_of(a)
    if axis is None:
        return dims.prod(shape)
    if isinstance(axis, (np.ndarray, Array)) and axis.ndim:
        raise TypeError(f"size: axis must be an integer or a tuple of integers, got {axis!r}")
    axes = canonical_axes(axis, len(shape))
    if len(set(axes)) != len(axes):
        raise ValueError(f"repeated axis: {axis}")
    return dims.prod(tuple(shape[i] for i in axes))


def _atleast_nd(x, rank):
    """Adds axes of length 1; for rank 3 a matrix gets the new axis at the end."""
    x = ensure_arraylike(f"atleast_{rank}d", x)
    if x.ndim >= rank:
        return x
    return lax.expand_dims(x, ((0, 1, 2), (0, 2), (2,))[x.ndim] if rank == 3 else tuple(range(rank - x.ndim)))


@staged("atleast_1d")
def atleast_1d(*arys):
    """Each argument with at least one axis; a list for several."""
    if len(arys) == 1:
        return _atleast_nd(arys[0], 1)
    return [_atleast_nd(x, 1) for x in arys]


@staged("atleast_2d")
def atleast_2d(*arys):
    """Each argument with at least two axes, new ones in front; a list for several."""
    if len(arys) == 1:
        return _atleast_nd(arys[0], 2)
    return [_atleast_nd(x, 2) for x in arys]


@staged("atleast_3d")
def atleast_3d(*arys):
    """Each argument with at least three axes: n becomes (1, n, 1), (m, n) becomes (m, n, 1); a list for several."""
    if len(arys) == 1:
        return _atleast_nd(arys[0], 3)
    return [_atleast_nd(x, 3) for x in arys]


# --- joining ------------------------------------------------------------------------------------------------------


def _as_sequence(name, arrays_in):
    """A list of the arrays of a sequence, or of the slices of one array along its first axis."""
    if isinstance(arrays_in, (np.ndarray, Array)):
        return unstack(arrays_in) if arrays_in.ndim else [arrays_in]
    if not isinstance(arrays_in, (list, tuple)):
        arrays_in = [*arrays_in]
    return list(arrays_in)


def concatenate(arrays, axis=0, dtype=None):
    """Arrays joined along an existing axis.

    Args:
      arrays: a sequence of arrays of one rank, equal in all other axes; or one array, whose first axis is taken apart.
      axis: the axis to join along; None joins the flattened arrays.
      dtype: the dtype of the result, by default the common dtype of the arrays.

    Raises ValueError for no arrays and for scalars, TypeError for arrays that do not fit.

    Examples:
      >>> jnp.concatenate([jnp.zeros((1, 2)), jnp.ones((1, 2))])
      Array([[0., 0.],
             [1., 1.]], dtype=float32)
    """
    parts = _as_sequence("concatenate", arrays)
    check_arraylike("concatenate", *parts)
    if not parts:
        raise ValueError("Need at least one array to concatenate.")
    if axis is None:
        parts, axis = [ravel(x) for x in parts], 0
    parts = _cast_parts("concatenate", parts, dtype)
    if parts[0].ndim == 0:
        raise ValueError("Zero-dimensional arrays cannot be concatenated.")
    return lax.concatenate(parts, canonical_axis(axis, parts[0].ndim))


def _cast_parts(name, parts, dtype):
    if dtype is None:
        return promote_dtypes(*parts)
    dtype = dtypes.check_user_dtype(dtype, name)
    return [asarray(x, dtype=dtype) for x in parts]


def concat(arrays, /, *, axis=0):
    """The arrays one after the other along an existing axis."""
    return concatenate(arrays, axis=axis)


def stack(arrays, axis=0, out=None, dtype=None):
    """The arrays, all of one shape, along a new axis."""
    if out is not None:
        raise NotImplementedError("The 'out' argument to jnp.stack is not supported.")
    if isinstance(arrays, (np.ndarray, Array)):
        if not arrays.ndim:
            raise TypeError("stack takes a sequence of arrays, got an array of rank 0")
        if not arrays.shape[0]:
            raise ValueError("Need at least one array to stack.")
        return moveaxis(asarray(arrays, dtype=dtype), 0, canonical_axis(axis, arrays.ndim))
    parts = _as_sequence("stack", arrays)
    if not parts:
        raise ValueError("Need at least one array to stack.")
    check_arraylike("stack", *parts)
    parts = _cast_parts("stack", parts, dtype)
    if any(x.ndim != parts[0].ndim for x in parts):
        shown = ", ".join(str(x.shape) for x in parts)
        raise ValueError(f"Cannot stack arrays with different numbers of dimensions: got {shown}.")
    return lax.stack(parts, canonical_axis(axis, parts[0].ndim + 1))


def _lift_and_concatenate(name, arrays_in, lift, axis, dtype):
    """Concatenates lift(x) of each array; each is lifted on its own, as JAX stages it."""
    if isinstance(arrays_in, (np.ndarray, Array)):
        parts = [lift(x) for x in unstack(arrays_in)]
    else:
        parts = [lift(x) for x in _as_sequence(name, arrays_in)]
    return concatenate(parts, axis=axis(parts), dtype=dtype)


def vstack(tup, dtype=None):
    """The arrays as rows, or along the first axis."""
    return _lift_and_concatenate("vstack", tup, atleast_2d, lambda parts: 0, dtype)


def hstack(tup, dtype=None):
    """The arrays along the second axis, vectors along the first."""
    return _lift_and_concatenate(
        "hstack", tup, atleast_1d, lambda parts: 0 if parts and parts[0].ndim == 1 else 1, dtype
    )


def dstack(tup, dtype=None):
    """The arrays along the third axis."""
    return _lift_and_concatenate("dstack", tup, atleast_3d, lambda parts: 2, dtype)


def column_stack(tup):
    """Vectors as columns, matrices side by side."""

    def lift(x):
        x = ensure_arraylike("column_stack", x)
        return atleast_2d(x).T if x.ndim < 2 else x

    return _lift_and_concatenate("column_stack", tup, lift, lambda parts: 1, None)


@staged("append", static_argnames=("axis",))
def append(arr, values, axis=None):
    """values after arr along an axis; both flattened without one."""
    if axis is None:
        return concatenate([ravel(arr), ravel(values)], 0)
    return concatenate([arr, values], axis=axis)


@staged("block")
def block(arrays):
    """One array from nested lists of blocks: the innermost lists along the last axis, and so on outwards."""
    out, _ = _block(arrays)
    return out


def _block(xs):
    if isinstance(xs, tuple):
        raise ValueError(f"jax.numpy.block does not allow tuples, got {xs}")
    if xs is None:
        raise ValueError("None is not a valid value for jnp.array")
    if not isinstance(xs, list):
        return ensure_arraylike("block", xs), 1
    if not xs:
        raise ValueError("jax.numpy.block does not allow empty list arguments")
    parts, depths = zip(*[_block(x) for x in xs])
    if any(d != depths[0] for d in depths[1:]):
        raise ValueError(f"Mismatched list depths in jax.numpy.block: {depths}")
    rank = max(depths[0], *(x.ndim for x in parts)) if len(parts) > 1 else max(depths[0], parts[0].ndim)
    parts = [lax.broadcast_to_rank(x, rank) for x in parts]
    return concatenate(parts, axis=-depths[0]), depths[0] + 1


# --- splitting ----------------------------------------------------------------------------------------------------


def _split(name, ary, sections, axis):
    ary = ensure_arraylike(name, ary)
    axis = concrete_or_error(operator.index, axis, f"in jax.numpy.{name} argument `axis`")
    length = ary.shape[axis]
    if isinstance(sections, (tuple, list)) or (isinstance(sections, (np.ndarray, Array)) and sections.ndim > 0):
        cuts = [concrete_or_error(operator.index, i, f"in jax.numpy.{name} argument 1") for i in sections]
        bounds = [0, *cuts, length]
    else:
        count = concrete_or_error(operator.index, sections, f"in jax.numpy.{name} argument 1")
        part, rest = divmod(length, count)
        if rest == 0:
            bounds = [i * part for i in range(count + 1)]
        elif name == "array_split":
            bounds = [i * (part + 1) for i in range(rest + 1)]
            bounds += [bounds[-1] + (i + 1) * part for i in range(count - rest)]
        else:
            raise ValueError(f"array split does not result in an equal division: rest is {rest}")
    sizes = [b - a for a, b in zip(bounds, bounds[1:])]
    if any(n < 0 for n in sizes):  # NumPy clips the indices and allows overlapping sections
        raise ValueError(f"Sizes passed to split must be nonnegative, got {sizes}")
    return list(lax.split(ary, sizes, axis=canonical_axis(axis, ary.ndim)))


def split(ary, indices_or_sections, axis=0):
    """ary in equal sections, or cut before the given indices: a list.  Raises ValueError for an unequal division."""
    return _split("split", ary, indices_or_sections, axis)


def array_split(ary, indices_or_sections, axis=0):
    """ary in sections whose sizes differ by at most one: a list."""
    return _split("array_split", ary, indices_or_sections, axis)


def vsplit(ary, indices_or_sections):
    """`split` along the first axis."""
    return _split("vsplit", ary, indices_or_sections, 0)


def hsplit(ary, indices_or_sections):
    """`split` along the second axis, of vectors along the first."""
    ary = ensure_arraylike("hsplit", ary)
    return _split("hsplit", ary, indices_or_sections, 0 if ary.ndim == 1 else 1)


def dsplit(ary, indices_or_sections):
    """`split` along the third axis."""
    return _split("dsplit", ary, indices_or_sections, 2)


@static_argnames("axis")
def unstack(x, /, *, axis=0):
    """The slices of x along an axis, without it: a tuple."""
    x = ensure_arraylike("unstack", x)
    if x.ndim == 0:
        raise ValueError("axis 0 is out of bounds for array of dimension 0")
    return tuple(lax.unstack(x, canonical_axis(axis, x.ndim)))


# --- tiling ------------------------------------------------------------------------------------------------------


def static_integers(numbers):
    """A number or a sequence of numbers as a tuple; the elements of a concrete array are not traced."""
    if type(numbers) is ArrayImpl:
        numbers = np.asarray(numbers)
    return (numbers,) if np.ndim(numbers) == 0 else tuple(numbers)


def tile(A, reps):
    """A repeated as a whole, `reps` times along each of its last axes."""
    A = ensure_arraylike("tile", A)
    reps = static_integers(reps)
    reps = tuple(r if isinstance(r, dims.SymbolicDim) else operator.index(r) for r in reps)
    if any(type(r) is int and r < 0 for r in reps):
        raise ValueError(f"tile needs non-negative repetitions; got {reps}")
    rank = max(A.ndim, len(reps))
    return lax.tile(lax.broadcast_to_rank(A, rank), (1,) * (rank - len(reps)) + reps)


@staged("resize", static_argnames=("new_shape",))
def resize(a, new_shape):
    """The elements of a, repeated as often as needed, in the new shape."""
    a = ravel(ensure_arraylike("resize", a))
    new_shape = (new_shape,) if np.ndim(new_shape) == 0 else tuple(new_shape)
    if any(d < 0 for d in new_shape):
        raise ValueError("all elements of `new_shape` must be non-negative")
    size = dims.prod(new_shape)
    if a.size == 0 or size == 0:
        return lax.full(new_shape, 0, a.dtype)
    times = -(-size // a.size)
    return reshape(tile(a, times)[:size], new_shape)


# --- reversing and rolling ----------------------------------------------------------------------------------------


def flip(m, axis=None):
    """m reversed along the given axes, by default along all."""
    check_arraylike("flip", m)
    return _flip(m, None if axis is None else static_axes(axis))


@staged("_flip", ("axis",), compiled_from=None)
def _flip(m, axis):
    m = ensure_arraylike("flip", m)
    return lax.rev(m, canonical_axes(axis, m.ndim))


def flipud(m):
    """m with its first axis reversed."""
    return _flip(ensure_arraylike("flipud", m), 0)


def fliplr(m):
    """m with its second axis reversed."""
    return _flip(ensure_arraylike("fliplr", m), 1)


@staged("rot90", ("k", "axes"), compiled_from=None)
def rot90(m, k=1, axes=(0, 1)):
    """m turned k times by 90 degrees in the plane of two axes, from the first towards the second."""
    m = ensure_arraylike("rot90", m)
    if np.ndim(axes) == 0:
        raise TypeError(f"rot90 takes two axes, got {axes!r}")
    if np.shape(axes) != (2,):
        raise ValueError("rot90 takes two axes")
    if m.ndim < 2:
        raise ValueError(
            "rot90 requires its first argument to have ndim at least two, but got first argument of shape "
            f"{m.shape}, which has ndim {m.ndim}"
        )
    first, second = (canonical_axis(i, m.ndim) for i in axes)
    if first == second:
        raise ValueError("Axes must be different")
    k %= 4
    if k == 0:
        return m
    if k == 2:
        return flip(flip(m, first), second)
    order = list(range(m.ndim))
    order[first], order[second] = order[second], order[first]
    return transpose(flip(m, second), order) if k == 1 else flip(transpose(m, order), second)


def roll(a, shift, axis=None):
    """a with its elements shifted cyclically by `shift` along an axis; None shifts the flattened array."""
    a = ensure_arraylike("roll", a)
    if shift is None:
        raise ValueError("None is not a valid value for jnp.array")
    if axis is None:
        return lax.reshape(roll(ravel(a), shift, 0), a.shape)
    axis = static_axes(axis)
    check_arraylike("roll", *(shift if isinstance(shift, (tuple, list)) else (shift,)))
    if np.ndim(shift) > 1:
        raise ValueError("'shift' and 'axis' arguments to roll must be scalars or 1D arrays")
    axis = tuple(canonical_axis(i, a.ndim) for i in axis)
    is_static = not isinstance(shift, Array) or type(shift) is ArrayImpl
    if is_static:
        shifts = np.asarray(shift)
        lax.broadcast_shapes(shifts.shape, (len(axis),))  # raises ValueError
        if shifts.dtype.kind not in "iu":
            raise TypeError(f"roll: shift must be an integer; got {shifts.dtype}")
        shifts = np.broadcast_to(shifts, max(shifts.shape, (len(axis),), key=lambda s: (len(s), s)))
        axis = np.broadcast_to(np.asarray(axis), shifts.shape)
        return _roll_static(a, tuple(map(int, shifts)), tuple(map(int, axis)))
    return _roll_dynamic(a, shift, axis)


@staged("_roll_static", static_argnames=("shift", "axis"))
def _roll_static(a, shift, axis):
    for offset, ax in zip(shift, axis):
        if a.shape[ax] == 0:
            continue
        ax = canonical_axis(ax, a.ndim)
        cut = -offset % a.shape[ax]
        a = lax.concatenate([lax.slice_in_dim(a, cut, a.shape[ax], axis=ax), lax.slice_in_dim(a, 0, cut, axis=ax)], ax)
    return a


@staged("_roll_dynamic", static_argnames=("axis",))
def _roll_dynamic(a, shift, axis):
    shift = ensure_arraylike("roll", shift)
    shifts = unstack(broadcast_to(shift, (len(axis),)))
    for offset, ax in zip(shifts, axis):
        ax = canonical_axis(ax, a.ndim)
        n = a.shape[ax]
        if n == 0:
            continue
        offset = lax.rem(offset, offset.dtype.type(n))
        offset = lax.select(lax.lt(offset, offset.dtype.type(0)), lax.add(offset, offset.dtype.type(n)), offset)
        twice = lax.concatenate([a, a], ax)
        start = lax.sub(lax.full_like(offset, n), offset)
        a = lax.dynamic_slice_in_dim(twice, start, n, axis=ax)
    return a
