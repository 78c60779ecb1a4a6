"""The functions of jax.experimental.multihost_utils, for the single process in which onax runs."""

import numpy as np

from onax._core.sharding import NamedSharding, PartitionSpec
from onax._core.trees import tree_broadcast
from onax._native.array import Array
from onax._native.tree import tree_map
from onax._transforms.transfer import device_put
from onax.numpy import asarray


def broadcast_one_to_all(in_tree, is_source=None):
    """The tree, as ndarrays, as the first process has it.  Raises ValueError if `is_source` is false."""
    if is_source is not None and not is_source:
        raise ValueError("the only process must be the source")
    return tree_map(np.asarray, in_tree)


def process_allgather(in_tree, tiled=False):
    """The ndarrays of all processes along a new leading axis, of one element; with `tiled`, joined along axis 0."""
    return tree_map(lambda x: np.asarray(x) if tiled else np.asarray(x)[None], in_tree)


def assert_equal(in_tree, fail_message=""):
    """Raises AssertionError unless all processes have the same tree; it never does with one process."""
    tree_map(np.asarray, in_tree)


def sync_global_devices(name):
    """Waits for all processes: returns immediately."""


def reached_preemption_sync_point(step_id):
    """Whether the process received a preemption notice: always False."""
    return False


def host_local_array_to_global_array(local_inputs, global_mesh, pspecs):
    """Arrays over the devices of a mesh, from those of this process, which are all; `pspecs` is a prefix tree."""
    specs = tree_broadcast(pspecs, local_inputs, is_leaf=_is_spec)
    sharding = lambda spec: NamedSharding(global_mesh, PartitionSpec() if spec is None else spec)
    put = lambda x, spec: device_put(asarray(x), sharding(spec))
    return tree_map(put, local_inputs, specs)


def global_array_to_host_local_array(global_inputs, global_mesh, pspecs):
    """The arrays of this process, from those over the devices of a mesh: whole, on its first device."""
    first = global_mesh.devices.flat[0]
    tree_broadcast(pspecs, global_inputs, is_leaf=_is_spec)
    return tree_map(lambda x: device_put(x if isinstance(x, Array) else asarray(x), first), global_inputs)


def _is_spec(x):
    return x is None or isinstance(x, PartitionSpec)


__all__ = [
    "assert_equal",
    "broadcast_one_to_all",
    "global_array_to_host_local_array",
    "host_local_array_to_global_array",
    "process_allgather",
    "reached_preemption_sync_point",
    "sync_global_devices",
]
