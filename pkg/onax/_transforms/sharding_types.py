"""Shardings in types: how the explicit axes of a mesh go from the types of operands to those of results.

An array over a mesh with axes of type Explicit shows them in its type, `f32[4@x,2]`, and staging an operation on such a
value computes the type of the result.  Where that is ambiguous the operation raises ShardingTypeError, as in JAX, and
the user states the sharding: `out_sharding=`, `reshard`, `auto_axes`.

A rule of the slot `sharding_type` gets the mesh axes of each dimension of the operands, as tuples, and gives those of
the results.  Operations that hold programs have results of the types that their programs have.
"""

import math

from onax._core.explicit_axes import explicit_sharding, seen
from onax._core.facts import ELEMENTWISE, STATES_TYPES
from onax._core.jaxpr import ClosedJaxpr, Jaxpr, jaxprs_in_params
from onax._core.meshes import AbstractMesh, PartitionSpec
from onax._core.programs import programs, replace_programs
from onax._core.sharding import NamedSharding, ShardingTypeError, names_in
from onax._core.slots import Slot
from onax._native.avals import ShapedArray
from onax._prims.conv import conv_general_dilated_p
from onax._prims.convert import bitcast_convert_type_p
from onax._prims.creation import copy_p
from onax._prims.cumulative import cumlogsumexp_p, cummax_p, cummin_p, cumprod_p, cumsum_p
from onax._prims.dot import dot_general_p
from onax._prims.dot_ragged import ragged_dot_general_p
from onax._prims.elementwise import select_n_p
from onax._prims.fft import fft_p
from onax._prims.indexing import (
    gather_p,
    scatter_add_p,
    scatter_max_p,
    scatter_min_p,
    scatter_mul_p,
    scatter_p,
    scatter_sub_p,
)
from onax._prims.linalg import (
    cholesky_p,
    geqrf_p,
    householder_product_p,
    lu_p,
    lu_pivots_to_permutation_p,
    ormqr_p,
    qr_p,
    symmetric_product_p,
    triangular_solve_p,
)
from onax._prims.linalg_spectral import (
    eig_p,
    eigh_p,
    hessenberg_p,
    schur_p,
    svd_p,
    tridiagonal_p,
    tridiagonal_solve_p,
)
from onax._prims.padding import pad_p
from onax._prims.placement import device_put_p, reshard_p, sharding_constraint_p, stated_for_result
from onax._prims.reductions import (
    argmax_p,
    argmin_p,
    reduce_and_p,
    reduce_max_p,
    reduce_min_p,
    reduce_or_p,
    reduce_prod_p,
    reduce_xor_p,
)
from onax._prims.shaping import broadcast_in_dim_p, reduce_sum_p, reshape_p, rev_p, squeeze_p, transpose_p
from onax._prims.slicing import concatenate_p, dynamic_slice_p, dynamic_update_slice_p, slice_p, split_p
from onax._prims.sorting import sort_p, top_k_p
from onax._prims.stacking import stack_p, tile_p, unstack_p
from onax._prims.windows import reduce_window_max_p, reduce_window_min_p, reduce_window_sum_p
from onax._transforms.unreduced_types import (
    axes_of_results,
    has_partial_sums,
    reduced_axes,
    stated_unreduced,
    unreduced_axes,
)

sharding_type = Slot(
    "sharding_type",
    "rule(name, axes of each operand, avals, params, out_avals) -> [axes of each result]",
    "An elementwise operation merges the axes of its operands; the results of any other are replicated in their types.",
    "onax",
)


def typed_results(primitive, in_avals, out_avals, params):
    """The types of results, with the shardings that follow from those of the operands.

    `out_avals` is the type of the one result, or a list.  Raises ShardingTypeError where the sharding is ambiguous.
    """
    if primitive is device_put_p and not seen.automatic:
        return _put_types(out_avals, params)
    if primitive is sharding_constraint_p:
        return in_avals[0]
    given = [a.stated_sharding if type(a) is ShapedArray else None for a in in_avals]
    mesh = next((s.mesh for s in given if s is not None), None)
    stated = stated_for_result(params)
    if (mesh is None and stated is None) or STATES_TYPES in primitive.facts:
        return out_avals
    if primitive not in sharding_type and _holds_programs(primitive, params):
        return out_avals
    several = primitive.multiple_results
    outs = list(out_avals) if several else [out_avals]
    if seen.automatic and primitive is not reshard_p:
        outs = [a.update(sharding=None) for a in outs]
        return outs if several else outs[0]
    if stated is not None:
        if primitive is not reshard_p:
            stated_unreduced(primitive, in_avals, params, stated)
        typed = [a.update(sharding=explicit_sharding(stated, a.ndim)) for a in outs]
        return typed if several else typed[0]
    axes = list(map(axes_of_type, in_avals))
    rule = sharding_type.get(primitive) or (_elementwise if ELEMENTWISE in primitive.facts else _replicated)
    found = rule(primitive.name, axes, in_avals, params, outs)
    typed = [_typed(primitive, in_avals, a, own, mesh) for a, own in zip(outs, found)]
    if primitive in programs and "jaxpr" in params:
        sets = [(unreduced_axes(b), reduced_axes(b)) for b in params["jaxpr"].out_avals]
        typed = [_with_sets(a, mesh, *own) for a, own in zip(typed, sets)]
    elif has_partial_sums(in_avals):
        sets = axes_of_results(primitive, in_avals, params)
        typed = [_with_sets(a, mesh, *sets) for a in typed]
    return typed if several else typed[0]


def _with_sets(aval, mesh, unreduced, reduced):
    """The type of a result that is unreduced and reduced over these axes."""
    if not unreduced and not reduced:
        return aval
    own = aval.stated_sharding
    spec = PartitionSpec(*(() if own is None else own.spec), unreduced=unreduced, reduced=reduced)
    return aval.update(sharding=explicit_sharding(NamedSharding(mesh, spec), aval.ndim))


def without_sharding_types(jaxpr):
    """The program, with those inside it, without shardings in its types; itself if there are none."""
    if not seen.explicit_axes:
        return jaxpr
    if "without sharding types" not in jaxpr.cache:
        jaxpr.cache["without sharding types"] = _without_types(jaxpr)
    return jaxpr.cache["without sharding types"] or jaxpr


def _without_types(jaxpr):
    """The program without shardings in its types, or None if there are none."""
    names, changed = {}, False

    def renamed(v):
        nonlocal changed
        if type(v.aval) is not ShapedArray or v.aval.stated_sharding is None:
            return v
        changed = True
        if v not in names:
            names[v] = type(v)(v.aval.update(sharding=None))
        return names[v]

    eqns = []
    for eqn in jaxpr.eqns:
        new = eqn.replace(invars=list(map(renamed, eqn.invars)), outvars=list(map(renamed, eqn.outvars)))
        stated = eqn.params.get("sharding")
        if isinstance(stated, NamedSharding) and isinstance(stated.mesh, AbstractMesh):  # it is of the type alone
            changed, new = True, new.replace(params={**eqn.params, "sharding": None})
        if any(jaxprs_in_params(eqn.params)):
            inner = replace_programs(new, without_sharding_types)
            changed |= inner is not new
            new = inner
        eqns.append(new)
    constvars, invars, outvars = (list(map(renamed, vs)) for vs in (jaxpr.constvars, jaxpr.invars, jaxpr.outvars))
    if not changed:
        return None
    return ClosedJaxpr(Jaxpr(constvars, invars, outvars, eqns, jaxpr.effects, jaxpr.debug_info), jaxpr.consts)


def _holds_programs(primitive, params):
    return primitive in programs or any(jaxprs_in_params(params))


def axes_of_type(aval):
    """For each dimension the explicit axes that split it, as the type says."""
    sharding = aval.stated_sharding if type(aval) is ShapedArray else None
    return [names_in(e) for e in sharding.spec] if sharding is not None else [()] * getattr(aval, "ndim", 0)


def _typed(primitive, in_avals, aval, axes, mesh):
    """The type of one result; raises ShardingTypeError if an axis would split two dimensions."""
    used = [a for names in axes for a in names]
    if len(used) != len(set(used)):
        inputs = ", ".join(a.str_short(True) for a in in_avals)
        out = ",".join(f"{n}@{'' if len(own) == 1 else '('}{','.join(own)}{'' if len(own) == 1 else ')'}" if own else
                       str(n) for n, own in zip(aval.shape, axes))  # fmt: skip
        kind = aval.str_short(True).partition("[")[0]
        raise ShardingTypeError(
            f"{primitive.name} operation with inputs: {inputs} produces an illegally sharded result: {kind}[{out}]"
        )
    return aval.update(sharding=NamedSharding(mesh, PartitionSpec(*axes)) if used else None)


def _entries(axes):
    """The entries of a spec, as JAX prints them."""
    return tuple(None if not names else names[0] if len(names) == 1 else names for names in axes)


def _replicated(name, axes, avals, params, outs):
    return [[()] * a.ndim for a in outs]


def _elementwise(name, axes, avals, params, outs):
    shape = outs[0].shape
    wide = [(own, a.shape) for own, a in zip(axes, avals) if a.ndim == len(shape) and a.ndim]
    merged = []
    for i, n in enumerate(shape):
        found = {own[i] for own, old in wide if own[i] and old[i] == n}
        if len(found) > 1:
            specs = ", ".join(str(_entries(own)) for own, _ in wide)
            raise ShardingTypeError(f"{name} got incompatible shardings for broadcasting: {specs}.")
        merged.append(found.pop() if found else ())
    return [merged] * len(outs)


def slice_aval(aval, length):
    """The type of a slice along the first dimension, whose length is given; raises ValueError if that is split."""
    if aval.is_high:
        return aval.dec_rank(length, aval.leading_axis_spec())
    sharding = aval.stated_sharding
    if sharding is not None:
        if names_in(sharding.spec[0]):
            raise ValueError(f"0th dimension of all xs should be replicated. Got {sharding.spec}")
        spec = sharding.spec.update(partitions=sharding.spec[1:])  # the other dimensions are split
        sharding = explicit_sharding(sharding.update(spec=spec), aval.ndim - 1)
    return ShapedArray(aval.shape[1:], aval.dtype, aval.weak_type, sharding=sharding, varying=aval.varying)


# ---- shapes


@sharding_type.rule(copy_p, rev_p)
def _same(name, axes, avals, params, outs):
    return axes


def _put_types(avals, params):
    """The types of what `device_put` returns: over explicit axes, it states them."""
    return [
        a.update(sharding=explicit_sharding(d, a.ndim)) if isinstance(d, NamedSharding) and d.mesh.explicit_axes else a
        for a, d in zip(avals, params["devices"])
    ]


@sharding_type.rule(reshard_p)
def _reshard(name, axes, avals, params, outs):
    return axes


@sharding_type.rule(transpose_p)
def _transpose(name, axes, avals, params, outs):
    return [[axes[0][i] for i in params["permutation"]]]


def _dropped(axes, dims):
    return [own for i, own in enumerate(axes) if i not in dims]


@sharding_type.rule(squeeze_p)
def _squeeze(name, axes, avals, params, outs):
    return [_dropped(axes[0], params["dimensions"])]


@sharding_type.rule(
    reduce_sum_p, reduce_max_p, reduce_min_p, reduce_prod_p, reduce_and_p, reduce_or_p, reduce_xor_p, argmax_p, argmin_p
)
def _reduce(name, axes, avals, params, outs):
    return [_dropped(axes[0], params["axes"])]


@sharding_type.rule(broadcast_in_dim_p)
def _broadcast(name, axes, avals, params, outs):
    out = [()] * outs[0].ndim
    for i, d in enumerate(params["broadcast_dimensions"]):
        if avals[0].shape[i] == outs[0].shape[d]:
            out[d] = axes[0][i]
    return [out]


@sharding_type.rule(select_n_p)
def _select(name, axes, avals, params, outs):
    stated = [a.stated_sharding for a in avals[1:] if a.stated_sharding is not None]
    if any(s != stated[0] for s in stated[1:]):
        raise ShardingTypeError(f"select cases must have the same shardings, got [{', '.join(map(str, stated))}].")
    if len(stated) == len(avals) - 1 and avals[0].stated_sharding is not None and axes[0] != axes[1]:
        raise ShardingTypeError(
            "select `which` must be scalar or have the same sharding as cases, got `which` sharding "
            f"{avals[0].sharding} but case sharding {avals[1].sharding}."
        )
    return _elementwise(name, axes, avals, params, outs)


@sharding_type.rule(reshape_p)
def _reshape(name, axes, avals, params, outs):
    """Split dimensions hand their axes to the first ones that they divide; merged ones may be split but for the
    last."""
    old, new, own = avals[0].shape, outs[0].shape, axes[0]
    sizes = _sizes(avals[0])
    out = [()] * len(new)
    old_long, new_long = ([i for i, n in enumerate(shape) if n != 1] for shape in (old, new))
    if [old[i] for i in old_long] == [new[j] for j in new_long]:
        for i, j in zip(old_long, new_long):
            out[j] = own[i]
        return [out]
    groups = _whole_groups(old, new)
    if groups is not None and sum(_changes(*group, old, new) for group in groups) > 1 and any(own):
        groups = None  # as in JAX, one dimension may be split, or some be merged
    for olds, news in groups or ():
        if len(olds) == 1:
            fits = _distribute(own[olds[0]], [new[j] for j in news], sizes)
            if fits is None:
                break
            for j, names in zip(news, fits):
                out[j] = names
        elif not own[olds[0]] and any(own[i] for i in olds):
            break
        else:
            out[news[0]] = tuple(a for i in olds for a in own[i])
    else:
        if groups is not None:
            return [out]
    if not any(own):
        return [out]
    raise ShardingTypeError(
        "This reshape is not supported. Please specify the sharding of the output via the `out_sharding` argument of "
        f"jax.lax.reshape. Got operand type: {avals[0].str_short()}, new sizes: {tuple(new)}"
    )


def _changes(olds, news, old, new):
    """Whether a reshape splits or merges these dimensions, apart from those of length 1."""
    return [old[i] for i in olds if old[i] != 1] != [new[j] for j in news if new[j] != 1]


def _sizes(aval):
    return aval.stated_sharding.mesh.shape if aval.stated_sharding is not None else {}


def _whole_groups(old, new):
    """Pairs of (old dimensions, new dimensions), one of which has one dimension; None if the shapes have no such."""
    groups, i, j, end, stop = [], 0, 0, len(old), len(new)
    while end and stop and old[end - 1] == new[stop - 1] == 1:
        end, stop = end - 1, stop - 1
    while i < end and j < stop:
        olds, news, m, n = [i], [j], old[i], new[j]
        i, j = i + 1, j + 1
        while m != n:
            if m < n and i < end:
                olds, m, i = [*olds, i], m * old[i], i + 1
            elif n < m and j < stop:
                news, n, j = [*news, j], n * new[j], j + 1
            else:
                return None
        if math.prod(old[i:end]) == math.prod(new[j:stop]) == 1:  # dimensions of length 1 at the end
            olds, news, i, j = [*olds, *range(i, end)], [*news, *range(j, stop)], end, stop
        if len(olds) > 1 and len(news) > 1:
            return None
        groups.append((olds, news))
    if i < end or j < stop:
        return None
    return groups + [([k], [n]) for k, n in zip(range(end, len(old)), range(stop, len(new)))]


def _distribute(names, lengths, sizes):
    """The axes for each of the dimensions into which one is split, in order; None if they do not fit."""
    result, rest = [], list(names)
    for n in lengths:
        taken, count = [], 1
        while rest and n % (count * sizes[rest[0]]) == 0:
            count *= sizes[rest[0]]
            taken.append(rest.pop(0))
        result.append(tuple(taken))
        if rest and count != n:
            return None
    return None if rest else result


@sharding_type.rule(stack_p)
def _stack(name, axes, avals, params, outs):
    merged = _elementwise(name, axes, avals, params, avals[:1])[0]
    return [[*merged[: params["axis"]], (), *merged[params["axis"] :]]]


@sharding_type.rule(unstack_p)
def _unstack(name, axes, avals, params, outs):
    return [_dropped(axes[0], (params["axis"],))] * len(outs)


@sharding_type.rule(tile_p)
def _tile(name, axes, avals, params, outs):
    for d, (own, n) in enumerate(zip(axes[0], params["reps"])):
        if own and n != 1:
            raise ShardingTypeError(
                f"Operand cannot be sharded on dimension {d} when the tiling is non-trivial. Got input type: "
                f"{avals[0].str_short()} with reps: {tuple(params['reps'])}"
            )
    return [[own if n == 1 else () for own, n in zip(axes[0], params["reps"])]]


# ---- products


@sharding_type.rule(dot_general_p)
def _dot_general(name, axes, avals, params, outs):
    (x, y), ((lc, rc), (lb, rb)) = axes, params["dimension_numbers"]
    left, right = tuple(x[i] for i in lc), tuple(y[j] for j in rc)
    for i, j in zip(lb, rb):
        if x[i] and y[j] and x[i] != y[j]:
            raise ShardingTypeError(
                "dot_general requires lhs batch dimensions and rhs batch dimensions to have the consistent sharding, "
                f"got {_entries(x[i] for i in lb)} and {_entries(y[j] for j in rb)}."
            )
    both = [(a, b) for a, b in zip(left, right) if a and b]
    if any(a != b for a, b in both):
        raise ShardingTypeError(
            f"dot_general requires contracting dimensions to have consistent sharding, got {_entries(left)} and "
            f"{_entries(right)}."
        )
    if both:
        raise ShardingTypeError(
            "Contracting dimensions are sharded and it is ambiguous how the output should be sharded. Please specify "
            f"the output sharding via the `out_sharding` parameter. Got lhs_contracting_spec={_entries(left)} and "
            f"rhs_contracting_spec={_entries(right)}"
        )
    batch = [x[i] or y[j] for i, j in zip(lb, rb)]
    return [[*batch, *_dropped(x, (*lc, *lb)), *_dropped(y, (*rc, *rb))]]


@sharding_type.rule(conv_general_dilated_p)
def _conv(name, axes, avals, params, outs):
    numbers = params["dimension_numbers"]
    if any(axes[1]) or axes[0][numbers.lhs_spec[1]]:
        raise ShardingTypeError(
            "Please specify the output sharding via `out_sharding` parameter of `conv_general_dilated`"
        )
    return [_divided("conv_general_dilated", axes[0], avals[0], outs[0].shape)]


# ---- slices


def _divided(what, axes, aval, shape):
    """The axes of a result whose dimensions were cut; raises ShardingTypeError for one that they do not divide."""
    sizes = _sizes(aval)
    for names, n, size in zip(axes, aval.shape, shape):
        count = 1
        for a in names:
            count *= sizes[a]
        if n != size and size % count:
            spec = names[0] if len(names) == 1 else names
            raise ShardingTypeError(
                f"{what} on sharded dims where out dim ({size}) is not divisible by mesh axes ({count}) with spec "
                f"({spec}) is not implemented. Got input type={aval.str_short(True)} and output shape={tuple(shape)}"
            )
    return axes


@sharding_type.rule(slice_p)
def _slice(name, axes, avals, params, outs):
    return [_divided("slicing", axes[0], avals[0], outs[0].shape)]


@sharding_type.rule(dynamic_slice_p)
def _dynamic_slice(name, axes, avals, params, outs):
    return [_divided("dynamic_slice", axes[0], avals[0], outs[0].shape)]


@sharding_type.rule(pad_p)
def _pad(name, axes, avals, params, outs):
    return [_divided("padding", axes[0], avals[0], outs[0].shape)]


@sharding_type.rule(dynamic_update_slice_p)
def _dynamic_update_slice(name, axes, avals, params, outs):
    if avals[0].stated_sharding != avals[1].stated_sharding:
        mesh = next(a.stated_sharding.mesh for a in avals if a.stated_sharding is not None)
        operand, update = (f"{a.str_short()}({{Explicit: {mesh.explicit_axes}}})" for a in avals[:2])
        raise ShardingTypeError(
            "dynamic_update_slice operand sharding must be equal to update sharding, got operand sharding "
            f"{operand} and update sharding {update}."
        )
    return axes[:1]


@sharding_type.rule(split_p)
def _split(name, axes, avals, params, outs):
    return [_divided("split", axes[0], avals[0], a.shape) for a in outs]


@sharding_type.rule(concatenate_p)
def _concatenate(name, axes, avals, params, outs):
    stated = [own for own, a in zip(axes, avals) if a.stated_sharding is not None]  # others may lie anywhere
    shardings = [a.stated_sharding for a in avals if a.stated_sharding is not None]
    if any(own != shardings[0] for own in shardings):
        shardings = ", ".join(str(a.sharding) for a in avals)
        raise ShardingTypeError(f"All operands should have the same sharding. Got shardings {shardings}")
    return [stated[0] if stated else axes[0]]


# ---- along a dimension


@sharding_type.rule(sort_p)
def _sort(name, axes, avals, params, outs):
    for own, a in zip(axes, avals):
        if own[params["dimension"]]:
            raise ShardingTypeError(
                f"Arguments to sort must be unsharded over the sorting dimension. Got arg sharding={a.sharding} and "
                f"sorting dimension={params['dimension']}"
            )
    return [axes[0]] * len(outs)


@sharding_type.rule(cumsum_p, cumprod_p, cummax_p, cummin_p, cumlogsumexp_p)
def _cumulative(name, axes, avals, params, outs):
    if axes[0][params["axis"]]:
        raise ShardingTypeError(
            f"Input should be unsharded over the axis being reduced. Got input type={avals[0].str_short()} and "
            f"axis={params['axis']}"
        )
    return axes[:1]


@sharding_type.rule(top_k_p)
def _top_k(name, axes, avals, params, outs):
    if axes[0][params["axis"]]:
        raise ShardingTypeError(
            "The input should be unsharded over the axis along which to compute the top_k values. Got input type="
            f"{avals[0].str_short()} and axis={params['axis']}"
        )
    return [axes[0]] * len(outs)


@sharding_type.rule(fft_p)
def _fft(name, axes, avals, params, outs):
    return [_divided("fft", axes[0], avals[0], outs[0].shape)]


@sharding_type.rule(reduce_window_sum_p, reduce_window_max_p, reduce_window_min_p)
def _windows(name, axes, avals, params, outs):
    return [_divided("reduce_window", axes[0], avals[0], outs[0].shape)]


@sharding_type.rule(bitcast_convert_type_p)
def _bitcast(name, axes, avals, params, outs):
    """A dimension of parts of elements comes or goes at the end."""
    n = outs[0].ndim
    return [[*axes[0], ()][:n]]


@sharding_type.rule(ragged_dot_general_p)
def _ragged_dot(name, axes, avals, params, outs):
    raise NotImplementedError(
        "Explicit sharding inference for ragged_dot_general is not currently implemented. Please specify out_sharding."
    )


# ---- gathers and scatters


def _ambiguous(what, avals):
    names = ("operand", "indices", "updates")
    got = ", ".join(f"{n}={a!r}" for n, a in zip(names, avals))
    return ShardingTypeError(
        f"Use `.at[...].{what} as out sharding could not be resolved unambiguously (or would require collectives on "
        f"inputs). Got {got}"
    )


@sharding_type.rule(gather_p)
def _gather(name, axes, avals, params, outs):
    """Whole windows keep their axes; so do batching dimensions, which indices share with the operand."""
    numbers, sizes = params["dimension_numbers"], params["slice_sizes"]
    shared = dict(zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims))
    taken_apart = [i for i, n in enumerate(avals[0].shape) if i not in shared and sizes[i] != n]
    own_indices = [own for j, own in enumerate(axes[1]) if j not in shared.values()]
    if any(axes[0][i] for i in taken_apart) or any(own_indices):
        raise _ambiguous("get(out_sharding=)` to provide output PartitionSpec for the gather indexing", avals)
    out = [()] * outs[0].ndim
    batch = [d for d in range(len(out)) if d not in numbers.offset_dims]
    for i, j in shared.items():
        out[batch[j]] = axes[0][i] or axes[1][j]
    dropped = (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)
    for i, d in zip([i for i in range(avals[0].ndim) if i not in dropped], numbers.offset_dims):
        out[d] = axes[0][i]
    return [out]


@sharding_type.rule(scatter_p, scatter_add_p, scatter_sub_p, scatter_mul_p, scatter_min_p, scatter_max_p)
def _scatter(name, axes, avals, params, outs):
    """The result lies as the operand, whose split dimensions are whole windows or batching dimensions."""
    numbers, (operand, indices, updates) = params["dimension_numbers"], axes
    batching = numbers.operand_batching_dims
    window = [i for i in range(len(operand)) if i not in numbers.inserted_window_dims and i not in batching]
    windows_agree = all(
        not updates[j] or (operand[i] == updates[j] and avals[0].shape[i] == avals[2].shape[j])
        for i, j in zip(window, numbers.update_window_dims)
    )
    batch = [updates[j] for j in range(len(updates)) if j not in numbers.update_window_dims]  # in the order of indices
    shared = numbers.scatter_indices_batching_dims
    queries = [*(own for j, own in enumerate(indices) if j not in shared)]
    queries += [own for j, own in enumerate(batch) if j not in shared]
    if any(operand[i] for i in numbers.inserted_window_dims) or any(queries) or not windows_agree:
        raise _ambiguous(
            "set/add/mul/...(out_sharding=)` to provide output PartitionSpec for the scatter update", avals
        )
    out = list(operand)
    for i, j in zip(batching, shared):
        out[i] = operand[i] or indices[j] or batch[j]
    return [out]


# ---- linear algebra


def _matrices(*ranks):
    """The rule for stacks of matrices that no axis splits; `ranks`: for each operand those of its last dimensions."""

    def rule(name, axes, avals, params, outs):
        for i, (own, rank) in enumerate(zip(axes, ranks)):
            if any(own[len(own) - rank :]):
                spec = PartitionSpec(*_entries(own))
                raise ShardingTypeError(
                    f"Input {i} to {name} must be unsharded on non-batch dimensions, but got {spec}."
                )
        batches = [own[: len(own) - rank] for own, rank in zip(axes, ranks)]
        if any(batch != batches[0] for batch in batches):
            raise _unequal_batches(name, list(map(_entries, batches)))
        return [[*batches[0], *[()] * (out.ndim - len(batches[0]))] for out in outs]

    return rule


def _unequal_batches(name, found):
    return ShardingTypeError(f"All inputs to {name} must have the same batch sharding, but got {found}.")


sharding_type.rule(
    cholesky_p, eig_p, eigh_p, geqrf_p, hessenberg_p, lu_p, qr_p, schur_p, svd_p, tridiagonal_p
)(_matrices(2))  # fmt: skip
sharding_type.rule(lu_pivots_to_permutation_p)(_matrices(1))
sharding_type.rule(householder_product_p)(_matrices(2, 1))
sharding_type.rule(ormqr_p)(_matrices(2, 1, 2))
sharding_type.rule(symmetric_product_p)(_matrices(2, 2))
sharding_type.rule(tridiagonal_solve_p)(_matrices(1, 1, 1, 2))


@sharding_type.rule(triangular_solve_p)
def _triangular_solve(name, axes, avals, params, outs):
    (*batch, row, column), (*other, right_row, right_column) = axes
    if batch != other:
        raise _unequal_batches(name, " and ".join(str(_entries(b)) for b in (batch, other)))
    left, transposed = params["left_side"], bool(params["transpose_a"])
    summed, kept = (row, column) if left == transposed else (column, row)
    for letter, own, names in (("a", axes[0], summed), ("b", axes[1], right_row if left else right_column)):
        if names:
            raise ShardingTypeError(
                f"triangular solve input `{letter}` must be unsharded on the contracting axis, but got "
                f"{PartitionSpec(*_entries(own))} with left_side={left} and transpose_a={transposed}."
            )
    return [[*batch, *((kept, right_column) if left else (right_row, kept))]]
