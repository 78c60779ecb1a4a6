"""Methods of ufuncs for any binary function, as loops: reduce, accumulate, at and reduceat.

The functions take the function itself, of arrays that broadcast, and its result's dtype for arrays of one dtype.
"""

import math

from onax import lax
from onax._transforms.abstract import eval_shape
from onax.numpy._creation import asarray, broadcast_to
from onax.numpy._gathering import take
from onax.numpy._joining import append
from onax.numpy._promotion import check_arraylike, ensure_arraylike
from onax.numpy._shaping import moveaxis
from onax.numpy._where import where as select


def result_dtype(function, *arrays):
    """The dtype of the function of scalars of these arrays' dtypes."""
    return eval_shape(function, *(lax.full_like(x, 1, shape=()) for x in arrays)).dtype


def reduce_by_loop(function, name, a, axis, dtype, keepdims, initial, where):
    """Combines elements along an axis (None: all) from left to right, where `where` holds."""
    a = ensure_arraylike(name, a)
    if isinstance(axis, tuple):
        raise NotImplementedError("tuple of axes")
    dtype = result_dtype(function, a, a) if dtype is None else dtype
    mask = None if where is None else broadcast_to(where, a.shape)
    if axis is None:
        shape = (1,) * a.ndim
        a, mask, axis = a.ravel(), None if mask is None else mask.ravel(), 0
    else:
        axis = range(a.ndim)[axis]
        shape = (*a.shape[:axis], 1, *a.shape[axis + 1 :])
    a, mask = moveaxis(a, axis, 0), None if mask is None else moveaxis(mask, axis, 0)
    if not a.shape[0]:
        if initial is None:
            raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
        return lax.full(shape if keepdims else a.shape[1:], initial, dtype)

    def step(i, total):
        new = function(total, a[i].astype(dtype))
        return new if mask is None else select(mask[i], new, total)

    first = a[0] if initial is None else initial
    start = broadcast_to(asarray(first).astype(dtype), a.shape[1:])
    out = lax.fori_loop(int(initial is None), a.shape[0], step, start)
    return out.reshape(shape) if keepdims else out


def accumulate_by_loop(function, name, a, axis, dtype):
    """The running results of combining elements along an axis."""
    (a,) = check_arraylike(f"{name}.accumulate", a)
    a = ensure_arraylike(name, a)
    dtype = result_dtype(function, a, a) if dtype is None else dtype
    if axis is None or isinstance(axis, tuple):
        raise ValueError("accumulate does not allow multiple axes")
    axis = range(a.ndim)[axis]
    if not a.size:
        return lax.full(a.shape, 0, dtype)
    rows = moveaxis(a, axis, 0).astype(dtype)

    def step(total, row):
        total = function(total, row)
        return total, total

    rest = lax.scan(step, rows[0], rows[1:])[1]
    return moveaxis(lax.concatenate([rows[:1], rest], 0), 0, axis)


def update_by_loop(function, name, a, indices, *operands):
    """a with the function applied at indices, one after the other where they repeat."""
    a, *operands = check_arraylike(f"{name}.at", a, *operands)
    dtype = result_dtype(function, *map(asarray, (a, *operands)))
    a, operands = asarray(a).astype(dtype), [asarray(x).astype(dtype) for x in operands]
    indices = indices if isinstance(indices, tuple) else (indices,)
    if not indices:
        return a
    shapes = [asarray(i).shape for i in indices if not isinstance(i, slice)]
    shape = lax.broadcast_shapes(*shapes) if shapes else ()
    if not shape:
        return a.at[indices].set(function(a[indices], *operands))
    count = math.prod(shape)
    columns = [None if isinstance(i, slice) else broadcast_to(i, shape).ravel() for i in indices]
    values = [broadcast_to(x, (*shape, *x.shape[len(shape) :])) for x in operands]
    values = [x.reshape(count, *x.shape[len(shape) :]) for x in values]

    def step(k, a):
        index = tuple(i if column is None else column[k] for i, column in zip(indices, columns))
        return a.at[index].set(function(a[index], *(x[k] for x in values)))

    return lax.fori_loop(0, count, step, a)


def reduceat_by_loop(function, name, a, indices, axis, dtype):
    """For each index the elements along an axis from it up to the next index, combined; else the one element."""
    a, indices = check_arraylike(f"{name}.reduceat", a, indices)
    a, indices = asarray(a), asarray(indices)
    if not a.ndim:
        raise ValueError(f"reduceat: a must have 1 or more dimension, got {a.shape=}")
    if indices.ndim != 1:
        raise ValueError(f"reduceat: indices must be one-dimensional, got {indices.shape=}")
    if axis is None or isinstance(axis, (tuple, list)):
        raise ValueError("reduceat requires a single integer axis.")
    axis = range(a.ndim)[axis]
    ends = append(indices, a.shape[axis])
    behind = tuple(range(1, a.ndim - axis))
    start, end = (lax.expand_dims(x, behind) for x in (ends[:-1], ends[1:]))
    first = take(a, indices, axis=axis)

    def step(i, out):
        element = take(a, lax.expand_dims(i, (0,)), axis=axis)
        return select((i > start) & (i < end), function(out, element), out)

    return lax.fori_loop(0, a.shape[axis], step, first)
