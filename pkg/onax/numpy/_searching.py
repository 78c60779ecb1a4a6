"""Where something is: nonzero and its relatives, extract, compress, index conversions.

The number of nonzero elements is no static shape: under `jit` these functions need `size=`, which cuts off or fills up.
"""

import operator

import numpy as np

from onax import lax
from onax._core.trace import concrete_or_error
from onax._ground import dims, dtypes
from onax._native.array import make_array
from onax.numpy._arithmetic import clip, divmod, mod
from onax.numpy._cumulative import cumsum
from onax.numpy._gathering import take_places
from onax.numpy._promotion import array_of, check_arraylike, to_dtype
from onax.numpy._reductions import any as _any
from onax.numpy._shaping import known_numbers, moveaxis, ravel
from onax.numpy._ufuncs import add, truth
from onax.numpy._where import where as _choose


def where(condition, x=None, y=None, /, *, size=None, fill_value=None):
    """Elements of x where condition is true and of y elsewhere, broadcast together.

    With condition alone: the indices of its nonzero elements (see `nonzero`, to which `size` and `fill_value` belong).
    The derivative of the side not chosen is 0, but nan or inf computed there still spoil a gradient.
    """
    if x is None and y is None:
        check_arraylike("where", condition)
        if fill_value is not None and np.ndim(fill_value) == 0:
            check_arraylike("where", fill_value)
        return nonzero(condition, size=size, fill_value=fill_value)
    check_arraylike("where", condition, x, y)
    if size is not None or fill_value is not None:
        raise ValueError("size and fill_value arguments cannot be used in three-term where function.")
    if x is None or y is None:
        raise ValueError("Either both or neither of the x and y arguments should be provided to jax.numpy.where.")
    return _choose(condition, x, y)


def nonzero(a, *, size=None, fill_value=None):
    """The indices of the nonzero elements: one Array for each axis.

    With `size`, exactly that many; missing ones are `fill_value` (0, or one value an axis).  else a is concrete.
    """
    a = array_of("nonzero", a)
    if not a.ndim:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use jnp.atleast_1d(scalar).nonzero() instead.")
    if fill_value is not None and not isinstance(fill_value, tuple):
        if np.ndim(fill_value):
            raise ValueError(f"fill_value must be a scalar or a tuple of length {a.ndim}; got {fill_value}")
        check_arraylike("nonzero", fill_value)
    mask = truth(a)
    index = dtypes.scalar_dtype(int)
    if size is None:
        known = np.asarray(concrete_or_error(None, mask, _SIZE_HINT))
        return tuple(make_array(i.astype(index)) for i in known.nonzero())
    size = concrete_or_error(operator.index, size, _SIZE_HINT)
    flat = ravel(mask)
    places = _first_places(flat, size, index)
    out = _unravelled(places, a.shape, index)
    if fill_value is None or not size:
        missing = [0] * len(out)
    elif isinstance(fill_value, tuple):
        if len(fill_value) != len(out):
            raise ValueError(f"fill_value must be a scalar or a tuple of length {len(out)}; got {fill_value}")
        missing = fill_value
    else:
        missing = [fill_value] * len(out)
    found = lax.lt(lax.iota(index, size), _count(flat, index))
    return tuple(_choose(found, part, to_dtype(fill, index)) for part, fill in zip(out, missing))


_SIZE_HINT = (
    "The size argument of jnp.nonzero must be statically specified to use jnp.nonzero within JAX transformations."
)


def _count(mask, index):
    return lax.reduce_sum(lax.convert_element_type(mask, index), (0,))


def _first_places(mask, size, index):
    """The places of the first `size` True elements of a vector; those there are not are arbitrary, in bounds.

    The k-th is the number of prefixes that hold at most k of them: prefixes are counted by how many they hold.
    """
    n = mask.shape[0]
    if dims.equal(size, 0) or dims.definitely_empty((n,)):
        return lax.full((size,), 0, index)
    counts = lax.full((size,), 0, index).at[cumsum(mask)].add(lax.full((), 1, index), mode="drop")
    return lax.min(cumsum(counts), to_dtype(n - 1, index))


def _unravelled(places, shape, index):
    out = []
    for n in shape[::-1]:
        length = to_dtype(dims.max_dim(n, 1), index)
        out.append(lax.rem(places, length))
        places = lax.div(places, length)
    return out[::-1]


def flatnonzero(a, *, size=None, fill_value=None):
    """The places of the nonzero elements of the flattened array."""
    return nonzero(ravel(a), size=size, fill_value=fill_value)[0]


def argwhere(a, *, size=None, fill_value=None):
    """The indices of the nonzero elements as rows."""
    a = array_of("argwhere", a)
    found = nonzero(a if a.ndim else ravel(a), size=size, fill_value=fill_value)
    if a.ndim == 0:
        return lax.full((found[0].shape[0], 0), 0, dtypes.scalar_dtype(int))
    return lax.stack(list(found), 1)


def extract(condition, arr, *, size=None, fill_value=0):
    """The elements of arr where condition is nonzero, as a vector; with `size`, cut off or filled up."""
    return compress(ravel(condition), ravel(arr), size=size, fill_value=fill_value)


def compress(condition, a, axis=None, *, size=None, fill_value=0, out=None):
    """The slices of a along an axis (None: elements of a flattened) where the vector condition is True."""
    if out is not None:
        raise NotImplementedError("The 'out' argument to jnp.compress is not supported.")
    check_arraylike("compress", condition, a, fill_value)
    condition = lax.convert_element_type(array_of("compress", condition), np.bool_)
    if condition.ndim != 1:
        raise ValueError("condition must be a 1D array")
    a = array_of("compress", a)
    a = ravel(a) if axis is None else moveaxis(a, axis, 0)
    rest, n = condition.shape[0] - a.shape[0], a.shape[0]
    if rest > 0:
        extra = lax.slice(condition, (n,), (n + rest,))
        if concrete_or_error(bool, _any(extra), "condition of jnp.compress"):
            raise ValueError("condition contains entries that are out of bounds")
        condition = lax.slice(condition, (0,), (n,))
    elif rest < 0:
        a = lax.slice_in_dim(a, 0, condition.shape[0], axis=0)
    if size is not None and not 0 <= size <= a.shape[0]:
        raise ValueError(
            "size must be positive and not greater than the size of the array axis; got "
            f"size={size} for a.shape[axis]={a.shape[0]}"
        )
    (places,) = nonzero(condition, size=size)
    picked = take_places(a, places, 0)
    if size is not None:
        index = places.dtype
        found = lax.lt(lax.iota(index, size), _count(condition, index))
        found = lax.broadcast_in_dim(found, picked.shape, (0,))
        picked = _choose(found, picked, to_dtype(fill_value, picked.dtype))
    return moveaxis(picked, 0, 0 if axis is None else axis)


def mask_indices(n, mask_func, k=0, *, size=None):
    """The indices where `mask_func(ones((n, n)), k)` is nonzero."""
    ones = lax.full((n, n), 1, dtypes.scalar_dtype(float))
    return nonzero(mask_func(ones, k), size=size)


# --- one number for several indices -------------------------------------------------------------------------------


def unravel_index(indices, shape):
    """The index tuple of each place in an array of this shape, flattened.  Places out of bounds are clamped."""
    check_arraylike("unravel_index", indices)
    indices = array_of("unravel_index", indices)
    if np.ndim(shape) > 1:
        raise ValueError("unravel_index: shape should be a scalar or 1D sequence.")
    shape = tuple(operator.index(n) for n in known_numbers(shape))
    if not dtypes.is_integer(indices.dtype):
        raise TypeError("only int indices permitted")
    out = []
    places = indices
    for n in shape[::-1]:
        places, part = divmod(places, n)
        out.append(part)
    too_far, too_early = lax.gt(places, places.dtype.type(0)), lax.lt(places, places.dtype.type(-1))
    out = [
        _choose(too_early, to_dtype(0, part.dtype), _choose(too_far, to_dtype(n - 1, part.dtype), part))
        for part, n in zip(out[::-1], shape)
    ]
    return tuple(out)


def ravel_multi_index(multi_index, dims, mode="raise", order="C", *, dtype=None):
    """The place in the flattened array for each index tuple.  mode: "raise" (concrete only), "wrap" or "clip"."""
    if len(multi_index) != len(dims):
        raise ValueError(f"len(multi_index)={len(multi_index)} != len(dims)={len(dims)}")
    dims = tuple(operator.index(d) for d in dims)
    check_arraylike("ravel_multi_index", *multi_index)
    parts = [array_of("ravel_multi_index", i) for i in multi_index]
    for part in parts:
        if mode == "raise":
            concrete_or_error(
                None, part, "The error occurred because ravel_multi_index was jit-compiled with mode='raise'. "
                "Use mode='wrap' or mode='clip' instead.",
            )  # fmt: skip
        if not dtypes.is_integer(part.dtype):
            raise ValueError(f"ravel_multi_index: dtype={part.dtype!r} is not an integer type.")
    if mode == "raise":
        if any(((np.asarray(i) < 0) | (np.asarray(i) >= d)).any() for i, d in zip(parts, dims)):
            raise ValueError("invalid entry in coordinates array")
    elif mode == "clip":
        parts = [clip(i, 0, d - 1) for i, d in zip(parts, dims)]
    elif mode == "wrap":
        parts = [mod(i, d) for i, d in zip(parts, dims)]
    else:
        raise ValueError(f"invalid mode={mode!r}. Expected 'raise', 'wrap', or 'clip'")
    if order not in ("C", "F"):
        raise ValueError(f"invalid order={order!r}. Expected 'C' or 'F'")
    index = dtypes.scalar_dtype(int) if dtype is None else dtypes.check_user_dtype(dtype, "ravel_multi_index")
    steps = np.cumprod([1, *(dims[:-1] if order == "F" else dims[:0:-1])], dtype=np.int64)
    out = lax.full((), 0, index)
    for part, step in zip(parts, steps if order == "F" else steps[::-1]):
        out = add(out, lax.mul(lax.convert_element_type(part, index), index.type(step)))
    return out
