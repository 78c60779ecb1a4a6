"""Products of sparse operands without batch and dense axes, on their buffers: data (nse,) and indices (nse, axes)."""

import math

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


def contract_sparse(x, i, x_shape, x_contracting, y, j, y_shape, y_contracting):
    """The product of two sparse arrays, summed over pairs of axes: (data, indices), one element for each pair.

    Elements whose contracted indices differ, or are out of bounds, are padding.
    """
    x_free = [k for k in range(len(x_shape)) if k not in x_contracting]
    y_free = [k for k in range(len(y_shape)) if k not in y_contracting]
    bounds = (row_of(shape, k) for shape, k in ((x_shape, i), (y_shape, j)))
    x_inside, y_inside = (jnp.all(k < bound, -1) for k, bound in zip((i, j), bounds))
    is_term = x_inside[:, None] & y_inside[None]
    for a, b in zip(x_contracting, y_contracting):
        is_term &= i[:, None, a] == j[None, :, b]
    data = jnp.where(is_term, x[:, None] * y[None], jnp.zeros((), jnp.result_type(x, y))).reshape(-1)
    columns = [jnp.broadcast_to(i[:, None, k], is_term.shape) for k in x_free]
    columns += [jnp.broadcast_to(j[None, :, k], is_term.shape) for k in y_free]
    shape = [x_shape[k] for k in x_free] + [y_shape[k] for k in y_free]
    if not columns:
        return data, jnp.zeros((data.shape[0], 0), i.dtype)
    indices = jnp.stack([jnp.where(is_term, c, n) for c, n in zip(columns, shape)], -1)
    return data, indices.reshape(-1, len(shape)).astype(i.dtype)


def largest_nse(shape, nse):
    """The room that a result needs: no more than it has elements."""
    return min(nse, max(math.prod(shape), 1))
