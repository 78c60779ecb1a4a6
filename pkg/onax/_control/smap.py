"""smap: shard_map over one axis of the mesh, with axes of arrays in place of partition specs."""

import functools
from collections.abc import Callable
from typing import Any

from onax._control.shard_map import shard_map
from onax._control.shard_map_specs import INFER_AXES, Infer
from onax._core.meshes import PartitionSpec
from onax._ground.source import api_boundary
from onax._ground.typing import AnyFunction
from onax._native.tree import tree_map


@api_boundary
def smap(f: AnyFunction = None, /, *, in_axes: Any = Infer, out_axes: Any, axis_name: Any) -> Callable[..., Any]:
    """A function that maps `f` over shards of its arguments along one axis of the mesh in context.

    Args:
      f: the function of shards; without it the result is a decorator.
      in_axes: an integer or None, or a tuple (one for each argument) of trees of these: the axis of each array that is
        split; None for one that every device gets whole.  By default they follow the shardings of the arguments.
      out_axes: likewise for the result: the axis along which shards are joined.
      axis_name: a name of the mesh.

    Returns:
      A function of the whole arrays.

    Raises:
      TypeError: an `axis_name` that is a tuple or list, or axes that are no integers.
      ValueError: no mesh in context, or one without the axis.

    Examples:
      >>> import onax as jax, onax.numpy as jnp
      >>> with jax.set_mesh(jax.make_mesh((1,), ("x",))):
      ...     print(jax.smap(lambda a: a * 2, in_axes=0, out_axes=0, axis_name="x")(jnp.arange(3)))
      [0 2 4]
    """
    if f is None:
        return functools.partial(smap, in_axes=in_axes, out_axes=out_axes, axis_name=axis_name)
    if isinstance(axis_name, (tuple, list)):
        raise TypeError(f"smap axis_name should be a `str` or a `Hashable`, but got {axis_name}")
    specs = INFER_AXES if in_axes is Infer else _specs(in_axes, axis_name, "in_axes")
    return shard_map(
        f, in_specs=specs, out_specs=_specs(out_axes, axis_name, "out_axes"), axis_names=frozenset({axis_name})
    )


def _specs(axes, name, what):
    """The tree of partition specs of a tree of axes."""

    def spec(axis):
        if axis is None:
            return PartitionSpec()
        if not isinstance(axis, int) or isinstance(axis, bool):
            raise TypeError(f"smap {what} must be an int, None or a tree of these; got {axis!r}")
        return PartitionSpec(*[None] * axis, name)

    return tree_map(spec, axes, is_leaf=lambda x: x is None)


__all__ = ["smap"]
