"""shard_map under its former name; `onax.shard_map` is the one to use."""

import warnings

from onax._control.shard_map import shard_map as _shard_map


def shard_map(f, mesh, in_specs, out_specs, check_rep=True):
    """`onax.shard_map` with the mesh as second argument; `check_rep` is its `check_vma`.  Deprecated."""
    warnings.warn("onax.experimental.shard_map is deprecated; use onax.shard_map.", DeprecationWarning, stacklevel=2)
    return _shard_map(f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=check_rep)


__all__ = ["shard_map"]
