"""Rules of the slot `shard`: slices, gathers and scatters, sorting, cumulative operations.

A dimension that an operation takes apart, searches or orders becomes whole; all others keep their axes.
"""

from math import prod

import numpy as np

from onax._compile.devices.shard_products import AxisAssignment
from onax._compile.devices.shard_shaping import without
from onax._compile.devices.sharded_values import ShardedValue
from onax._compile.devices.sharding_propagation import rotation
from onax._compile.devices.spmd import shard
from onax._core.trace import typeof
from onax._ground import dtypes
from onax._prims.collectives import index_along, ppermute_p
from onax._prims.convert import convert_element_type
from onax._prims.creation import broadcasted_iota, full_like
from onax._prims.cumulative import cumlogsumexp_p, cummax_p, cummin_p, cumprod_p, cumsum_p
from onax._prims.elementwise import add, eq, ge, lt, mul, ne, select_n, sub
from onax._prims.elementwise import min as lesser
from onax._prims.elementwise_bits import bitwise_and, bitwise_or
from onax._prims.elementwise_clamp import clamp
from onax._prims.indexing import (
    gather,
    gather_p,
    scatter_add_p,
    scatter_max_p,
    scatter_min_p,
    scatter_mul_p,
    scatter_p,
    scatter_sub_p,
)
from onax._prims.indexing_records import GatherDimensionNumbers, GatherScatterMode
from onax._prims.padding import pad_p
from onax._prims.shaping import broadcast_in_dim, expand_dims, rev_p, shape_of, squeeze
from onax._prims.slicing import (
    concatenate,
    concatenate_p,
    dynamic_slice_p,
    dynamic_update_slice_p,
    slice_in_dim,
    slice_p,
    split_p,
)
from onax._prims.sorting import sort_p, top_k_p
from onax._prims.sorting_approximate import approx_top_k_p

# ---- dimensions that are needed whole

_LARGE = 1 << 14  # bytes of a value from which two exchanges of blocks take less time than one gather


def with_whole(p, axes, dims, aval):
    """The axes with the dimensions `dims` whole.

    Those of a large value move to other dimensions, by an exchange of blocks, so that devices share the work; those of
    a small one are gathered.
    """
    result = list(without(axes, dims))
    if aval.size * aval.dtype.itemsize < _LARGE:
        return tuple(result)
    by_length = sorted(range(aval.ndim), key=lambda i: -aval.shape[i])
    for names in (axes[d] for d in dims if axes[d]):
        free = (i for i in by_length if i not in dims and not result[i] and aval.shape[i] % p.count(names) == 0)
        if (other := next(free, None)) is not None:
            result[other] = names
    return tuple(result)


# ---- slices


def _changed(shape, sizes):
    return [i for i, (n, size) in enumerate(zip(shape, sizes)) if n != size]


@shard.rule(slice_p)
def _slice(p, operands, eqn):
    (x,), params, shape = operands, eqn.params, eqn.outvars[0].aval.shape
    changed = _changed(x.aval.shape, shape)
    start, limit, step = (
        list(params[name] or [1] * x.aval.ndim) for name in ("start_indices", "limit_indices", "strides")
    )
    dim = _few_rows(p, x, changed, shape)
    if dim is None:
        axes = with_whole(p, x.axes, changed, x.aval)
        limit = [n if own else m for own, m, n in zip(axes, limit, p.block_shape(shape, axes))]
        return p.record_slice(x, eqn, p.bind_like(eqn, operands, [axes], limit_indices=tuple(limit)))
    positions = np.arange(start[dim], limit[dim], step[dim], dtype=np.int32)
    rows, axes, own = _rows_of_owners(p, x, dim, positions, changed)
    start[dim], limit[dim], step[dim] = 0, len(positions), 1
    limit = [n if own else m for own, m, n in zip(axes, limit, p.block_shape(shape, axes))]
    bounds = {"start_indices": tuple(start), "limit_indices": tuple(limit), "strides": tuple(step)}
    return p.record_slice(x, eqn, p.bind(eqn, [rows], [axes], own, **bounds))


@shard.rule(dynamic_slice_p)
def _dynamic_slice(p, operands, eqn):
    x, *starts = operands
    sizes = eqn.params["slice_sizes"]
    changed = _changed(x.aval.shape, sizes)
    starts, dim = list(map(p.whole, starts)), _few_rows(p, x, changed, sizes)
    if dim is None:
        axes = with_whole(p, x.axes, changed, x.aval)
        return p.bind(eqn, [p.block_of(x, axes), *starts], [axes], slice_sizes=p.block_shape(sizes, axes))
    first = _position(starts[dim], x.aval.shape[dim])
    first = clamp(full_like(first, 0), first, full_like(first, x.aval.shape[dim] - sizes[dim]))
    first = convert_element_type(first, np.dtype(np.int32))
    positions = add(broadcasted_iota(np.dtype(np.int32), (sizes[dim],), 0), broadcast_in_dim(first, (sizes[dim],), ()))
    rows, axes, own = _rows_of_owners(p, x, dim, positions, changed)
    starts[dim] = full_like(starts[dim], 0)
    return p.bind(eqn, [rows, *starts], [axes], own, slice_sizes=p.block_shape(sizes, axes))


_FEW = 4  # the whole dimension has at least so many times the rows that a slice takes


def _few_rows(p, x, changed, sizes):
    """The split dimension of which a slice takes few rows, which the devices that have them hand out; or None."""
    split = [i for i in changed if x.axes[i]]
    if len(split) != 1 or not _can_sum(x.aval) or sizes[split[0]] * _FEW > x.aval.shape[split[0]]:
        return None
    return split[0]


def _can_sum(aval):
    """Whether values of a type can be added, and so be put together from zeros and the part of one device."""
    return dtypes.issubdtype(aval.dtype, np.number)


def _rows_of_owners(p, x, dim, positions, changed):
    """(partial sums of the rows at some positions along a split dimension, their axes, the axes of the sum)."""
    own = x.axes[dim]
    axes = with_whole(p, without(x.axes, [dim]), [i for i in changed if i != dim], x.aval)
    local = tuple(own if i == dim else names for i, names in enumerate(axes))
    value = p.block_of(x, local)
    shape = shape_of(value)
    inside, positions = _local(p, positions, own, shape[dim])
    offset_dims = tuple(i for i in range(len(shape)) if i != dim)
    numbers = GatherDimensionNumbers(offset_dims, (dim,), (dim,))
    sizes = tuple(1 if i == dim else n for i, n in enumerate(shape))
    rows = gather(value, expand_dims(positions, (1,)), numbers, sizes, mode=GatherScatterMode.CLIP)
    return select_n(broadcast_in_dim(inside, shape_of(rows), (dim,)), full_like(rows, 0), rows), axes, own


def _local(p, positions, own, size):
    """(whether positions along a split dimension are in a device's block, their positions in the block)."""
    start = convert_element_type(mul(index := index_along(own), full_like(index, size)), typeof(positions).dtype)
    local = sub(positions, broadcast_in_dim(start, shape_of(positions), ()))
    return bitwise_and(ge(local, full_like(local, 0)), lt(local, full_like(local, size))), local


def _position(index, size, clips=True):
    """Indices into a dimension as signed integers; `clips`: of those that are too large for them the last."""
    dtype = typeof(index).dtype
    if clips and dtype.kind == "u" and size - 1 < np.iinfo(dtype).max:
        index = lesser(index, full_like(index, size - 1))
    return convert_element_type(index, np.dtype(np.int64 if dtype.itemsize == 8 else np.int32))


@shard.rule(dynamic_update_slice_p)
def _dynamic_update_slice(p, operands, eqn):
    x, update, *starts = operands
    changed = _changed(x.aval.shape, update.aval.shape)
    axes = with_whole(p, p.merge([x, update], x.aval.shape), changed, x.aval)
    return p.bind_like(eqn, operands, [axes, axes, *[()] * len(starts)])


@shard.rule(pad_p)
def _pad(p, operands, eqn):
    padded = [i for i, config in enumerate(eqn.params["padding_config"]) if any(config)]
    return p.bind_like(eqn, operands, [with_whole(p, operands[0].axes, padded, operands[0].aval), ()])


@shard.rule(split_p)
def _split(p, operands, eqn):
    return p.bind_like(eqn, operands, [with_whole(p, operands[0].axes, (eqn.params["axis"],), operands[0].aval)])


@shard.rule(concatenate_p)
def _concatenate(p, operands, eqn):
    dim, aval = eqn.params["dimension"], eqn.outvars[0].aval
    found = rotation(list(map(p.slices.get, operands)), eqn)
    if found is not None:
        return [ShardedValue(_rotate(p, *found, dim), aval, found[0].axes)]
    axes = list(p.merge(operands, aval.shape))
    axes[dim] = next((x.axes[dim] for x in operands if x.axes[dim]), ())
    axes = with_whole(p, p.usable(axes, aval.shape), (dim,), aval)
    return p.bind_like(eqn, operands, [axes] * len(operands))


def _rotate(p, x, shift, dim):
    """A device's block of a value whose rows are shifted along a split dimension: from one or two other devices."""
    own, value = x.axes[dim], p.block_of(x)
    count, size = p.count(own), shape_of(value)[dim]
    devices, rows = divmod(shift, size)
    send = lambda part, by: (
        part if by % count == 0
        else ppermute_p.bind(part, axis_name=own, perm=tuple((i, (i + by) % count) for i in range(count)))
    )  # fmt: skip
    if rows == 0:
        return send(value, devices)
    last, rest = slice_in_dim(value, size - rows, size, axis=dim), slice_in_dim(value, 0, size - rows, axis=dim)
    return concatenate([send(last, devices + 1), send(rest, devices)], dim)


@shard.rule(rev_p)
def _rev(p, operands, eqn):
    """Devices exchange their blocks along split dimensions, and each reverses its own."""
    (x,) = operands
    value = p.block_of(x)
    for names in (x.axes[d] for d in eqn.params["dimensions"] if x.axes[d]):
        last = p.count(names) - 1
        value = ppermute_p.bind(value, axis_name=names, perm=tuple((i, last - i) for i in range(last + 1)))
    return p.bind(eqn, [value], [x.axes])


# ---- one dimension


@shard.rule(sort_p)
def _sort(p, operands, eqn):
    aval = operands[0].aval
    axes = with_whole(p, p.merge(operands, aval.shape), (eqn.params["dimension"],), aval)
    return p.bind_like(eqn, operands, [axes] * len(operands))


@shard.rule(cumsum_p, cumprod_p, cummax_p, cummin_p, cumlogsumexp_p, top_k_p)
def _along_axis(p, operands, eqn):
    return p.bind_like(eqn, operands, [with_whole(p, operands[0].axes, (eqn.params["axis"],), operands[0].aval)])


@shard.rule(approx_top_k_p)
def _approx_top_k(p, operands, eqn):
    (x,) = operands
    return p.bind_like(
        eqn, operands, [with_whole(p, x.axes, (eqn.params["reduction_dimension"] % x.aval.ndim,), x.aval)]
    )


# ---- gathers and scatters


@shard.rule(gather_p)
def _gather(p, operands, eqn):
    """Dimensions of indices keep their axes, and so do those of the operand that are taken as a whole.  Few rows of a
    table that is split between devices come from those that have them."""
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
    if (dim := _indexed_dimension(p, operands, eqn, chosen, of_x, out)) is None:
        return p.bind_like(eqn, operands, [of_x, of_indices], out, slice_sizes=local)
    own = of_x[dim]
    return _gather_from_owners(p, operands, eqn, (of_x, of_indices, out), dim, own, local)


def _indexed_dimension(p, operands, eqn, chosen, of_x, out):
    """The split dimension of a table from which few rows are taken; `of_x` gets its axes.  None if there is none."""
    x, _ = operands
    numbers, aval = eqn.params["dimension_numbers"], eqn.outvars[0].aval
    taken = prod(p.block_shape(aval.shape, out))
    if not _can_sum(x.aval) or 2 * taken >= prod(p.block_shape(x.aval.shape, of_x)):
        return None
    for dim in (d for d in numbers.start_index_map if d in numbers.collapsed_slice_dims):
        of_x[dim] = chosen.choose((x.axes[dim],), x.aval.shape[dim])
        if of_x[dim]:
            return dim
    return None


def _gather_from_owners(p, operands, eqn, axes, dim, own, sizes):
    """Partial sums: each device has the rows that lie in its block of the table, and zeros for others.  The first
    device has the fill values of indices out of bounds."""
    (x, indices), (of_x, of_indices, out), numbers = operands, axes, eqn.params["dimension_numbers"]
    fills, length = eqn.params["mode"] is GatherScatterMode.FILL_OR_DROP, x.aval.shape[dim]
    table, rows = p.block_of(x, of_x), p.block_of(indices, of_indices)
    component = numbers.start_index_map.index(dim)
    positions = _position(_column(rows, component), length, clips=not fills)
    if not fills:
        positions = clamp(full_like(positions, 0), positions, full_like(positions, length - 1))
    inside, local = _local(p, positions, own, shape_of(table)[dim])
    if fills:
        outside = bitwise_or(lt(positions, full_like(positions, 0)), ge(positions, full_like(positions, length)))
        is_first = eq(index := index_along(own), full_like(index, 0))
        local = select_n(outside, select_n(inside, full_like(local, 0), local), full_like(local, -1))
        inside = bitwise_or(inside, bitwise_and(outside, broadcast_in_dim(is_first, shape_of(outside), ())))
    rows = _with_column(convert_element_type(rows, typeof(local).dtype), component, local)
    changes = {"slice_sizes": sizes, "mode": eqn.params["mode"] if fills else GatherScatterMode.CLIP}
    (found,) = p.bind(eqn, [table, rows], [out], own, **changes, indices_are_sorted=False)
    shape = shape_of(found.value)
    batch = tuple(d for d in range(len(shape)) if d not in numbers.offset_dims)
    found.value = select_n(broadcast_in_dim(inside, shape, batch), full_like(found.value, 0), found.value)
    return [found]


def _column(rows, i):
    """Component `i` of each index vector."""
    return squeeze(slice_in_dim(rows, i, i + 1, axis=-1), (len(shape_of(rows)) - 1,))


def _with_column(rows, i, column):
    """Index vectors with another component `i`."""
    column, axis = expand_dims(column, (len(shape_of(rows)) - 1,)), len(shape_of(rows)) - 1
    parts = [slice_in_dim(rows, 0, i, axis=axis), column, slice_in_dim(rows, i + 1, None, axis=axis)]
    return concatenate([part for part in parts if shape_of(part)[axis]], axis)


@shard.rule(scatter_p, scatter_add_p, scatter_sub_p, scatter_mul_p, scatter_min_p, scatter_max_p)
def _scatter(p, operands, eqn):
    """Windows and batching dimensions keep their axes.  Additions that devices share are partial sums; for any other
    operation the updates of all devices are gathered.  A device drops the updates of rows in other devices' blocks."""
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
    dim = next(
        (d for d in numbers.scatter_dims_to_operand_dims if d in numbers.inserted_window_dims and x.axes[d]), None
    )
    if dim is not None:
        of_x[dim] = chosen.choose((x.axes[dim],), x.aval.shape[dim])
    blocks = [p.block_of(v, own) for v, own in zip(operands, (of_x, of_indices, of_updates))]
    if pending:
        index = index_along(pending)
        is_other = ne(index, full_like(index, np.int32(0)))
        blocks[0] = select_n(is_other, blocks[0], full_like(blocks[0], 0))
    if dim is None or not of_x[dim]:
        return p.bind(eqn, blocks, [of_x], pending)
    blocks[1] = _rows_of_block(p, blocks, eqn, dim, of_x[dim])
    changes = {"mode": GatherScatterMode.FILL_OR_DROP, "indices_are_sorted": False}
    return p.bind(eqn, blocks, [of_x], pending, **changes)


def _rows_of_block(p, blocks, eqn, dim, own):
    """Indices into a device's block along a split dimension; those of rows in other blocks are out of bounds."""
    size, drops = shape_of(blocks[0])[dim], eqn.params["mode"] is not GatherScatterMode.CLIP
    drops = drops and eqn.params["mode"] is not GatherScatterMode.CLAMPED
    length, component = size * p.count(own), eqn.params["dimension_numbers"].scatter_dims_to_operand_dims.index(dim)
    positions = _position(_column(blocks[1], component), length, clips=not drops)
    if not drops:
        positions = clamp(full_like(positions, 0), positions, full_like(positions, length - 1))
    inside, local = _local(p, positions, own, size)
    local = select_n(inside, full_like(local, size), local)
    return _with_column(convert_element_type(blocks[1], typeof(local).dtype), component, local)
