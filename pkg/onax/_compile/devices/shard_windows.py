"""Rules of the slot `shard`: windows, and the rows of its neighbours that a device needs for those at its ends.

A dimension that is split into blocks of whole windows keeps its axes: `halo_of` says how many rows a device needs from
the one before it and from the one after it, `with_halo` exchanges them.
"""

from onax._compile.devices.spmd import shard
from onax._prims.collectives import index_along, ppermute_p
from onax._prims.creation import full_like
from onax._prims.elementwise import eq, select_n
from onax._prims.shaping import broadcast_in_dim, shape_of
from onax._prims.slicing import concatenate, slice_in_dim
from onax._prims.windows import (
    highest,
    lowest,
    reduce_window_max_p,
    reduce_window_min_p,
    reduce_window_sum_p,
    select_and_gather_add_p,
    select_and_scatter_add_p,
)


def halo_of(length, count, window, stride, dilation, before):
    """(rows before, rows after) its block that a device needs for the windows that begin in it; None if these are not
    as many on each device, or more than its neighbours have.

    Args:
      length: the length of the dimension, which `count` devices share.
      window, stride, dilation: of the windows, whose first begins `before` rows before the first of the dimension.
    """
    size, after = length // count, (window - 1) * dilation + 1 - stride - before
    fits = length % count == 0 and size % stride == 0 and 0 <= before <= size and 0 <= after <= size
    return (before, after) if fits else None


def with_halo(p, value, dim, names, halo, fill=0):
    """A device's block with rows of its neighbours along `dim`, or of `fill` where a device has no neighbour."""
    size, last, parts = shape_of(value)[dim], p.count(names) - 1, [value]
    before, after = halo
    if before:
        part = slice_in_dim(value, size - before, size, axis=dim)
        parts.insert(0, _received(part, names, [(i, i + 1) for i in range(last)], 0, fill))
    if after:
        part = slice_in_dim(value, 0, after, axis=dim)
        parts.append(_received(part, names, [(i + 1, i) for i in range(last)], last, fill))
    return concatenate(parts, dim) if len(parts) > 1 else value


def _received(part, names, pairs, end, fill):
    """What a device receives from its neighbour; that at the end receives zeros, which become `fill`."""
    value = ppermute_p.bind(part, axis_name=names, perm=tuple(pairs))
    if fill == 0:
        return value
    is_end = eq(index := index_along(names), full_like(index, end))
    return select_n(broadcast_in_dim(is_end, shape_of(value), ()), value, full_like(value, fill))


_UNTOUCHED = {"window_dimensions": 1, "window_strides": 1, "padding": (0, 0), "base_dilation": 1, "window_dilation": 1}


@shard.rule(
    reduce_window_sum_p, reduce_window_max_p, reduce_window_min_p, select_and_gather_add_p, select_and_scatter_add_p
)
def _windows(p, operands, eqn):
    """Dimensions keep their axes along which windows have one element, or blocks hold whole windows with their halo."""
    params, x = eqn.params, operands[-1]
    axes, halos, padding = list(p.merge(operands, x.aval.shape)), {}, list(params["padding"])
    for i in (i for i, own in enumerate(axes) if own and _is_touched(params, i)):
        halo = _window_halo(p, params, i, x.aval.shape[i], axes[i])
        windows = (operands[0] if eqn.primitive is select_and_scatter_add_p else eqn.outvars[0]).aval.shape[i]
        whole = windows * params["window_strides"][i] == x.aval.shape[i]
        if halo is None or not whole or (any(halo) and len(operands) > 1):
            axes[i] = ()
        else:
            halos[i], padding[i] = halo, (0, 0)
    blocks = [p.block_of(v, axes) for v in operands]
    for i, halo in halos.items():
        blocks = [with_halo(p, value, i, axes[i], halo, _neutral(eqn.primitive, x.aval.dtype)) for value in blocks]
    return p.bind(eqn, blocks, [axes], padding=tuple(padding))


def _neutral(primitive, dtype):
    """The element that does not change a reduction."""
    if primitive is reduce_window_max_p:
        return lowest(dtype)
    return highest(dtype) if primitive is reduce_window_min_p else 0


def _is_touched(params, i):
    entry = lambda value: tuple(value) if isinstance(value, (tuple, list)) else value
    return any(entry(params[name][i]) != same for name, same in _UNTOUCHED.items() if name in params)


def _window_halo(p, params, i, length, names):
    if params.get("base_dilation", (1,) * (i + 1))[i] != 1:
        return None
    dilation = params.get("window_dilation", (1,) * (i + 1))[i]
    window, stride = params["window_dimensions"][i], params["window_strides"][i]
    return halo_of(length, p.count(names), window, stride, dilation, params["padding"][i][0])
