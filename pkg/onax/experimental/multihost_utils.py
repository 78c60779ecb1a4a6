"""The functions of jax.experimental.multihost_utils: values that processes exchange or compare."""

import zlib

import numpy as np

from onax._core.meshes import Mesh, PartitionSpec
from onax._core.redistribution import gather, is_spanning
from onax._core.trees import tree_broadcast
from onax._ground import processes
from onax._ground.typing import PyTree
from onax._ground.unavailable import unavailable as _unavailable
from onax._native.array import Array
from onax._native.tree import tree_leaves, tree_map
from onax._transforms.host_local import to_global, to_local


def broadcast_one_to_all(in_tree: PyTree, is_source: bool | None = None) -> PyTree:
    """Returns the tree as one process has it.

    Args:
      in_tree: a tree of arrays or numbers, of the same structure, shapes and dtypes in all processes.
      is_source: whether this process is the one; by default the first is.

    Returns:
      A tree of ndarrays.

    Raises:
      ValueError: unless exactly one process is the source.

    Examples:
      >>> from onax.experimental import multihost_utils
      >>> multihost_utils.broadcast_one_to_all(3).item()
      3
    """
    group = processes.current()
    if group is None:
        if is_source is not None and not is_source:
            raise ValueError("the only process must be the source")
        return tree_map(np.asarray, in_tree)
    claims = group.allgather(
        np.array(group.index == 0 if is_source is None else bool(is_source)), "broadcast_one_to_all"
    )
    if claims.sum() != 1:
        raise ValueError(f"broadcast_one_to_all: one process must be the source, not {int(claims.sum())}")
    source = int(claims.argmax())
    return tree_map(lambda x: group.broadcast(np.asarray(x), source, "broadcast_one_to_all"), in_tree)


def process_allgather(in_tree: PyTree, tiled: bool = False) -> PyTree:
    """Returns the values of all processes.

    Args:
      in_tree: a tree of arrays or numbers, of the same shapes in all processes.
      tiled: whether to join along the first axis, instead of along a new one. It must be true for arrays over devices
        of several processes, of which the result is the whole; scalars are stacked.

    Returns:
      A tree of ndarrays, (processes, *shape), or (processes * n, ...) for (n, ...) if tiled.

    Raises:
      ValueError: for an array over devices of several processes without `tiled`.

    Examples:
      >>> import numpy as np
      >>> from onax.experimental import multihost_utils
      >>> multihost_utils.process_allgather(np.ones((2, 3))).shape
      (1, 2, 3)
    """
    return tree_map(lambda x: _allgather(x, tiled), in_tree)


def _allgather(x, tiled):
    if is_spanning(x) or (isinstance(x, Array) and not x.is_fully_addressable):
        if not tiled:
            raise ValueError("Gathering global non-fully-addressable arrays only supports tiled=True")
        return gather(x) if is_spanning(x) else np.asarray(x)
    x = np.asarray(x)
    group = processes.current()
    if group is None:
        return x if tiled else x[None]
    stacked = group.allgather(x, "process_allgather")
    return stacked.reshape(-1, *x.shape[1:]) if tiled and x.ndim else stacked


def assert_equal(in_tree: PyTree, fail_message: str = "") -> None:
    """Raises AssertionError, with `fail_message`, unless all processes have the same tree of values.

    Args:
      in_tree: a tree of arrays or numbers.
      fail_message: what the error says first.

    Raises:
      AssertionError: the values differ.

    Examples:
      >>> from onax.experimental import multihost_utils
      >>> multihost_utils.assert_equal({"step": 3}, "steps differ")
    """
    leaves = [x.addressable_data(0) if is_spanning(x) else x for x in tree_leaves(in_tree)]
    if processes.current() is None:
        return
    data = b"".join(repr((a.shape, a.dtype)).encode() + a.tobytes() for a in map(np.asarray, leaves))
    if not processes.current().have_same(data, "assert_equal"):
        raise AssertionError(f"{fail_message}. The processes have different values; this one has {in_tree}.")


def sync_global_devices(name: str) -> None:
    """Waits until all processes call it.

    Args:
      name: a str, the same in all processes.

    Returns:
      None.

    Raises:
      AssertionError: the names differ.

    Examples:
      >>> from onax.experimental import multihost_utils
      >>> multihost_utils.sync_global_devices("loaded")
    """
    assert_equal(np.uint32(zlib.crc32(name.encode())), f"sync_global_devices name mismatch ('{name}')")


def reached_preemption_sync_point(step_id: int) -> bool:
    """Returns whether the processes shall save now because one is about to be ended: False, notices are not read.

    Args:
      step_id: the number of the step.

    Returns:
      False.

    Examples:
      >>> from onax.experimental import multihost_utils
      >>> multihost_utils.reached_preemption_sync_point(3)
      False
    """
    return False


def host_local_array_to_global_array(local_inputs: PyTree, global_mesh: Mesh, pspecs: PyTree) -> PyTree:
    """Returns arrays over a mesh, from what each process holds of them.

    Args:
      local_inputs: a tree of arrays: of a dimension that is sharded over several processes, the part of this one.
      global_mesh: a Mesh, of which the devices of this process are a block.
      pspecs: a PartitionSpec or a tree of them that is a prefix of `local_inputs`.

    Returns:
      A tree of Arrays.

    Examples:
      >>> import onax, numpy as np
      >>> from onax.experimental import multihost_utils
      >>> mesh = onax.make_mesh((1,), ("x",))
      >>> multihost_utils.host_local_array_to_global_array(np.arange(4.0), mesh, onax.P("x")).shape
      (4,)
    """
    specs = tree_broadcast(pspecs, local_inputs, is_leaf=_is_spec)
    put = lambda x, spec: to_global(x, global_mesh, PartitionSpec() if spec is None else spec)
    return tree_map(put, local_inputs, specs)


def global_array_to_host_local_array(global_inputs: PyTree, global_mesh: Mesh, pspecs: PyTree) -> PyTree:
    """Returns what this process holds of arrays over a mesh; the reverse of `host_local_array_to_global_array`.

    Args:
      global_inputs: a tree of Arrays.
      global_mesh: a Mesh, of which the devices of this process are a block.
      pspecs: a PartitionSpec, or a prefix tree of them.

    Returns:
      A tree of Arrays over the devices of this process; arrays that are not over other processes' devices stay as they
      are.

    Examples:
      >>> from onax.experimental import multihost_utils
      >>> mesh = onax.make_mesh((1,), ("x",))
      >>> multihost_utils.global_array_to_host_local_array(jnp.arange(2), mesh, onax.P("x"))
      Array([0, 1], dtype=int32)
    """
    specs = tree_broadcast(pspecs, global_inputs, is_leaf=_is_spec)
    take = to_local if global_mesh.is_multi_process else to_global

    def local(x, spec):
        is_local = isinstance(x, Array) and x.is_fully_addressable
        return x if is_local else take(x, global_mesh, PartitionSpec() if spec is None else spec)

    return tree_map(local, global_inputs, specs)


def _is_spec(x):
    return x is None or isinstance(x, PartitionSpec)


__getattr__ = _unavailable(
    __name__,
    {
        "ProcessFailureError live_devices": "when a process dies, the others end with it",
        "global_array_to_host_local_array_impl host_local_array_to_global_array_impl gtl_abstract_eval "
        "ltg_abstract_eval ltg_batcher": (
            "they are rules of JAX's primitives; call global_array_to_host_local_array or "
            "host_local_array_to_global_array"
        ),
    },
)

__all__ = [
    "assert_equal",
    "broadcast_one_to_all",
    "global_array_to_host_local_array",
    "host_local_array_to_global_array",
    "process_allgather",
    "reached_preemption_sync_point",
    "sync_global_devices",
]
