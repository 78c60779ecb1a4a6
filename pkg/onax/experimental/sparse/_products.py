"""Products of sparse operands without batch and dense axes, on their buffers: data (nse,) and indices (nse, axes)."""

import numpy as np

from onax import numpy as jnp
from onax.experimental.sparse._layout import row_of


def contract_dense(data, indices, shape, contracting, dense, dense_contracting):
    """The product of a sparse array with a dense one, summed over pairs of axes: a dense array.

    Its axes are the free ones of the sparse array, of lengths in `shape`, then those of the dense one.
    """
    free = [i for i in range(len(shape)) if i not in contracting]
    rest = [i for i in range(dense.ndim) if i not in dense_contracting]
    operand = dense.transpose(*dense_contracting, *rest)
    rows = (
        operand.at[tuple(indices[:, i] for i in contracting)].get(mode="fill", fill_value=0)
        if contracting
        else operand[None]
    )
    terms = data.reshape(-1, *(1,) * len(rest)) * rows
    if not free:
        return _mask(terms, indices, shape).sum(0)
    target = jnp.zeros((*(shape[i] for i in free), *(dense.shape[i] for i in rest)), terms.dtype)
    return target.at[tuple(indices[:, i] for i in free)].add(_mask(terms, indices, shape), mode="drop")


def _mask(terms, indices, shape):
    """The terms, 0 where an index is out of bounds."""
    if not shape:
        return terms
    inside = jnp.all(indices < row_of(shape, indices), -1)
    return jnp.where(inside.reshape(-1, *(1,) * (terms.ndim - 1)), terms, jnp.zeros((), terms.dtype))


def contract_sparse(x, i, y, j, *, x_shape, x_contracting, y_shape, y_contracting):
    """The product of two sparse arrays, summed over pairs of axes: (data, indices), one element for each pair.

    Elements whose contracted indices differ, or are out of bounds, are 0.
    """
    x_free = [k for k in range(len(x_shape)) if k not in x_contracting]
    y_free = [k for k in range(len(y_shape)) if k not in y_contracting]
    is_term = _equal_and_inside(i, j, x_shape, y_shape, zip(x_contracting, y_contracting))
    data = jnp.where(is_term, x[:, None] * y[None], jnp.zeros((), jnp.result_type(x, y))).reshape(-1)
    indices = jnp.concatenate(
        [
            jnp.broadcast_to(part, (*is_term.shape, part.shape[-1]))
            for part in (i[:, None, np.array(x_free, int)], j[None, :, np.array(y_free, int)])
        ],
        -1,
    )
    return data, indices.reshape(data.shape[0], len(x_free) + len(y_free)).astype(i.dtype)


def _equal_and_inside(i, j, x_shape, y_shape, pairs):
    """Which pairs of elements lie in their arrays and have the same indices on pairs of axes: bool (n, m)."""
    bounds = (row_of(shape, k) for shape, k in ((x_shape, i), (y_shape, j)))
    x_inside, y_inside = (jnp.all(k < bound, -1) for k, bound in zip((i, j), bounds))
    result = x_inside[:, None] & y_inside[None]
    for a, b in pairs:
        result &= i[:, None, a] == j[None, :, b]
    return result


def multiply_elements(x, i, y, j, *, x_shape, y_shape):
    """The elementwise product of two sparse arrays, broadcast: (data, indices), with room for every pair of elements.

    The shapes are those of the sparse axes; data (nse, dense...).
    """
    shape = jnp.broadcast_shapes(x_shape, y_shape)
    pairs = [(k, k) for k in range(len(shape)) if x_shape[k] != 1 and y_shape[k] != 1]
    is_term = _equal_and_inside(i, j, x_shape, y_shape, pairs)
    where = jnp.nonzero(is_term, size=is_term.size, fill_value=is_term.shape)
    of_x, of_y = (
        [b.at[at].get(mode="fill", fill_value=0) for b in buffers] for at, buffers in zip(where, ((x, i), (y, j)))
    )
    indices = jnp.maximum(of_x[1], of_y[1])
    is_pair = (where[0] < is_term.shape[0])[:, None]
    outside = jnp.array(max(shape, default=0), indices.dtype)
    return of_x[0] * of_y[0], jnp.where(is_pair, indices, outside)
