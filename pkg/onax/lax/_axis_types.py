"""Regions in which some axes of the mesh have another type: auto_axes and explicit_axes."""

import functools
from collections.abc import Callable
from typing import Any

from onax._core.explicit_axes import explicit_sharding
from onax._core.meshes import AxisType, PartitionSpec, current_mesh, use_abstract_mesh
from onax._core.sharding import NamedSharding
from onax._core.trace import Tracer
from onax._ground.typing import AnyFunction, ShardingLike
from onax._native.array import ArrayImpl
from onax._native.tree import tree_leaves, tree_map
from onax._prims.placement import constrain
from onax._transforms.transfer import device_put
from onax.lax._sharding import reshard


def auto_axes(f: AnyFunction = None, /, *, axes: Any = None, out_sharding: ShardingLike = None) -> Callable[..., Any]:
    """Returns a function in which axes of the mesh are automatic: types show no shardings over them.

    Args:
      f: a function of arrays and pytrees of arrays; without it, a decorator is returned.
      axes: the name of an axis of the mesh in context, or a tuple of names; default: all axes.
      out_sharding: NamedShardings or PartitionSpecs, a tree that is a prefix of the results.  Without it, calls take
        it as a keyword argument.

    Returns:
      A function of the same arguments, whose results lie as `out_sharding` says.

    Raises:
      TypeError: a call states no `out_sharding`.
      ValueError: an axis is not in the mesh, or the meshes in `out_sharding` differ from each other or from that in
        context.

    Examples:
      >>> mesh = onax.make_mesh((1,), ("x",))
      >>> with onax.set_mesh(mesh):
      ...     x = onax.device_put(jnp.ones(4), onax.P("x"))
      ...     print(onax.typeof(onax.sharding.auto_axes(lambda a: a * 2)(x, out_sharding=onax.P("x"))))
      float32[4@x]
    """
    if f is None:
        return functools.partial(auto_axes, axes=axes, out_sharding=out_sharding)

    @functools.wraps(f)
    def placed(*args, **kwargs):
        stated = _required("out_sharding", out_sharding, kwargs)
        mesh = _mesh_in_use("auto_axes", stated)
        if mesh is None:
            return f(*args, **kwargs)
        inner = _with_types(mesh, axes, AxisType.Auto)
        if inner == mesh:
            return f(*args, **kwargs)
        with use_abstract_mesh(inner):
            out = f(*tree_map(lambda x: _retype(x, inner), args), **kwargs)
        return reshard(out, stated)

    return placed


def explicit_axes(f: AnyFunction = None, /, *, axes: Any = None, in_sharding: Any = None) -> Callable[..., Any]:
    """Returns a function in which axes of the mesh are explicit: types show shardings over them.

    Args:
      f: a function of arrays and pytrees of arrays; without it, a decorator is returned.
      axes: the name of an axis of the mesh in context, or a tuple of names; default: all axes.
      in_sharding: NamedShardings or PartitionSpecs, a tree that is a prefix of the arguments, to which they are moved.
        Without it, calls take it as a keyword argument.

    Returns:
      A function of the same arguments; the types of its results are those of the mesh in context.

    Raises:
      TypeError: a call states no `in_sharding`.
      ValueError: there is no mesh in context, or an axis is not in it.

    Examples:
      >>> mesh = onax.make_mesh((1,), ("x",), (onax.sharding.AxisType.Auto,))
      >>> with onax.set_mesh(mesh):
      ...     show = onax.sharding.explicit_axes(lambda a: print(onax.typeof(a)), in_sharding=onax.P("x"))
      ...     show(jnp.ones(4))
      float32[4@x]
    """
    if f is None:
        return functools.partial(explicit_axes, axes=axes, in_sharding=in_sharding)

    @functools.wraps(f)
    def placed(*args, **kwargs):
        stated = _required("in_sharding", in_sharding, kwargs)
        mesh = _mesh_in_use("explicit_axes", ())
        if mesh is None:
            raise ValueError(
                "Context mesh cannot be empty. Please use `jax.set_mesh` API to enter into a mesh context when using "
                "`explicit_axes` API."
            )
        inner = _with_types(mesh, axes, AxisType.Explicit)
        with use_abstract_mesh(inner):
            out = f(*reshard(args, stated), **kwargs)
        return tree_map(lambda x: _retype(x, mesh), out)

    return placed


def _required(name, given, kwargs):
    """The shardings given to the decorator, or the keyword argument of the call, which is removed."""
    if given is not None:
        return given
    if name not in kwargs:
        raise TypeError(f"Missing required keyword argument: '{name}'")
    return kwargs.pop(name)


def _mesh_in_use(name, shardings):
    """The mesh in context, or else that of the shardings; None without both."""
    context = current_mesh()
    meshes = [s.mesh for s in tree_leaves(shardings) if isinstance(s, NamedSharding)]
    for mesh in meshes:
        if _abstract(mesh) != _abstract(meshes[0]):
            raise ValueError(
                f"Shardings passed to {name} should have the same mesh. Got one mesh {_abstract(meshes[0])} and "
                f"another {mesh}"
            )
        if not context.empty and _abstract(mesh) != _abstract(context):
            raise ValueError(
                f"Context mesh {_abstract(context)} must match the mesh passed to shardings {_abstract(mesh)}. "
                "Recommended approach is to use `jax.set_mesh` context manager."
            )
    if not context.empty:
        return context
    return meshes[0] if meshes else None


def _abstract(mesh):
    return getattr(mesh, "abstract_mesh", mesh)


def _with_types(mesh, axes, kind):
    """The mesh with this type of the axes (None: all of them)."""
    names = mesh.axis_names if axes is None else axes if isinstance(axes, tuple) else (axes,)
    unknown = [a for a in names if a not in mesh.axis_names]
    if unknown:
        raise ValueError(f"there is no axis {unknown[0]!r} in the mesh {mesh}")
    for a, old in zip(mesh.axis_names, mesh.axis_types):
        if a in names and old is AxisType.Manual:
            raise NotImplementedError(f"axis {a!r} is manual here, inside shard_map, and cannot become {kind}")
    types = tuple(kind if a in names else old for a, old in zip(mesh.axis_names, mesh.axis_types))
    return mesh.update(axis_types=types)


def _retype(x, mesh):
    """A value whose type shows shardings over the explicit axes of this mesh alone; it lies where it was."""
    if isinstance(x, Tracer):
        own = x.aval.stated_sharding
        if own is None:
            return x
        kept = explicit_sharding(NamedSharding(_abstract(mesh), own.spec), x.ndim)
        if kept is None:
            kept = NamedSharding(_abstract(mesh), PartitionSpec())
        return constrain(x, kept)
    if type(x) is ArrayImpl and isinstance(x.sharding, NamedSharding):
        return device_put(x, NamedSharding(x.sharding.mesh.update(axis_types=mesh.axis_types), x.sharding.spec))
    return x
