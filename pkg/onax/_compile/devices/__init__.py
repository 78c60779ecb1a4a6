"""Programs and values of several devices.  A program of one device never imports this package (`lazy_import.py`).

sharding_propagation   the shardings of results, from those of arguments
call_shardings         `in_shardings` and `out_shardings` of jit
partition              one program for each of several separate devices
thunks, rendezvous     what such programs consist of, and how they run concurrently
pmap                   `jax.pmap`
"""

from onax._compile.devices import call_shardings, partition, sharding_propagation

__all__ = ["call_shardings", "partition", "sharding_propagation"]
