"""The arguments of `shard_map`: the mesh, and the specs of its function's arguments and results."""

import math

import numpy as np

from onax._core.axes import staged_for_mesh
from onax._core.hitypes import HiPspec
from onax._core.meshes import (
    AbstractMesh,
    AxisType,
    Mesh,
    PartitionSpec,
    get_abstract_mesh,
    mesh_of_specs,
)
from onax._core.paths import broadcast_prefix, prefix_errors, skeleton
from onax._core.sharding import NamedSharding, names_in
from onax._core.trace import as_array, find_cur_trace, typeof, valid_jaxtype
from onax._ground.config import config
from onax._ground.devices import devices
from onax._native.array import ArrayImpl
from onax._native.tree import tree_leaves
from onax._transforms.flatten import argument_names, fun_name, fun_signature

REPLICATED = PartitionSpec()


class _Infer:
    """Stands for in_specs that are inferred from the shardings of the arguments."""

    __slots__ = ()

    def __repr__(self):
        return "Infer"


Infer = _Infer()
INFER_AXES = _Infer()  # the same for the axes of `smap`


def check_inferred(in_specs, mesh, manual):
    """Raises TypeError if specs are to be inferred over axes that types do not show."""
    types = [t for a, t in zip(mesh.axis_names, mesh.axis_types) if a in manual]
    if not isinstance(in_specs, _Infer) or all(t is AxisType.Explicit for t in types):
        return
    shown = ", ".join(map(str, types))
    if in_specs is INFER_AXES:
        raise TypeError(f"in_axes was not specified when axis_name={manual} was of type {shown}")
    raise TypeError(
        "shard_map in_specs argument must be a pytree of `jax.sharding.PartitionSpec` instances, but it was `None` "
        f"when axis_names={manual} are of type {shown}"
    )


def mesh_for(mesh, leaves):
    """The Mesh of a call, given its argument `mesh`: that in context, or of the arguments, for an AbstractMesh."""
    context = get_abstract_mesh()
    if mesh is None:
        mesh = mesh_of_specs()
        if mesh.empty:
            raise ValueError("The context mesh cannot be empty. Use `jax.set_mesh(mesh)` to enter into a mesh context")
    elif isinstance(mesh, (Mesh, AbstractMesh)) and not context.empty and mesh.abstract_mesh != context:
        raise ValueError(f"The context mesh {context} should match the mesh passed to shard_map {mesh}")
    if not isinstance(mesh, (Mesh, AbstractMesh)):
        raise TypeError(
            "shard_map requires a `jax.sharding.Mesh` or a `jax.sharding.AbstractMesh` instance for its second "
            f"argument, but got {mesh} of type {type(mesh)}."
        )
    if mesh.empty:
        raise ValueError(f"shard_map requires a non-empty mesh. Got {mesh}")
    if not isinstance(mesh, AbstractMesh):
        return mesh
    concrete = mesh_of_specs()
    if isinstance(concrete, Mesh) and not concrete.empty and mesh in (concrete.abstract_mesh, get_abstract_mesh()):
        return concrete
    shardings = [x.sharding for x in leaves if isinstance(x, ArrayImpl)]
    meshes = [sharding.mesh for sharding in shardings if isinstance(sharding, NamedSharding)]
    for other in meshes:
        if other.shape_tuple != mesh.shape_tuple:
            raise ValueError(
                f"Mesh shape of the input {other.shape_tuple} does not match the mesh shape passed to shard_map  "
                f"{mesh.shape_tuple}"
            )
    if meshes:
        return meshes[0]
    known = staged_for_mesh()
    if known is not None and known.abstract_mesh == mesh:
        return known
    if find_cur_trace().staging and mesh.size <= len(devices()):  # the devices of the arguments are not known yet
        return Mesh(np.array(devices()[: mesh.size]).reshape(mesh.axis_sizes), mesh.axis_names, mesh.axis_types)
    raise ValueError(
        "Please pass `jax.Array`s with a `NamedSharding` as input to `shard_map` when passing `AbstractMesh` to the "
        f"mesh argument, or set a mesh of devices: there is none here for {mesh}"
    )


def axes_of_specs(specs):
    """The mesh axes that a tree of specs names."""
    is_spec = lambda x: isinstance(x, PartitionSpec)
    return {a for spec in tree_leaves(specs, is_leaf=is_spec) if is_spec(spec) for part in spec for a in names_in(part)}


def check_spread(axis_data, in_specs, out_specs):
    """Raises ValueError for specs that name axes over which the axis that `vmap` maps is sharded."""
    if config.jax_disable_vmap_shmap_error:
        return
    spread, title = axis_data.spmd_name, "vmap spmd_axis_name"
    if spread is None:
        spread, title = axis_data.explicit_mesh_axis, "vmapped away explicit mesh axis"
    for name, specs in (("in_specs", in_specs), ("out_specs", out_specs)):
        if not axes_of_specs(specs).isdisjoint(names_in(spread)):
            raise ValueError(f"{title} cannot appear in shard_map {name}")


def specs_of_arrays(spec):
    """The specs of the arrays of which a value consists."""
    return list(spec.to_lo()) if isinstance(spec, HiPspec) else [spec]


def _check_partial_sums(name, spec, mesh, manual):
    """Raises an error for a spec with unreduced or reduced axes where some axes are not manual, or not explicit."""
    if not (spec.unreduced or spec.reduced):
        return
    if manual != frozenset(mesh.axis_names):
        raise NotImplementedError(
            f"unreduced/reduced can only be passed to {name} when shard_map is in full manual mode. Got mesh axis "
            f"names {mesh.axis_names}, manual_axes: {manual}, specs: {spec}"
        )
    for kind, axes in (("unreduced", spec.unreduced), ("reduced", spec.reduced)):
        if not axes.issubset(mesh.explicit_axes):
            raise ValueError(
                f"{kind} in {name} {spec} can only be used when the mesh passed to shard_map contains axis names all "
                f"of type `Explicit`. Got mesh {mesh}"
            )


def _check_spec(name, spec, mesh, manual):
    if isinstance(spec, HiPspec):
        return
    if not isinstance(spec, PartitionSpec):
        raise TypeError(
            f"shard_map {name} argument must be a pytree of `jax.sharding.PartitionSpec` instances, but:\n\n"
            f"  a leaf of {name} is {spec!r} of type {type(spec).__name__}"
        )
    _check_partial_sums(name, spec, mesh, manual)
    for entry in spec:
        for axis in names_in(entry):
            if axis not in manual:
                raise ValueError(
                    f"shard_map {name} argument must refer to an axis marked as manual ({manual}), but:\n\n"
                    f"  {name} refers to {axis!r}\n\nCheck the {name} values passed to shard_map."
                )


def _broadcast_specs(name, specs, full):
    """One spec for each leaf of `full`, or None."""
    return broadcast_prefix_as(f"shard_map {name}", specs, full)


def broadcast_prefix_as(name, specs, full):
    """For each leaf of `full` the spec at its prefix; raises ValueError, which names `name`, if there is none."""
    is_leaf = lambda x: x is None or isinstance(x, PartitionSpec)
    for error in prefix_errors(specs, full, is_leaf):
        raise error(name)
    return broadcast_prefix(specs, full, is_leaf)


def specs_of_arguments(f, in_specs, mesh, manual, args):
    """(specs, leaves of the arguments): with None for a leaf that the function gets as it is, of any type."""
    leaves = tree_leaves(args)
    if isinstance(in_specs, _Infer):
        return [_stated_spec(x, mesh, manual) for x in map(_checked, leaves)], list(map(as_array, leaves))
    specs = _broadcast_specs("in_specs", in_specs, args)
    leaves = [x if spec is None else as_array(_checked(x)) for x, spec in zip(leaves, specs)]
    for spec in specs:
        if spec is not None:
            _check_spec("in_specs", spec, mesh, manual)
    names = argument_names(fun_signature(f), args, {})
    for i, (x, spec) in enumerate(zip(leaves, specs)):
        if spec is not None:
            _check_argument(f, names[i] if i < len(names) else f"args[{i}]", x, spec, mesh)
    return specs, leaves


def _checked(x):
    if not valid_jaxtype(x):
        raise TypeError(f"Argument '{x}' of type {type(x)} is not a valid JAX type")
    return x


def _stated_spec(x, mesh, manual):
    """The spec over manual axes of the mesh that an array has, or the type of a traced value states."""
    sharding = x.sharding if isinstance(x, ArrayImpl) else typeof(x).stated_sharding
    if not isinstance(sharding, NamedSharding):
        return REPLICATED
    own, other = (m if isinstance(m, AbstractMesh) else m.abstract_mesh for m in (sharding.mesh, mesh))
    same = sharding.mesh == mesh or (isinstance(sharding.mesh, AbstractMesh) and own == other)
    return _restricted(sharding.spec, manual) if same else REPLICATED


def _restricted(spec, manual):
    """A spec without the axes that are not manual."""
    if axes_of_specs(spec) <= manual:
        return spec
    return spec.update(partitions=[tuple(a for a in names_in(entry) if a in manual) or None for entry in spec])


def _check_argument(f, name, x, spec, mesh):
    if isinstance(spec, HiPspec):
        return
    aval = typeof(x)
    if len(spec) > aval.ndim:
        raise ValueError(
            f"shard_map applied to the function '{fun_name(f)}' was given an in_specs entry which is too long to be "
            f"compatible with the corresponding input value from the function:\n\nin_specs is {spec} which has length "
            f"{len(spec)}, but the argument {name} has shape {aval.str_short()}, which has rank {aval.ndim} (and "
            f"{aval.ndim} < {len(spec)}){_way_out('in', aval)}"
        )
    for i, entry in enumerate(spec):
        count = math.prod(mesh.shape[a] for a in names_in(entry))
        if aval.shape[i] % count:
            axes = " and ".join(f"{a!r} (of size {mesh.shape[a]})" for a in names_in(entry))
            raise ValueError(
                f"shard_map applied to the function '{fun_name(f)}' was given argument arrays with axis sizes that are "
                "not evenly divisible by the corresponding mesh axis sizes:\n\nThe mesh given has shape "
                f"{tuple(mesh.axis_sizes)} with corresponding axis names {tuple(mesh.axis_names)}.\n\nThe argument "
                f"{name} of shape {aval.str_short()} has in_specs {spec}, which maps array axis {i} (of size "
                f"{aval.shape[i]}) to mesh axis {axes}, but {count} does not evenly divide {aval.shape[i]}"
            )


def _way_out(side, aval):
    """What to do about a spec that is longer than the rank of an argument (`in`) or result (`out`)."""
    if aval.ndim:
        return f"\n\nA spec in {side}_specs has at most one entry for each axis."
    return f"\n\nFor scalar values (rank 0), consider using an {side}_specs entry of `P()`."


def specs_of_results(f, out_specs, mesh, manual, tree, avals):
    """The specs of a function's results, whose shards have these types."""
    specs = _broadcast_specs("out_specs", out_specs, skeleton(tree))
    specs = [REPLICATED if spec is None else spec for spec in specs]
    for spec, aval in zip(specs, avals):
        _check_spec("out_specs", spec, mesh, manual)
        if not isinstance(spec, HiPspec) and len(spec) > aval.ndim:
            raise ValueError(
                f"shard_map applied to the function '{fun_name(f)}' was given an out_specs entry which is too long to "
                f"be compatible with the corresponding output value from the function:\n\nout_specs is {spec} which "
                f"has length {len(spec)}, but the output has shape {aval.str_short()}, which has rank {aval.ndim} (and "
                f"{aval.ndim} < {len(spec)}){_way_out('out', aval)}"
            )
    return specs
