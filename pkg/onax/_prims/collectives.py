"""Collectives: operations across a named axis, i.e. between the examples or devices along it.

An axis gets its name from `vmap(axis_name=...)`, `pmap` or `shard_map`; all three are one program batched over the
axis.  A collective therefore consists of its batching rule, which makes it a reduction or a rearrangement of the mapped
dimension.  A tuple of names means all these axes together, the first varying slowest; the rule of one axis removes its
own name and binds the primitive again with the remaining names.

    psum pmax pmin                     reduce; the result is the same everywhere
    all_gather reduce_scatter          adjoints of each other
    all_to_all ppermute pbroadcast     rearrange
    axis_index                         the index along the axis
    all_gather_invariant               all_gather whose result does not vary
    psum_invariant pvary               psum and its adjoint where types say which values vary
    unreduced_psum preduced            the same for a value that is a part of a sum, by its type
    all_gather_reduced unreduced_reduce_scatter    adjoints of each other: the first gives a reduced value
"""

import math

import numpy as np

from onax._core.axes import axis_size, names_of
from onax._core.facts import LINEAR, MAKES_NAN, NAMED_AXIS
from onax._core.rules import deflinear
from onax._core.trace import as_array, typeof
from onax._ground.dtypes import canonicalize_dtype
from onax._native.avals import ShapedArray
from onax._native.dispatch import Primitive
from onax._prims.creation import full_like, iota, zeros_like_aval
from onax._prims.elementwise import add, eq, mul, select_n
from onax._prims.indexing import index_take
from onax._prims.reductions import reduce_max, reduce_min
from onax._prims.shaping import (
    broadcast_bdim,
    broadcast_in_dim,
    moveaxis,
    reduce_sum,
    reshape,
    shape_of,
    squeeze,
    transpose,
)
from onax._prims.slicing import concatenate, dynamic_slice_p
from onax._prims.stacking import stack
from onax._prims.varying import preduced_p, pvary_p, vary_over

_NO_EFFECTS = frozenset()


def _named_axis_primitive(name, abstract_eval, batch, **fields):
    """Makes a primitive that names axes.  Its result type may depend on axes in scope, so the dispatcher must not cache
    it."""
    primitive = Primitive(name, batch=batch, facts=fields.pop("facts", frozenset()) | {NAMED_AXIS}, **fields)
    primitive.def_effectful_abstract_eval(lambda *avals, **params: (abstract_eval(*avals, **params), _NO_EFFECTS))
    return primitive


def _abstract_without_weak(x, *_, **__):
    return x.strip_weak_type()


def _abstract_with_weak(x, *_, **__):
    return x


def _move_mapped_axis(x, dim, size, to=0):
    """Moves the mapped axis to `to`; an unmapped value is repeated there."""
    if dim is None:
        return broadcast_bdim(x, size, to)
    return x if dim == to else moveaxis(x, dim, to)


def _axis_beside_mapped(dim, axis):
    """Returns which axis of the batched value an axis of one example is, given the mapped axis `dim`."""
    return axis if dim is None or axis < dim else axis + 1


def _split_axis(x, axis, sizes):
    shape = shape_of(x)
    return reshape(x, (*shape[:axis], *sizes, *shape[axis + 1 :]))


def _merge_axes(x, axis, count):
    shape = shape_of(x)
    return reshape(x, (*shape[:axis], math.prod(shape[axis : axis + count]), *shape[axis + count :]))


def _take_rows(x, indices):
    """Takes rows of x at constant indices, which may have any shape."""
    indices = np.asarray(indices, np.int32)
    rows = index_take(x, (indices.reshape(-1),), (0,))
    return reshape(rows, (*indices.shape, *shape_of(x)[1:]))


def _group_positions(groups):
    """Returns (the group of each index, its position in that group) for groups that cover 0..n-1."""
    n = sum(map(len, groups))
    group, index = np.zeros(n, int), np.zeros(n, int)
    for g, members in enumerate(groups):
        for p, i in enumerate(members):
            group[i], index[i] = g, p
    return group, index


# ---- reductions


def _reduction(name, reduce, repeated, **fields):
    """Makes a reduction.  `reduce(x, axes)` reduces mapped axes; `repeated(x, n)` reduces n copies of an unmapped
    value."""

    def batch(axis_data, operands, dims, *, axes, axis_index_groups):
        (x,), (dim,) = operands, dims
        own, rest = axis_data.name in axes, tuple(a for a in axes if a != axis_data.name)
        if own and axis_index_groups is not None:
            exchange = lambda rows: _reduce_in_groups(rows, axis_index_groups, reduce)
            return _exchange_rows(axis_data, x, dim, axes, exchange)
        if not own:
            return primitive.bind(x, axes=axes, axis_index_groups=axis_index_groups), dim
        x, dim = (repeated(x, axis_data.size), None) if dim is None else (reduce(x, (dim,)), None)
        if rest:
            x = primitive.bind(x, axes=rest, axis_index_groups=None)
        return x, dim

    def kernel(x, *, axes, axis_index_groups):
        if axes:
            axis_size(axes, name.removesuffix("_invariant"))
        return x

    primitive = _named_axis_primitive(name, _abstract_without_weak, batch, kernel=kernel, **fields)
    return primitive


def _exchange_rows(axis_data, x, dim, names, exchange):
    """Applies a function to the values of all examples along the named axes, which it takes and returns as rows."""
    if len(names) == 1:
        return exchange(_move_mapped_axis(x, dim, axis_data.size)), 0
    rows, _ = _gather_names(axis_data, x, dim, names)
    index, _ = _index_along(axis_data, names)
    return index_take(exchange(_merge_axes(rows, 0, len(names))), (index,), (0,)), 0


def _rows_of_members(rows, groups):
    """Rows (group, member, ...) in the order of the examples, which groups of one size cover."""
    group, position = _group_positions(groups)
    return _take_rows(_merge_axes(rows, 0, 2), group * len(groups[0]) + position)


def _reduce_in_groups(x, groups, reduce):
    """Reduces rows over the members of each example's group."""
    if len({len(g) for g in groups}) == 1:
        per_group = reduce(_take_rows(x, groups), (1,))
        return _take_rows(per_group, _group_positions(groups)[0])
    parts = [reduce(_take_rows(x, g), (0,)) for g in groups]
    return _take_rows(stack(parts), _group_positions(groups)[0])


def _multiply_by(x, n):
    return mul(x, full_like(x, n))


psum_p = deflinear(
    _reduction("psum", reduce_sum, _multiply_by, facts=frozenset({LINEAR, MAKES_NAN})),
    lambda ct, x, **params: psum_p.bind(ct, **params),
)
pmax_p = _reduction("pmax", reduce_max, lambda x, n: x)
pmin_p = _reduction("pmin", reduce_min, lambda x, n: x)


# ---- gathers


def _remove_name(axis_name, name):
    """The names without one of them, in order."""
    return tuple(a for a in axis_name if a != name)


def _all_gather_abstract(x, *, all_gather_dimension, axis_name, axis_size, tiled, axis_index_groups=None):
    shape, d = list(x.shape), all_gather_dimension
    if tiled:
        shape[d] *= axis_size
    else:
        shape.insert(d, axis_size)
    return x.update(shape=tuple(shape))


def _gather_names(axis_data, x, dim, names):
    """Gathers along all named axes, each of which becomes a leading dimension in the order of names; returns (value,
    dim)."""
    for name in reversed(names):
        if name == axis_data.name:
            x, dim = _move_mapped_axis(x, dim, axis_data.size), None
        else:
            n = axis_size(name, "all_gather")
            x = all_gather_p.bind(
                x, all_gather_dimension=0, axis_index_groups=None, axis_name=(name,), axis_size=n, tiled=False
            )
            dim = None if dim is None else dim + 1
    return x, dim


def _all_gather_batch(
    axis_data, operands, dims, *, all_gather_dimension, axis_index_groups, axis_name, axis_size, tiled
):
    (x,), (dim,) = operands, dims
    params = {"axis_index_groups": axis_index_groups, "axis_size": axis_size, "tiled": tiled}
    if axis_data.name not in axis_name:
        d = all_gather_dimension
        out = all_gather_p.bind(x, all_gather_dimension=_axis_beside_mapped(dim, d), axis_name=axis_name, **params)
        return out, dim + 1 if not tiled and d < dim else dim
    if axis_index_groups is not None:
        exchange = lambda rows: _gather_in_groups(rows, axis_index_groups, all_gather_dimension + 1, tiled)
        return _exchange_rows(axis_data, x, dim, axis_name, exchange)
    x, dim = _gather_names(axis_data, x, dim, axis_name)
    x = _merge_axes(x, 0, len(axis_name)) if len(axis_name) > 1 else x
    if dim is not None:  # gathering along this trace's own axis removes the mapped dimension
        raise AssertionError("all_gather left a mapped axis")
    x = moveaxis(x, 0, all_gather_dimension)
    x = _merge_axes(x, all_gather_dimension, 2) if tiled else x
    return x, None


def _gather_in_groups(rows, groups, axis, tiled):
    rows = _take_rows(_take_rows(rows, groups), _group_positions(groups)[0])  # example, member of its group, ...
    rows = moveaxis(rows, 1, axis)
    return _merge_axes(rows, axis, 2) if tiled else rows


def _all_gather_transpose(ct, x, *, all_gather_dimension, **params):
    return reduce_scatter_p.bind(ct, scatter_dimension=all_gather_dimension, **params)


all_gather_p = deflinear(
    _named_axis_primitive("all_gather", _all_gather_abstract, _all_gather_batch, facts=frozenset({LINEAR})),
    _all_gather_transpose,
)


def _all_gather_primitive(name):
    """Makes an all_gather without groups, of whose result types say something else than that it varies."""

    def batch(axis_data, operands, dims, *, all_gather_dimension, axis_name, **params):
        (x,), (dim,), d = operands, dims, all_gather_dimension
        if axis_data.name in axis_name:
            return _all_gather_batch(
                axis_data, operands, dims, all_gather_dimension=d, axis_index_groups=None, axis_name=axis_name, **params
            )
        d = _axis_beside_mapped(dim, d)
        out = primitive.bind(x, all_gather_dimension=d, axis_name=axis_name, **params)
        return out, dim + 1 if not params["tiled"] and all_gather_dimension < dim else dim

    primitive = _named_axis_primitive(name, _all_gather_abstract, batch, facts=frozenset({LINEAR}))
    return primitive


def _all_gather_invariant_transpose(ct, x, *, all_gather_dimension, axis_name, axis_size, tiled):
    """A device's part of the cotangent, which is the same on all devices."""
    shape, d = list(x.aval.shape), all_gather_dimension
    if not tiled:
        shape.insert(d, 1)
    index = index_along(axis_name)
    starts = [mul(index, full_like(index, shape[d])) if i == d else full_like(index, 0) for i in range(len(shape))]
    part = dynamic_slice_p.bind(ct, *starts, slice_sizes=tuple(shape))
    return part if tiled else squeeze(part, (d,))


all_gather_invariant_p = deflinear(_all_gather_primitive("all_gather_invariant"), _all_gather_invariant_transpose)


def _reduce_scatter_abstract(x, *, scatter_dimension, axis_name, axis_size, tiled, axis_index_groups=None):
    shape = list(x.shape)
    if tiled:
        shape[scatter_dimension] //= axis_size
    else:
        del shape[scatter_dimension]
    return x.update(shape=tuple(shape))


def _reduce_scatter_primitive(name):
    """Makes a reduce_scatter, with or without the parameter `axis_index_groups`."""

    def batch(axis_data, operands, dims, *, scatter_dimension, axis_name, **params):
        (x,), (dim,), groups = operands, dims, params.get("axis_index_groups")
        size, tiled, d = params["axis_size"], params["tiled"], scatter_dimension % (typeof(x).ndim - (dim is not None))
        if axis_data.name not in axis_name:
            at = _axis_beside_mapped(dim, d)
            out = primitive.bind(x, scatter_dimension=at, axis_name=axis_name, **params)
            return out, dim - 1 if not tiled and at < dim else dim
        if groups is not None:
            exchange = lambda rows: _scatter_in_groups(rows, groups, d + 1, tiled)
            return _exchange_rows(axis_data, x, dim, axis_name, exchange)
        return _scatter_along(axis_data, x, dim, axis_name, d, size if tiled else None)

    primitive = _named_axis_primitive(name, _reduce_scatter_abstract, batch, facts=frozenset({LINEAR}))
    return primitive


def _scatter_along(axis_data, x, dim, names, d, parts):
    """Each example's part of the sum: of the d-th axis, which is cut into `parts`, or has one entry for each."""
    at = _axis_beside_mapped(dim, d)
    if parts is not None:
        x = _split_axis(x, at, (parts, shape_of(x)[at] // parts))
        dim = dim if dim is None or dim < at else dim + 1
    # Each example sums the chunks that all examples hold for it: sum everything, then take the chunk at its own index.
    total, dim = psum_p.batch(axis_data, (x,), (dim,), axes=names, axis_index_groups=None)
    total = moveaxis(total, _axis_beside_mapped(dim, d), 1 if dim is not None else 0)
    index, index_dim = _index_along(axis_data, names)
    if dim is not None:
        raise AssertionError("psum left a mapped axis")
    index = index if index_dim is not None else broadcast_bdim(index, axis_data.size, 0)
    return index_take(total, (index,), (0,)), 0


def _scatter_in_groups(rows, groups, axis, tiled):
    size = len(groups[0])
    rows = _split_axis(rows, axis, (size, shape_of(rows)[axis] // size)) if tiled else rows
    totals = reduce_sum(_take_rows(rows, groups), (1,))  # group, ..., the member to which the chunk goes, ...
    return _rows_of_members(moveaxis(totals, axis, 1), groups)


def _reduce_scatter_transpose(ct, x, *, scatter_dimension, **params):
    return all_gather_p.bind(ct, all_gather_dimension=scatter_dimension, **params)


reduce_scatter_p = deflinear(_reduce_scatter_primitive("reduce_scatter"), _reduce_scatter_transpose)


def _index_along(axis_data, names):
    """The linear index along the named axes, one of which is this trace's: (value, dim)."""
    stride, total, mapped = 1, None, False
    for name in reversed(names):
        if name == axis_data.name:
            index, mapped, n = iota(np.int32, axis_data.size), True, axis_data.size
        else:
            index, n = axis_index_p.bind(axis_name=name), axis_size(name, "axis_index")
        part = mul(index, full_like(index, stride))
        total = part if total is None else _add_indices(total, part)
        stride *= n
    return total, 0 if mapped else None


def _add_indices(x, y):
    """Adds two indices, either of which may be a vector of indices."""
    if typeof(x).ndim < typeof(y).ndim:
        x = broadcast_bdim(x, shape_of(y)[0], 0)
    elif typeof(y).ndim < typeof(x).ndim:
        y = broadcast_bdim(y, shape_of(x)[0], 0)
    return add(x, y)


# ---- rearrangements


def _all_to_all_abstract(x, *, axis_name, split_axis, concat_axis, axis_index_groups, tiled):
    n = len(axis_index_groups[0]) if axis_index_groups is not None else axis_size(axis_name, "all_to_all")
    shape = list(x.shape)
    shape[split_axis] //= n
    shape[concat_axis] *= n
    return x.strip_weak_type().update(shape=tuple(shape))


def _all_to_all_batch(axis_data, operands, dims, *, axis_name, split_axis, concat_axis, axis_index_groups, tiled):
    """Splits the split axis into one axis for each name and a rest, and swaps each name's axis with the mapped one."""
    (x,), (dim,) = operands, dims
    names = names_of(axis_name)
    rank = typeof(x).ndim - (dim is not None)
    split, concat = split_axis % rank, concat_axis % rank
    if axis_data.name not in names:
        out = all_to_all_p.bind(
            x, axis_name=axis_name, split_axis=_axis_beside_mapped(dim, split),
            concat_axis=_axis_beside_mapped(dim, concat), axis_index_groups=axis_index_groups, tiled=tiled,
        )  # fmt: skip
        return out, dim
    if axis_index_groups is not None:
        exchange = lambda rows: _swap_in_groups(rows, axis_index_groups, split + 1, concat + 1)
        return _exchange_rows(axis_data, x, dim, names, exchange)
    sizes = [axis_data.size if name == axis_data.name else axis_size(name, "all_to_all") for name in names]
    x = _move_mapped_axis(x, dim, axis_data.size)
    x = _split_axis(x, split + 1, (*sizes, shape_of(x)[split + 1] // math.prod(sizes)))
    for i, name in enumerate(names):
        at = split + 1 + i
        if name == axis_data.name:
            order = list(range(typeof(x).ndim))
            order[0], order[at] = at, 0
            x = transpose(x, order)
        else:
            x = all_to_all_p.bind(x, axis_name=name, split_axis=at, concat_axis=at, axis_index_groups=None, tiled=True)
    target = concat + 1 if concat <= split else concat + 1 + len(names)
    for _ in names:  # the names' axes move in front of the axis with which they are merged
        if concat > split:
            x = moveaxis(x, split + 1, target - 1)
        else:
            x = moveaxis(x, split + len(names), target)
    return _merge_axes(x, concat + 1, len(names) + 1), 0


def _swap_in_groups(rows, groups, split, concat):
    """Swaps, within each group, the rows with the chunks along an axis, which are joined along another one."""
    size = len(groups[0])
    rows = _split_axis(_take_rows(rows, groups), split + 1, (size, shape_of(rows)[split] // size))
    rows = moveaxis(rows, split + 1, 1)  # group, receiver, sender, ...
    return _rows_of_members(_merge_axes(moveaxis(rows, 2, concat + 1), concat + 1, 2), groups)


def _all_to_all_transpose(ct, x, *, split_axis, concat_axis, **params):
    return all_to_all_p.bind(ct, split_axis=concat_axis, concat_axis=split_axis, **params)


all_to_all_p = deflinear(
    _named_axis_primitive("all_to_all", _all_to_all_abstract, _all_to_all_batch, facts=frozenset({LINEAR})),
    _all_to_all_transpose,
)


def _ppermute_batch(axis_data, operands, dims, *, axis_name, perm):
    (x,), (dim,) = operands, dims
    names = names_of(axis_name)
    if axis_data.name not in names:
        return ppermute_p.bind(x, axis_name=axis_name, perm=perm), dim
    total = axis_data.size
    total *= math.prod(axis_size(n, "ppermute") for n in names if n != axis_data.name)
    source = np.full(total, total)  # an example to which nothing is sent reads the row of zeros behind all others
    for start, end in perm:
        source[end] = start
    if len(names) == 1:
        rows = _move_mapped_axis(x, dim, total)
        if (source == total).any():
            rows = _append_zero_row(rows)
        return _take_rows(rows, source), 0
    rows, _ = _gather_names(axis_data, x, dim, names)
    rows = _append_zero_row(_merge_axes(rows, 0, len(names)))
    index, index_dim = _index_along(axis_data, names)
    sources = _take_rows(reshape(as_array(source.astype(np.int32)), (total, 1)), np.arange(total))
    if index_dim is None:
        raise AssertionError("the index along an axis is mapped over it")
    chosen = reshape(index_take(sources, (index,), (0,)), (axis_data.size,))
    return index_take(rows, (chosen,), (0,)), 0


def _append_zero_row(rows):
    """Appends a row of zeros."""
    aval = typeof(rows)
    return concatenate([rows, zeros_like_aval(aval.update(shape=(1, *aval.shape[1:])))], 0)


def _ppermute_transpose(ct, x, *, perm, axis_name):
    return ppermute_p.bind(ct, axis_name=axis_name, perm=tuple((end, start) for start, end in perm))


ppermute_p = deflinear(
    _named_axis_primitive("ppermute", _abstract_with_weak, _ppermute_batch, facts=frozenset({LINEAR})),
    _ppermute_transpose,
)


def _pbroadcast_batch(axis_data, operands, dims, *, axis_name, source):
    (x,), (dim,) = operands, dims
    names = names_of(axis_name)
    if axis_data.name not in names:
        return pbroadcast_p.bind(x, axis_name=axis_name, source=source), dim
    rows, _ = _gather_names(axis_data, x, dim, names)
    rows = _merge_axes(rows, 0, len(names)) if len(names) > 1 else rows
    return reshape(_take_rows(rows, [source]), shape_of(rows)[1:]), None


def _pbroadcast_transpose(ct, x, *, axis_name, source):
    """The source's cotangent is the sum of all cotangents; those of the others are zero."""
    names = names_of(axis_name)
    index = index_along(names)
    total = psum_p.bind(ct, axes=names, axis_index_groups=None)
    is_source = broadcast_in_dim(eq(index, full_like(index, source)), shape_of(total), ())
    return select_n(is_source, full_like(total, 0), total)


pbroadcast_p = deflinear(
    _named_axis_primitive("pbroadcast", _abstract_with_weak, _pbroadcast_batch, facts=frozenset({LINEAR})),
    _pbroadcast_transpose,
)


def _axis_index_abstract(*, axis_name):
    return ShapedArray((), canonicalize_dtype(np.int32))


def _axis_index_batch(axis_data, operands, dims, *, axis_name):
    return iota(np.int32, axis_data.size), 0


def _axis_index_kernel(*, axis_name):
    axis_size(axis_name, "axis_index")


axis_index_p = _named_axis_primitive("axis_index", _axis_index_abstract, _axis_index_batch, kernel=_axis_index_kernel)


def index_along(names):
    """The index of a device along several axes, the first varying slowest."""
    index = None
    for name in names:
        own = axis_index_p.bind(axis_name=name)
        index = own if index is None else add(mul(index, full_like(index, axis_size(name))), own)
    return index


# ---- values that vary over an axis and values that do not
#
# Inside shard_map with check_vma types say over which axes values vary (`_transforms/varying_types.py`).


psum_invariant_p = deflinear(
    _reduction("psum_invariant", reduce_sum, _multiply_by, facts=frozenset({LINEAR})),
    lambda ct, x, *, axes, axis_index_groups: vary_over(ct, axes),
)
unreduced_psum_p = deflinear(
    _reduction("unreduced_psum", reduce_sum, _multiply_by, facts=frozenset({LINEAR})),
    lambda ct, x, *, axes, axis_index_groups: preduced_p.bind(ct, axes=axes),
)
psum_invariant_p.pretty = unreduced_psum_p.pretty = lambda eqn, names: {"axes": eqn.params["axes"]}

deflinear(pvary_p, lambda ct, x, axes: psum_invariant_p.bind(ct, axes=axes, axis_index_groups=None))
deflinear(preduced_p, lambda ct, x, axes: unreduced_psum_p.bind(ct, axes=axes, axis_index_groups=None))


def _all_gather_reduced_transpose(ct, x, *, all_gather_dimension, **params):
    return unreduced_reduce_scatter_p.bind(ct, scatter_dimension=all_gather_dimension, **params)


all_gather_reduced_p = deflinear(_all_gather_primitive("all_gather_reduced"), _all_gather_reduced_transpose)


def _unreduced_reduce_scatter_transpose(ct, x, *, scatter_dimension, **params):
    return all_gather_reduced_p.bind(ct, all_gather_dimension=scatter_dimension, **params)


unreduced_reduce_scatter_p = deflinear(
    _reduce_scatter_primitive("unreduced_reduce_scatter"), _unreduced_reduce_scatter_transpose
)
