"""Where values lie, stated inside a program: with_sharding_constraint, reshard."""

from typing import Any

import numpy as np

from onax._core.axes import manual_axes
from onax._core.explicit_axes import explicit_sharding
from onax._core.layout import Format, Layout
from onax._core.meshes import AbstractMesh, AxisType, PartitionSpec, concrete_mesh, mesh_of_specs
from onax._core.sharding import (
    NamedSharding,
    Sharding,
    SingleDeviceSharding,
    check_rank,
    incompatible_devices_error,
    is_abstract,
    names_in,
    over_devices,
    placed_argument,
    resolve_spec,
    with_whole_spec,
)
from onax._core.trace import Tracer, as_array, find_cur_trace, typeof
from onax._ground.typing import PyTree
from onax._native.array import Array
from onax._native.tree import tree_flatten, tree_unflatten
from onax._prims.placement import check_explicit_axes, constrain, over_context_mesh, sharding_constraint_p
from onax._transforms.transfer import broadcast_devices, device_put
from onax._transforms.varying_types import varying_axes

_NEEDS_MESH = (
    "{} requires a non-empty mesh in context if you are passing `PartitionSpec`s to shardings. You can define a "
    "context mesh via `jax.set_mesh(mesh)`. Alternatively, provide `Sharding`s to shardings and then the mesh context "
    "manager is not required."
)


def with_sharding_constraint(x: PyTree, shardings: Any) -> Any:
    """Returns arrays laid out as shardings say.

    Args:
      x: tree of arrays.
      shardings: a sharding, PartitionSpec or Format, or a tree of them that is a prefix of `x`; None leaves arrays as
        they are where a mesh is in context.

    Returns:
      Tree of the structure of `x`.

    Raises:
      RuntimeError: there is a PartitionSpec, but no mesh in context.
      TypeError: a value is no sharding; a sharding is over an AbstractMesh, but its array over no mesh.
      ValueError: a sharding does not fit its array, or names axes of the mesh that are not automatic.
      NotImplementedError: a Format whose layout is not row-major.
      AssertionError: all axes of the mesh in context are explicit, and the array's type says another sharding.

    Examples:
      >>> lax.with_sharding_constraint(jnp.ones(2), onax.sharding.SingleDeviceSharding(onax.devices()[0]))
      Array([1., 1.], dtype=float32)
    """
    for sharding in tree_flatten(shardings, is_leaf=lambda p: p is None)[0]:
        if sharding is not None and not isinstance(sharding, (PartitionSpec, Sharding, Format)):
            raise TypeError(
                "shardings leaf specifications are expected to be PartitionSpec instances or None, but got "
                f"{sharding!r}\nThey are the second argument of with_sharding_constraint."
            )
    leaves, tree = tree_flatten(x)
    targets = broadcast_devices(shardings, tree, "with_sharding_constraint shardings")
    if any(p is None for p in targets) and mesh_of_specs().empty:
        raise ValueError(
            "One of with_sharding_constraint arguments got sharding None which is not allowed without a mesh in "
            "context. Please only pass `jax.sharding.Sharding` instances."
        )
    return tree_unflatten(tree, [_constrain(leaf, sharding) for leaf, sharding in zip(leaves, targets)])


def _constrain(x, target):
    if target is None:
        return x
    if isinstance(target, Format):
        if isinstance(target.layout, Layout):
            target.layout.check_row_major(range(np.ndim(x)))
        target = target.sharding
    is_spec = isinstance(target, PartitionSpec)
    if not is_abstract(target):
        target = resolve_spec(target, RuntimeError, _NEEDS_MESH.format("with_sharding_constraint"))
    elif target.mesh.empty:
        raise ValueError(f"got an empty NamedSharding: {target} which is not allowed.")
    if not isinstance(target, Sharding):
        raise ValueError(f"reshard takes shardings and PartitionSpecs, got {target!r}")
    given, x = x, as_array(x)
    check_rank(target, x.ndim, "with_sharding_constraint arguments")
    if not isinstance(x, Tracer):
        target = _over_mesh_of(given, x, target) if is_abstract(target) else target
        target.shard_shape(x.shape)  # raises IndivisibleError
        _check_devices(x, target)
    if isinstance(target, NamedSharding) and not target.mesh.empty:
        if mesh_of_specs().are_all_axes_explicit and not mesh_of_specs().empty:
            _check_sharding(x, target)
            if typeof(x).stated_sharding is not None:
                return x  # it lies there
        else:
            if not is_spec:
                _check_manual_axes(x, target)
            _check_auto_axes(target)
    return constrain(x, target, primitive=sharding_constraint_p)


def _over_mesh_of(given, x, target):
    """A sharding over an AbstractMesh as one over the mesh of the array that gets it, or of NumPy's over that in
    context.

    Raises ValueError or TypeError for a value without a mesh, or with another one.
    """
    if not isinstance(given, Array):
        mesh = concrete_mesh()
        if mesh.empty:
            raise ValueError(
                "Target sharding contains a `jax.sharding.AbstractMesh` which requires the input passed should be a "
                f"`jax.Array`. Got {type(given)} with shape {x.aval.str_short()}"
            )
        return over_devices(target, mesh)
    if not isinstance(x.sharding, NamedSharding):
        raise TypeError(
            "The sharding on the input must be a `NamedSharding` since the target sharding has an `AbstractMesh` in "
            f"it. Got sharding type {type(x.sharding)} for shape {x.aval.str_short()}"
        )
    if x.sharding.mesh.shape_tuple != target.mesh.shape_tuple:
        raise ValueError(
            f"Mesh shape of the input {x.sharding.mesh.shape_tuple} does not match the mesh shape of the target "
            f"sharding {target.mesh.shape_tuple} for shape {x.aval.str_short()}"
        )
    return NamedSharding(x.sharding.mesh, target.spec)


def _check_devices(x, target):
    """Raises ValueError where an array is committed to other devices, or to these in another order."""
    if not x.committed:
        return
    stated = target._ordered_devices()
    if x.sharding._ordered_devices() != stated:
        given = placed_argument([x], 0, "with_sharding_constraint", "x")
        raise incompatible_devices_error(given, ("explicit output sharding", stated))


def _check_auto_axes(target):
    """Raises ValueError for a constraint over axes that are not automatic."""
    mesh = target.mesh.abstract_mesh.update_axis_types(
        {a: AxisType.Manual for a in target.mesh.axis_names if a in manual_axes()}
    )
    kinds = dict(zip(mesh.axis_names, mesh.axis_types))
    if any(kinds[name] is not AxisType.Auto for entry in target.spec for name in names_in(entry)):
        raise ValueError(
            "The spec of NamedSharding passed to with_sharding_constraint can only refer to Auto axes of the mesh. "
            f"Got spec={target.spec} and mesh={mesh}. You probably meant to use `reshard` API?"
        )


def _check_manual_axes(x, target):
    """Raises ValueError where a sharding over a mesh of its own does not know of the axes of an enclosing shard_map."""
    kinds = dict(zip(target.mesh.axis_names, target.mesh.axis_types))
    for axis in target.mesh.axis_names:
        if axis in varying_axes(typeof(x)) and kinds[axis] is not AxisType.Manual:
            raise ValueError(
                "Axes mentioned in `manual_axis_type` field of ShapedArray should be of type `Manual`. Got a value of "
                f"type {typeof(x).str_short()} with axis: {axis} of type {kinds[axis]}. State a PartitionSpec instead "
                "of a NamedSharding."
            )
    named = {name for entry in target.spec for name in names_in(entry)}
    manual = tuple(a for a in target.mesh.axis_names if a in manual_axes())
    if not named.isdisjoint(manual):
        raise ValueError(
            f"pspec {target.spec} contains a manual axes {manual} of mesh which is not allowed. If you are using a "
            "with_sharding_constraint under a shard_map, only use the mesh axis in PartitionSpec which are not manual."
        )


def _check_sharding(x, target):
    """Raises AssertionError where the type of x says another sharding."""
    own, wanted = typeof(x).stated_sharding, explicit_sharding(target, x.ndim)
    if own != wanted:
        whole = PartitionSpec(*(None,) * x.ndim)
        raise AssertionError(
            "`with_sharding_constraint` acts as an assert when all axes of mesh are of type `Explicit`. The array "
            f"sharding: {whole if own is None else own.spec} did not match the sharding provided: "
            f"{whole if wanted is None else wanted.spec}. Please use `jax.sharding.reshard` to shard your input to "
            "the sharding you want."
        )


def reshard(xs: Any, out_shardings: Any) -> Any:
    """Returns a tree of arrays moved to other shardings.

    Args:
      xs: a tree of arrays.
      out_shardings: a sharding, or a prefix tree of NamedShardings and PartitionSpecs over the mesh in context.

    Returns:
      A tree of arrays with equal values.

    Raises:
      TypeError: other kinds of values.
      ValueError: None, or an axis of the mesh that is not explicit.

    Examples:
      >>> mesh = onax.make_mesh((1,), ("x",))
      >>> onax.reshard(jnp.arange(2), onax.sharding.NamedSharding(mesh, onax.P("x"))).sharding.spec
      P('x',)
    """
    leaves, tree = tree_flatten(xs)
    shardings = broadcast_devices(out_shardings, tree, "reshard out_shardings")
    for sharding in shardings:
        if sharding is None:
            raise ValueError(
                "Reshard should only be used with out_shardings which are non-None and have a non-empty mesh. Got "
                "sharding None."
            )
        if not isinstance(sharding, (NamedSharding, PartitionSpec)):
            raise TypeError(
                "`out_sharding` argument of reshard only supports instances of `NamedSharding` or `PartitionSpec`. "
                f"Got {sharding} of type: {type(sharding)}"
            )
    shardings = [p if _is_over_other_types(p) else over_context_mesh(p) for p in shardings]
    for sharding in shardings:
        check_explicit_axes(sharding, "reshard")
    return tree_unflatten(tree, list(map(_reshard, leaves, shardings)))


def _is_over_other_types(sharding):
    """Whether a sharding is over an AbstractMesh that may be laid over the devices of the mesh in context."""
    mesh = getattr(sharding, "mesh", None)
    return isinstance(mesh, AbstractMesh) and not mesh.empty and mesh.size == concrete_mesh().size


def _reshard(x, sharding):
    if isinstance(x, Tracer) or find_cur_trace().staging:
        return constrain(as_array(x), sharding)
    return device_put(x, with_whole_spec(sharding, np.ndim(x)))


def make_single_device_sharding(device: Any, *, memory_kind: str | None = None) -> Any:
    """Returns the sharding that places whole arrays on one device.

    Args:
      device: a Device.
      memory_kind: the kind of its memory; default None, "device".

    Returns:
      A SingleDeviceSharding.

    Examples:
      >>> onax.sharding.make_single_device_sharding(onax.devices()[0]).device_set == {onax.devices()[0]}
      True
    """
    return SingleDeviceSharding(device, memory_kind=memory_kind)
