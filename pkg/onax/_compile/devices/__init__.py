"""Programs and values of several devices.  A program of one device never imports this package (`door.py`).

sharding_propagation   how results are cut when arguments are
call_shardings         `in_shardings` and `out_shardings` of jit
partition              one program for each device, where devices are machines of their own
thunks, rendezvous     what such programs consist of, and how they run side by side
pmap                   `jax.pmap`
"""

from onax._compile.devices import call_shardings, partition, sharding_propagation

__all__ = ["call_shardings", "partition", "sharding_propagation"]
