"""Propagates shardings through programs: from operands on several devices to results.

One program computes global values; the shardings of its results follow from those of the operands, operation by
operation, as in simple cases of JAX's partitioner: a dimension that goes through an operation keeps its mesh axes; a
dimension that is reduced, indexed or sliced to a size that they do not divide loses them.  `shard_map` and
`with_sharding_constraint` state the shardings of their results.
"""

from onax._control.cond import cond_p
from onax._control.jit_call import jit_p
from onax._control.reducers import reduce_p
from onax._control.scan_rules import scan_p
from onax._control.shard_alike import common_sharding, shard_alike_p
from onax._control.shard_map import shard_map_p
from onax._control.while_loop import while_p
from onax._core.explicit_axes import seen
from onax._core.jaxpr import Literal
from onax._core.meshes import AbstractMesh, PartitionSpec, concrete_mesh
from onax._core.programs import Call, programs
from onax._core.sharding import (
    NamedSharding,
    Sharding,
    divisible_sharding,
    incompatible_devices_error,
    insert_spec_entry,
    is_abstract,
    names_in,
    operand_names,
    over_devices,
    placed_argument,
    with_whole_spec,
    without_trailing_entries,
)
from onax._core.shards import shard_array
from onax._core.slots import Slot
from onax._core.trace import typeof
from onax._ground import dtypes
from onax._native.array import ArrayImpl
from onax._native.avals import ShapedArray
from onax._native.tree import tree_flatten, tree_unflatten
from onax._prims.conv import conv_general_dilated_p
from onax._prims.dot import dot_general_p
from onax._prims.indexing import (
    gather_p,
    scatter_add_p,
    scatter_max_p,
    scatter_min_p,
    scatter_mul_p,
    scatter_p,
    scatter_sub_p,
)
from onax._prims.placement import (
    device_put_p,
    fit_sharding,
    is_of_type_alone,
    keep_automatic,
    keep_unconstrained,
    reshard_p,
    sharding_constraint_p,
    stated_for_result,
    with_axis_types,
)
from onax._prims.random import random_bits_p, random_split_p, random_unwrap_p, random_wrap_p
from onax._prims.reductions import argmax_p, argmin_p
from onax._prims.shaping import broadcast_in_dim_p, reshape_p, squeeze_p, transpose_p
from onax._prims.slicing import concatenate_p, dynamic_slice_p, slice_p
from onax._prims.stacking import stack_p, unstack_p
from onax._transforms.sharding_types import typed_results

# The mesh axes over which a dimension is sharded are a tuple; it is empty for dimensions of a value on one device.
dimension_axes = Slot(
    "dimension_axes",
    "rule(mesh axes of each dimension of each operand, avals, result shape, params) -> mesh axes of each dimension",
    "A reduction drops the dimensions that it reduces; any other result takes the axes of operands of its rank.",
    "onax._compile.devices",
)
eager_dimension_axes = Slot(
    "eager_dimension_axes",
    dimension_axes.signature,
    "The rule in `dimension_axes` holds for eager operations too.",
    "onax._compile.devices",
)
shardings = Slot(
    "sharding",
    "rule(shardings, avals, params) -> [sharding or None for each result]",
    "Shardings follow from the axes of dimensions; those of a call's results follow from its program.",
    "onax._compile.devices",
)


# ---- axes of dimensions


@dimension_axes.rule(transpose_p)
def _transpose(axes, avals, shape, params):
    return [axes[0][i] for i in params["permutation"]]


@dimension_axes.rule(argmax_p, argmin_p)
def _reduce(axes, avals, shape, params):
    return [c for i, c in enumerate(axes[0]) if i not in params["axes"]]


@dimension_axes.rule(squeeze_p)
def _squeeze(axes, avals, shape, params):
    return [c for i, c in enumerate(axes[0]) if i not in params["dimensions"]]


@dimension_axes.rule(broadcast_in_dim_p)
def _broadcast(axes, avals, shape, params):
    out = [()] * len(shape)
    for i, d in enumerate(params["broadcast_dimensions"]):
        out[d] = axes[0][i]
    return out


@dimension_axes.rule(reshape_p)
def _reshape(axes, avals, shape, params):
    """Merged or split dimensions: the first dimension keeps the axes of the first one."""
    out = [()] * len(shape)
    for olds, news in factor_groups(avals[0].shape, shape):
        out[news[0]] = axes[0][olds[0]]
    return out


def factor_groups(old, new):
    """Pairs of (old dimensions, new dimensions) with equal products, as small as possible, each group in order.

    Dimensions of length 1 begin no group of longer ones.
    """
    groups, i, j = [], 0, 0
    while i < len(old) and j < len(new):
        if (old[i] == 1) != (new[j] == 1):
            i, j = i + (old[i] == 1), j + (new[j] == 1)
            continue
        olds, news, m, n = [i], [j], old[i], new[j]
        i, j = i + 1, j + 1
        while m != n:
            if m < n:
                olds, m, i = [*olds, i], m * old[i], i + 1
            else:
                news, n, j = [*news, j], n * new[j], j + 1
        groups.append((olds, news))
    return groups


@dimension_axes.rule(dot_general_p)
def _dot(axes, avals, shape, params):
    (lc, rc), (lb, rb) = params["dimension_numbers"]
    left = [c for i, c in enumerate(axes[0]) if i not in lc and i not in lb]
    right = [c for i, c in enumerate(axes[1]) if i not in rc and i not in rb]
    return [*(axes[0][a] or axes[1][b] for a, b in zip(lb, rb)), *left, *right]


@dimension_axes.rule(conv_general_dilated_p)
def _conv(axes, avals, shape, params):
    """Spatial dimensions keep their axes; the batch has those of the left operand, features those of the kernel."""
    numbers, out = params["dimension_numbers"], [()] * len(shape)
    for i, j in zip(numbers.out_spec, numbers.lhs_spec):
        out[i] = axes[0][j]
    out[numbers.out_spec[1]] = axes[1][numbers.rhs_spec[0]]
    return out


@dimension_axes.rule(reduce_p)
def _reduce_pairs(axes, avals, shape, params):
    return [c for i, c in enumerate(axes[0]) if i not in params["dimensions"]]


@dimension_axes.rule(unstack_p)
def _unstack(axes, avals, shape, params):
    return [c for i, c in enumerate(axes[0]) if i != params["axis"]]


@dimension_axes.rule(stack_p)
def _stack(axes, avals, shape, params):
    merged = _like(axes, avals, avals[0].shape)
    return [*merged[: params["axis"]], (), *merged[params["axis"] :]]


@dimension_axes.rule(gather_p)
def _gather(axes, avals, shape, params):
    """Dimensions with full slices keep their axes, and so do those of the indices."""
    numbers, old = params["dimension_numbers"], avals[0].shape
    dropped = (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)
    out = [()] * len(shape)
    batch = [d for d in range(len(shape)) if d not in numbers.offset_dims]
    for d, own in zip(batch, axes[1]):
        out[d] = own
    for i, j in zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims):
        out[batch[j]] = out[batch[j]] or axes[0][i]
    for i, d in zip(numbers.offset_dims, [d for d in range(len(old)) if d not in dropped]):
        if shape[i] == old[d]:
            out[i] = axes[0][d]
    return out


@dimension_axes.rule(scatter_p, scatter_add_p, scatter_sub_p, scatter_mul_p, scatter_min_p, scatter_max_p)
def _scatter(axes, avals, shape, params):
    """The result lies as the values that are updated; a split batch, or split windows, of updates split it too."""
    numbers, out = params["dimension_numbers"], list(axes[0])
    for i, j in zip(numbers.operand_batching_dims, numbers.scatter_indices_batching_dims):
        out[i] = out[i] or axes[1][j]
    dropped = (*numbers.inserted_window_dims, *numbers.operand_batching_dims)
    for i, d in zip([i for i in range(len(shape)) if i not in dropped], numbers.update_window_dims):
        if avals[2].shape[d] == shape[i]:
            out[i] = out[i] or axes[2][d]
    return out


@dimension_axes.rule(random_bits_p, random_split_p, random_unwrap_p)
def _of_keys(axes, avals, shape, params):
    """What each key gives has its dimensions behind those of the keys."""
    return [*axes[0], *[()] * (len(shape) - avals[0].ndim)]


@dimension_axes.rule(random_wrap_p)
def _to_keys(axes, avals, shape, params):
    return axes[0][: len(shape)]


@eager_dimension_axes.rule(slice_p, dynamic_slice_p)
def _slice(axes, avals, shape, params):
    """Dimensions of unchanged size keep their axes."""
    return [c if m == n else () for c, m, n in zip(axes[0], avals[0].shape, shape)]


def _like(axes, avals, shape):
    """The axes of each dimension, from the first operand of this rank that is sharded there."""
    out = [()] * len(shape)
    for own, aval in zip(axes, avals):
        if aval.ndim == len(shape):
            out = [a or b for a, b in zip(out, own)]
    return out


def _default_rule(params, avals, shape):
    """The rule of a primitive without a rule: a reduction, or an operation that keeps the dimensions."""
    reduces = "axes" in params and len(avals) == 1 and avals[0].ndim == len(shape) + len(params["axes"])
    return _reduce if reduces else _keep_dimensions


def _keep_dimensions(axes, avals, shape, params):
    """Operations whose results have the dimensions of their operands: elementwise, sorting, slicing, scans."""
    return _like(axes, avals, shape)


# ---- shardings


@shardings.rule(shard_map_p)
def _shard_map(given, avals, params):
    """Results have the stated shardings, and those over the axes that are not manual which the body gives them."""
    mesh, manual = params["mesh"], params["newly_manual_axes"]
    stated = [NamedSharding(mesh, spec) for spec in params["out_specs"]]
    if manual.issuperset(mesh.axis_names):
        return stated
    within = propagate(params["jaxpr"], [_beside(s, mesh, manual, spec) for s, spec in zip(given, params["in_specs"])])
    return [_joined(s, _beside(own, mesh, manual)) for s, own in zip(stated, within)]


def _beside(sharding, mesh, manual, spec=()):
    """A sharding over the axes of the mesh that are not manual, in dimensions that `spec` leaves whole; None without
    any."""
    if sharding is None or sharding.mesh.axis_names != mesh.axis_names:
        return None
    entries = [tuple(a for a in names_in(entry) if a not in manual) for entry in sharding.spec]
    entries = [() if i < len(spec) and names_in(spec[i]) else own for i, own in enumerate(entries)]
    return NamedSharding(mesh, PartitionSpec(*entries)) if any(entries) else None


def _joined(stated, own):
    """A stated sharding, of which each dimension has the axes of another sharding too."""
    if own is None:
        return stated
    n = max(len(stated.spec), len(own.spec))
    pairs = zip(_axes(stated, n), _axes(own, n))
    return stated.update(spec=PartitionSpec(*((*outer, *inner) for outer, inner in pairs)))


@shardings.rule(reshard_p)
def _reshard(given, avals, params):
    return _where_stated(given, avals, params, keep_automatic)


def _where_stated(given, avals, params, kept=lambda sharding, own, ndim: sharding):
    """The sharding that an equation states; `kept` adds what the value keeps of its own."""
    stated, own = params["sharding"], given[0]
    unconstrained, ndim = params["unconstrained_dims"], avals[0].ndim
    if is_of_type_alone(stated, unconstrained, ndim):
        return [None if own is None else with_axis_types(own, stated)]
    if is_abstract(stated):
        mesh = concrete_mesh() if own is None else own.mesh
        if mesh.empty:
            return [None]
        stated = over_devices(stated, mesh)
    stated = kept(keep_unconstrained(stated, own, unconstrained, ndim), own, ndim)
    return [_as_named(fit_sharding(stated, avals[0].shape))]


@shardings.rule(sharding_constraint_p)
def _sharding_constraint(given, avals, params):
    (found,) = _where_stated(given, avals, params)
    return [None if found is None else fit_sharding(_with_explicit_axes(found, avals[0]), avals[0].shape)]


def _with_explicit_axes(sharding, aval):
    """A sharding over automatic axes beside the explicit axes by which the type of a value says that it is split."""
    own = aval.stated_sharding
    if own is None or sharding.mesh.are_all_axes_explicit:
        return sharding
    given = [*map(names_in, sharding.spec), *[()] * (aval.ndim - len(sharding.spec))]
    entries = [(*(a for a in names_in(e) if a not in more), *more) for e, more in zip(own.spec, given, strict=True)]
    return sharding.update(spec=PartitionSpec(*entries))


@shardings.rule(device_put_p)
def _device_put(given, avals, params):
    return [_put_sharding(d, s, a) for d, s, a in zip(params["devices"], given, avals)]


def _put_sharding(stated, own, aval):
    """The sharding of a value that `device_put` moves inside a program.

    Over automatic axes it stays as it is, or is replicated over the devices of the mesh, as in JAX.
    """
    if isinstance(stated, NamedSharding) and stated.mesh.explicit_axes:
        return with_whole_spec(stated, aval.ndim)
    lies = own or _replicated(stated)
    return lies.with_memory_kind(stated.memory_kind) if lies and isinstance(stated, Sharding) else lies


@shardings.rule(shard_alike_p)
def _shard_alike(given, avals, params):
    return [common_sharding(given)] * 2


@shardings.rule(jit_p)
def _jit(given, avals, params):
    return _propagate_through_call(params["jaxpr"], given, params["in_shardings"], params["out_shardings"])


@shardings.rule(scan_p)
def _scan(given, avals, params):
    """The carry has the shardings that steps give it; stacked results get a leading dimension without axes."""
    n, m, body = params["num_consts"], params["num_carry"], params["jaxpr"]
    xs = [None if s is None else NamedSharding(s.mesh, PartitionSpec(*s.spec[1:])) for s in given[n + m :]]
    step = lambda carry: propagate(body, [*given[:n], *carry, *xs])
    carry = fixed_point(list(given[n : n + m]), lambda carry: step(carry)[:m])
    return [*carry, *(without_trailing_entries(insert_spec_entry(s, 0, None)) for s in step(carry)[m:])]


_ROUNDS = 4  # an axis that a step removes or adds has gone through all of a usual carry by then


def fixed_point(carry, step):
    """What a carry becomes when `step(carry) -> carry` no longer changes it, or what it is after some rounds."""
    for _ in range(_ROUNDS):
        new = list(step(carry))
        if new == carry:
            break
        carry = new
    return carry


@shardings.rule(while_p)
def _while(given, avals, params):
    given, m = given[params["cond_nconsts"] :], params["body_nconsts"]
    return fixed_point(list(given[m:]), lambda carry: propagate(params["body_jaxpr"], [*given[:m], *carry]))


@shardings.rule(cond_p)
def _cond(given, avals, params):
    each = [propagate(branch, given[1:]) for branch in params["branches"]]
    return [next((s for s in column if s is not None), None) for column in zip(*each)]


def _as_named(sharding):
    return sharding if isinstance(sharding, NamedSharding) else None


def _replicated(sharding):
    """`device_put` inside a program replicates a value over all devices of a mesh, as in JAX."""
    named = _as_named(sharding)
    return None if named is None else NamedSharding(named.mesh, PartitionSpec())


def _axes(sharding, ndim):
    """The axes of each dimension of a value."""
    if sharding is None:
        return [()] * ndim
    entries = [names_in(entry) for entry in sharding.spec]
    return entries + [()] * (ndim - len(entries))


def _shardings_of_operation(primitive, given, avals, params, out_avals, eager=False):
    """For each result of an operation its sharding, or None; `given` are those of the operands, or None."""
    rule = shardings.get(primitive)
    if rule is not None:
        return rule(given, avals, params)
    description = programs.get(primitive)
    if type(description) is Call:
        return propagate(params[description.parameter], given)
    mesh = next((s.mesh for s in given if s is not None), None)
    stated = stated_for_result(params)
    if stated is not None and (mesh is None or not stated.mesh.auto_axes):
        return [_stated(stated, mesh, a.ndim) for a in out_avals]
    if mesh is None or not out_avals:
        return [None] * len(out_avals)
    axes = [_axes(s if s is not None and s.mesh == mesh else None, a.ndim) for s, a in zip(given, avals)]
    rule = eager_dimension_axes.get(primitive) if eager else None
    rule = rule or dimension_axes.get(primitive) or _default_rule(params, avals, out_avals[0].shape)
    found = [divisible_sharding(mesh, rule(axes, avals, a.shape, params), a.shape) for a in out_avals]
    if stated is None:
        return found
    return [keep_automatic(_stated(stated, mesh, a.ndim), own, a.ndim) for a, own in zip(out_avals, found)]


def _stated(sharding, mesh, ndim):
    """The sharding that an operation states, over the devices of the operands' mesh or of that in context."""
    if isinstance(sharding.mesh, AbstractMesh):
        mesh = concrete_mesh() if mesh is None else mesh
        if mesh.empty:
            return None
        sharding = over_devices(sharding, mesh)
    return with_whole_spec(sharding, ndim)


def _propagate_through_call(jaxpr, given, in_shardings, out_shardings):
    """The shardings of the results of a call; those that the call states have precedence."""
    if in_shardings:
        given = [_as_named(stated) or s for stated, s in zip(in_shardings, given)]
    shardings = propagate(jaxpr, given)
    if seen.explicit_axes:
        mesh = next((s.mesh for s in (*given, *shardings) if s is not None), None)
        shardings = [
            _of_type(v.aval, mesh) or with_whole_spec(s, v.aval.ndim) for v, s in zip(jaxpr.outvars, shardings)
        ]
    out_avals = [v.aval for v in jaxpr.outvars]
    shardings = _as_written(shardings, out_avals, given, [v.aval for v in jaxpr.invars])
    shardings = [_with_all_entries(s, a) for s, a in zip(shardings, out_avals)]
    if out_shardings:
        shardings = [_as_named(stated) or s for stated, s in zip(out_shardings, shardings)]
    return shardings


def _as_written(shardings, avals, given, in_avals):
    """The shardings of results; one that is equivalent to that of the first sharded argument, of equal rank, is this
    one, whose spec may be written with Nones at its end."""
    shardings = list(map(_without_unit_axes, shardings))
    first, ndim = next(((s, a.ndim) for s, a in zip(given, in_avals) if s is not None), (None, 0))
    if first is None or first.mesh.explicit_axes:
        return shardings
    return [
        first if s is not None and a.ndim == ndim and s.mesh == first.mesh and s.is_equivalent_to(first, ndim) else s
        for s, a in zip(shardings, avals)
    ]


def _with_all_entries(sharding, aval, has=dtypes.is_extended):
    """The sharding of a result; that of keys has an entry for each dimension, as in JAX."""
    if sharding is None or not has(getattr(aval, "dtype", None)) or len(sharding.spec) >= aval.ndim:
        return sharding
    return sharding.update(spec=sharding.spec + (None,) * (aval.ndim - len(sharding.spec)))


def _without_unit_axes(sharding):
    """A sharding over automatic axes that was found, without axes of size 1 and Nones at its end, as in JAX."""
    if sharding is None or not sharding.mesh.are_all_axes_auto:
        return sharding
    sizes = sharding.mesh.shape
    entries = [tuple(a for a in names_in(entry) if sizes[a] > 1) for entry in sharding.spec]
    return without_trailing_entries(sharding.update(spec=sharding.spec.update(partitions=entries)))


def _of_type(aval, mesh):
    """The sharding that a type states, over the devices of a mesh if all of its axes are explicit; else None."""
    stated = aval.stated_sharding if type(aval) is ShapedArray else None
    if stated is None or mesh is None or not mesh.are_all_axes_explicit or mesh.abstract_mesh != stated.mesh:
        return None
    return NamedSharding(mesh, stated.spec)


def propagate(jaxpr, given):
    """For each result of a program its sharding, or None; `given` are those of its arguments, or None."""
    key = ("shardings", tuple(given))
    if key not in jaxpr.cache:
        found = shardings_of_variables(jaxpr, given)
        jaxpr.cache[key] = [None if type(atom) is Literal else found.get(atom) for atom in jaxpr.outvars]
    return jaxpr.cache[key]


def shardings_of_variables(jaxpr, given):
    """{variable: its sharding, or None} for the arguments of a program and the results of its equations."""
    env, parts = dict(zip(jaxpr.invars, given)), {}
    read = lambda atom: None if type(atom) is Literal else env.get(atom)
    for eqn in jaxpr.eqns:
        if eqn.primitive is slice_p and (part := sliced_part(eqn, eqn.invars[0])) is not None:
            parts[eqn.outvars[0]] = part
        elif eqn.primitive is concatenate_p:
            found = rotation([parts.get(atom) for atom in eqn.invars if type(atom) is not Literal], eqn)
            if found is not None:
                env[eqn.outvars[0]] = read(found[0])
                continue
        avals, out_avals = [a.aval for a in eqn.invars], [v.aval for v in eqn.outvars]
        operands = list(map(read, eqn.invars))
        shardings = _shardings_of_operation(eqn.primitive, operands, avals, eqn.params, out_avals)
        env.update(zip(eqn.outvars, shardings))
    return env


def sliced_part(eqn, value):
    """(the value, the dimension, the first position) of a slice along one dimension; None if it is another slice."""
    (x,), (out,), params = eqn.invars, eqn.outvars, eqn.params
    changed = [i for i, (m, n) in enumerate(zip(x.aval.shape, out.aval.shape)) if m != n]
    if len(changed) != 1 or (params["strides"] or (1,) * x.aval.ndim)[changed[0]] != 1:
        return None
    return value, changed[0], params["start_indices"][changed[0]]


def rotation(parts, eqn):
    """(a value, how far its elements move) for a concatenation of its two parts, the last one first, as `jnp.roll`
    makes it; `parts` is what `sliced_part` says of the operands.  None for any other concatenation."""
    if len(parts) != 2 or len(eqn.invars) != 2 or None in parts:
        return None
    (x, i, start), (y, j, first), dim = *parts, eqn.params["dimension"]
    last, rest = (atom.aval.shape[dim] for atom in eqn.invars)
    is_whole = first == 0 and start == rest and last + rest == x.aval.shape[dim]
    return (x, last) if x is y and i == j == dim and is_whole else None


# ---- values


def sharding_of(x):
    """The sharding of a value on several devices, or that which a value will have; else None."""
    if isinstance(x, NamedSharding):
        return x
    sharding = x.sharding if getattr(x, "_shards", None) is not None else None
    return sharding if isinstance(sharding, NamedSharding) else None


def first_device_of(leaves):
    """The first device of the first value on several devices; None if there is none."""
    sharding = next((s for s in map(sharding_of, leaves) if s is not None), None)
    return None if sharding is None else sharding.mesh.devices.flat[0]


def shardings_of_results(jaxpr, leaves, in_shardings=(), out_shardings=()):
    """For each result of a compiled program its sharding; None if everything is on one device.

    `leaves` are the arguments, or the NamedShardings that they will have.
    """
    shardings = _propagate_through_call(jaxpr, list(map(sharding_of, leaves)), in_shardings, out_shardings)
    meshes = (s.mesh for s in (*shardings, *map(sharding_of, leaves)) if s is not None)
    mesh = next(meshes, None)
    if mesh is None:
        return None
    whole = NamedSharding(mesh, PartitionSpec())
    return [
        with_whole_spec(whole, getattr(v.aval, "ndim", 0)) if s is None else s for v, s in zip(jaxpr.outvars, shardings)
    ]


def place(results, shardings):
    """Moves flat results to the devices of their shardings."""
    return [shard_array(x, s) for x, s in zip(results, shardings)]


def place_tree(result, shardings):
    """Moves a tree of results to the devices of their shardings."""
    leaves, tree = tree_flatten(result)
    return tree_unflatten(tree, place(leaves, shardings))


def place_eager_result(primitive, operands, params, out):
    """The result of an eager operation, of whose operands some are on several devices, with its sharding."""
    outs = out if primitive.multiple_results else [out]
    check_devices(primitive, operands)
    avals, out_avals = [typeof(x) for x in operands], [typeof(x) for x in outs]
    given = list(map(sharding_of, operands))
    typed = typed_results(primitive, avals, out_avals if primitive.multiple_results else out_avals[0], params)
    mesh = next((s.mesh for s in given if s is not None), None)
    shardings = [_of_type(a, mesh) for a in (typed if primitive.multiple_results else [typed])]
    if not any(shardings):
        found = _shardings_of_operation(primitive, given, avals, params, out_avals, eager=True)
        shardings = [with_whole_spec(s, a.ndim) for s, a in zip(found, out_avals)]
        shardings = _as_written(shardings, out_avals, given, avals)
        has = (lambda dtype: True) if primitive is random_unwrap_p else dtypes.is_extended
        shardings = [_with_all_entries(s, a, has) for s, a in zip(shardings, out_avals)]
    placed = [x if s is None else shard_array(x, s) for x, s in zip(outs, shardings)]
    return placed if primitive.multiple_results else placed[0]


def check_devices(primitive, operands):
    """Raises ValueError for an operand committed to another device than those of the sharded operands."""
    first = next((i for i, x in enumerate(operands) if sharding_of(x) is not None), None)
    for i, x in enumerate(operands if first is not None else ()):  # None: a sharding that is not over a mesh
        if type(x) is ArrayImpl and x._committed and _devices_of(x) != _devices_of(operands[first]):
            both, names = sorted((first, i)), operand_names(operands)
            raise incompatible_devices_error(*(placed_argument(operands, k, primitive.name, names) for k in both))


def _devices_of(x):
    """The devices of an array, in their order."""
    return x.sharding._ordered_devices() if isinstance(x.sharding, Sharding) else tuple(x.devices())
