"""Programs and values of several devices.  A program of one device never imports this package (`lazy_import.py`).

sharding_propagation   the shardings of results, from those of arguments
call_shardings         `in_shardings` and `out_shardings` of jit
spmd                   the program of one device from a program over sharded values; `shard_*.py` hold its rules,
                       `sharded_values.py` the collectives between two shardings, `wanted_shardings.py` what readers
                       of a value want
staged_shardings       the shardings of a call that is compiled ahead of time
communication          what devices exchange, for `onax.explain`
partition              cuts a program for separate devices where these meet
thunks, rendezvous     what such programs consist of, and how they run concurrently
multi_process          programs over devices of several processes
process_collectives    what their devices exchange
pmap                   `jax.pmap`
"""

from onax._compile.devices import (
    call_shardings,
    communication,
    multi_process,
    partition,
    shard_control,
    shard_indexing,
    shard_products,
    shard_shaping,
    shard_stacks,
    shard_windows,
    sharding_propagation,
    spmd,
    staged_shardings,
)

__all__ = [
    "call_shardings",
    "communication",
    "multi_process",
    "partition",
    "shard_control",
    "shard_indexing",
    "shard_products",
    "shard_shaping",
    "shard_stacks",
    "shard_windows",
    "sharding_propagation",
    "spmd",
    "staged_shardings",
]
