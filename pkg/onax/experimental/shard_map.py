"""shard_map under its former name; `onax.shard_map` is the one to use."""

import warnings
from collections.abc import Callable
from typing import Any

from onax._control.shard_map import shard_map as _shard_map
from onax._core.meshes import Mesh
from onax._ground.typing import AnyFunction, PyTree


def shard_map(
    f: AnyFunction, mesh: Mesh, in_specs: PyTree, out_specs: PyTree, check_rep: bool = True
) -> Callable[..., Any]:
    """Returns `onax.shard_map` of a function, with the mesh as second argument; deprecated.

    Args:
      f: a function of arrays.
      mesh: a Mesh.
      in_specs: a tree of PartitionSpecs, as of `onax.shard_map`.
      out_specs: the same of the results.
      check_rep: the parameter `check_vma` of `onax.shard_map`.

    Returns:
      A function.

    Examples:
      >>> from onax.experimental.shard_map import shard_map
      >>> mesh = onax.make_mesh((1,), ("x",))
      >>> shard_map(lambda x: x + 1, mesh, onax.P("x"), onax.P("x"))(jnp.zeros(2))
      Array([1., 1.], dtype=float32)
    """
    warnings.warn("onax.experimental.shard_map is deprecated; use onax.shard_map.", DeprecationWarning, stacklevel=2)
    return _shard_map(f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=check_rep)


__all__ = ["shard_map"]
