"""Rules of the slot `shard`: slices, gathers and scatters, sorting, cumulative operations, windows.

A dimension that an operation takes apart, searches or orders is gathered; all others keep their axes.
"""

import numpy as np

from onax._compile.devices.shard_products import AxisAssignment
from onax._compile.devices.shard_shaping import without
from onax._compile.devices.spmd import shard
from onax._prims.collectives import index_along
from onax._prims.cumulative import cumlogsumexp_p, cummax_p, cummin_p, cumprod_p, cumsum_p
from onax._prims.elementwise import ne, select_n
from onax._prims.indexing import (
    gather_p,
    scatter_add_p,
    scatter_max_p,
    scatter_min_p,
    scatter_mul_p,
    scatter_p,
    scatter_sub_p,
)
from onax._prims.shaping import full_like
from onax._prims.slicing import concatenate_p, dynamic_slice_p, dynamic_update_slice_p, pad_p, slice_p, split_p
from onax._prims.sorting import sort_p, top_k_p
from onax._prims.sorting_approximate import approx_top_k_p
from onax._prims.windows import (
    reduce_window_max_p,
    reduce_window_min_p,
    reduce_window_sum_p,
    select_and_gather_add_p,
    select_and_scatter_add_p,
)

# ---- slices


def _full_dimensions(axes, shape, sizes):
    """The axes of the dimensions that an operation takes as a whole."""
    return tuple(own if n == size else () for own, n, size in zip(axes, shape, sizes))


@shard.rule(slice_p)
def _slice(p, operands, eqn):
    (x,), params, shape = operands, eqn.params, eqn.outvars[0].aval.shape
    axes = _full_dimensions(x.axes, x.aval.shape, shape)
    limits = [n if own else limit for own, limit, n in zip(axes, params["limit_indices"], p.block_shape(shape, axes))]
    return p.bind_like(eqn, operands, [axes], limit_indices=tuple(limits))


@shard.rule(dynamic_slice_p)
def _dynamic_slice(p, operands, eqn):
    x, *starts = operands
    sizes = eqn.params["slice_sizes"]
    axes = _full_dimensions(x.axes, x.aval.shape, sizes)
    return p.bind_like(eqn, operands, [axes, *[()] * len(starts)], slice_sizes=p.block_shape(sizes, axes))


@shard.rule(dynamic_update_slice_p)
def _dynamic_update_slice(p, operands, eqn):
    x, update, *starts = operands
    axes = _full_dimensions(p.merge([x, update], x.aval.shape), x.aval.shape, update.aval.shape)
    return p.bind_like(eqn, operands, [axes, axes, *[()] * len(starts)])


@shard.rule(pad_p)
def _pad(p, operands, eqn):
    padded = [i for i, config in enumerate(eqn.params["padding_config"]) if any(config)]
    return p.bind_like(eqn, operands, [without(operands[0].axes, padded), ()])


@shard.rule(split_p)
def _split(p, operands, eqn):
    return p.bind_like(eqn, operands, [without(operands[0].axes, (eqn.params["axis"],))])


@shard.rule(concatenate_p)
def _concatenate(p, operands, eqn):
    axes = without(p.merge(operands, eqn.outvars[0].aval.shape), (eqn.params["dimension"],))
    return p.bind_like(eqn, operands, [axes] * len(operands))


# ---- one dimension


@shard.rule(sort_p)
def _sort(p, operands, eqn):
    axes = without(p.merge(operands, operands[0].aval.shape), (eqn.params["dimension"],))
    return p.bind_like(eqn, operands, [axes] * len(operands))


@shard.rule(cumsum_p, cumprod_p, cummax_p, cummin_p, cumlogsumexp_p, top_k_p)
def _along_axis(p, operands, eqn):
    return p.bind_like(eqn, operands, [without(operands[0].axes, (eqn.params["axis"],))])


@shard.rule(approx_top_k_p)
def _approx_top_k(p, operands, eqn):
    (x,) = operands
    return p.bind_like(eqn, operands, [without(x.axes, (eqn.params["reduction_dimension"] % x.aval.ndim,))])


# ---- windows


_UNTOUCHED = {"window_dimensions": 1, "window_strides": 1, "padding": (0, 0), "base_dilation": 1, "window_dilation": 1}


@shard.rule(
    reduce_window_sum_p, reduce_window_max_p, reduce_window_min_p, select_and_gather_add_p, select_and_scatter_add_p
)
def _windows(p, operands, eqn):
    """Dimensions along which windows have one element keep their axes."""
    given = [(eqn.params[name], untouched) for name, untouched in _UNTOUCHED.items() if name in eqn.params]
    ndim = operands[0].aval.ndim
    touched = [i for i in range(ndim) if any(_entry(value[i]) != untouched for value, untouched in given)]
    axes = without(p.merge(operands, operands[-1].aval.shape), touched)
    return p.bind_like(eqn, operands, [axes] * len(operands))


def _entry(value):
    return tuple(value) if isinstance(value, (tuple, list)) else value


# ---- gathers and scatters


@shard.rule(gather_p)
def _gather(p, operands, eqn):
    """Dimensions of indices keep their axes, and so do those of the operand that are taken as a whole."""
    x, indices = operands
    numbers, sizes = eqn.params["dimension_numbers"], eqn.params["slice_sizes"]
    chosen = AxisAssignment(p)
    of_x, of_indices, out = [()] * x.aval.ndim, [()] * indices.aval.ndim, [()] * eqn.outvars[0].aval.ndim
    for i, j in zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims):
        of_x[i] = of_indices[j] = chosen.choose((indices.axes[j], x.axes[i]), x.aval.shape[i])
    batch = [d for d in range(len(out)) if d not in numbers.offset_dims]
    for j, d in enumerate(batch):
        if j not in numbers.start_indices_batching_dims:
            of_indices[j] = chosen.choose((indices.axes[j],), indices.aval.shape[j])
        out[d] = of_indices[j]
    dropped = (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)
    windows = [i for i in range(x.aval.ndim) if i not in dropped]
    for i, d in zip(windows, numbers.offset_dims):
        if sizes[i] == x.aval.shape[i]:
            of_x[i] = out[d] = chosen.choose((x.axes[i],), sizes[i])
    local = tuple(n if i in dropped else n // p.count(own) for i, (n, own) in enumerate(zip(sizes, of_x)))
    return p.bind_like(eqn, operands, [of_x, of_indices], out, slice_sizes=local)


@shard.rule(scatter_p, scatter_add_p, scatter_sub_p, scatter_mul_p, scatter_min_p, scatter_max_p)
def _scatter(p, operands, eqn):
    """Windows and batching dimensions keep their axes.  Additions that devices share are partial sums; for any other
    operation the updates of all devices are gathered."""
    x, indices, updates = operands
    numbers = eqn.params["dimension_numbers"]
    chosen = AxisAssignment(p)
    of_x, of_indices, of_updates = ([()] * v.aval.ndim for v in operands)
    scattered = [d for d in range(updates.aval.ndim) if d not in numbers.update_window_dims]
    for i, j in zip(numbers.operand_batching_dims, numbers.scatter_indices_batching_dims):
        d = scattered[j]
        own = chosen.choose((x.axes[i], indices.axes[j], updates.axes[d]), x.aval.shape[i])
        of_x[i] = of_indices[j] = of_updates[d] = own
    dropped = (*numbers.inserted_window_dims, *numbers.operand_batching_dims)
    windows = [i for i in range(x.aval.ndim) if i not in dropped]
    for i, d in zip(windows, numbers.update_window_dims):
        if updates.aval.shape[d] == x.aval.shape[i]:
            of_x[i] = of_updates[d] = chosen.choose((x.axes[i], updates.axes[d]), x.aval.shape[i])
    pending = ()
    if eqn.primitive in (scatter_add_p, scatter_sub_p) and not x.pending:
        for j, d in enumerate(scattered):
            if j not in numbers.scatter_indices_batching_dims:
                own = chosen.choose((updates.axes[d], indices.axes[j]), updates.aval.shape[d])
                of_indices[j] = of_updates[d] = own
                pending += own
    blocks = [p.block_of(v, own) for v, own in zip(operands, (of_x, of_indices, of_updates))]
    if pending:
        index = index_along(pending)
        is_other = ne(index, full_like(index, np.int32(0)))
        blocks[0] = select_n(is_other, blocks[0], full_like(blocks[0], 0))
    return p.bind(eqn, blocks, [of_x], pending=pending)
