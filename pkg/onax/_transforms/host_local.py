"""Arrays over devices of several processes, from what each process holds, and back."""

import numpy as np

from onax._core.explicit_axes import sharded_array, spanning_array
from onax._core.meshes import PartitionSpec
from onax._core.redistribution import is_spanning
from onax._core.sharding import NamedSharding, names_in
from onax._core.shards import shard_array
from onax._core.trace import as_array
from onax._ground import processes


def to_global(x, mesh, spec):
    """An array over a mesh, of whose dimensions `x` is what this process holds; arrays of several processes stay."""
    if is_spanning(x):
        return x
    x, sharding = as_array(x), NamedSharding(mesh, spec)
    if not mesh.is_multi_process:
        return shard_array(x, sharding)
    return from_local(x, sharding, process_global_shape(sharding, x.shape))


def to_local(x, mesh, spec):
    """What this process holds of an array over a mesh, as an array over its part of the mesh."""
    sharding = NamedSharding(mesh.local_mesh, spec)
    x = shard_array(x, NamedSharding(mesh, spec))
    box = process_box(x.sharding, x.shape)
    whole = np.empty([stop - start for start, stop in box], getattr(x.dtype, "storage", x.dtype))
    indices = x.sharding.addressable_devices_indices_map(x.shape)
    for device, part in x._shards:
        bounds = [s.indices(n)[:2] for s, n in zip(indices[device], x.shape)]
        whole[tuple(slice(a - low, b - low) for (a, b), (low, _) in zip(bounds, box))] = part
    return sharded_array(whole, x._shards, sharding, x.dtype, x.weak_type)


def from_local(x, sharding, shape):
    """An array of a shape, from what this process holds of each dimension, or from all of it."""
    offsets = [0 if n == m else low for n, m, (low, _) in zip(shape, x.shape, process_box(sharding, shape))]
    value, shards = x._value, []
    for device, index in sharding.addressable_devices_indices_map(shape).items():
        bounds = [s.indices(n)[:2] for s, n in zip(index, shape)]
        shards.append((device, value[tuple(slice(a - o, b - o) for (a, b), o in zip(bounds, offsets))]))
    return from_shards(shape, sharding, shards, x)


def process_box(sharding, shape):
    """For each dimension the (start, stop) of what the devices of this process hold together."""
    indices = sharding.addressable_devices_indices_map(shape).values()
    bounds = [[s.indices(n)[:2] for s, n in zip(index, shape)] for index in indices]
    return [(min(a for a, _ in column), max(b for _, b in column)) for column in zip(*bounds)]


def process_global_shape(sharding, local_shape, global_shape=None):
    """The shape of an array of whose dimensions a process holds local ones; ValueError if they do not fit."""
    given = [None] * len(local_shape) if global_shape is None else list(global_shape)
    own = processes.process_index()
    shape = []
    for axis, (n, whole) in enumerate(zip(local_shape, given, strict=True)):
        parts = {}  # for each process the pieces of this dimension that it holds, as cut by the sharding
        pieces = len(sharding.device_set)
        probe = [pieces if i == axis else 1 for i in range(len(local_shape))]
        alone = _along(sharding, axis, len(local_shape))
        for device, index in alone.devices_indices_map(tuple(probe)).items() if alone is not None else ():
            parts.setdefault(device.process_index, set()).update(range(*index[axis].indices(pieces)))
        share = 1 if alone is None else pieces // len(parts[own])
        if whole is None:
            whole = n * share
        elif n not in (whole, whole // share):
            raise ValueError(
                "Invalid host data, each dimension should match either global or process shape. In dimension "
                f"{axis}, the process data has {n} elements. Process addresses {whole // share} elements and "
                f"global_shape={tuple(given)}."
            )
        shape.append(whole)
    return tuple(shape)


def _along(sharding, axis, ndim):
    """The sharding with the mesh axes of one dimension alone; None if they do not split it."""
    if not isinstance(sharding, NamedSharding):
        return None
    entries = [*sharding.spec, *[None] * (ndim - len(sharding.spec))]
    if not names_in(entries[axis]):
        return None
    return NamedSharding(sharding.mesh, PartitionSpec(*(e if i == axis else None for i, e in enumerate(entries))))


def from_arrays(shape, sharding, arrays, dtype):
    """An array over devices of several processes, from pairs of a device of this process and its array."""
    piece = sharding.shard_shape(shape)
    for device, array in arrays:
        if array.shape != piece:
            raise ValueError(f"the piece on {device} has shape {array.shape}, the sharding wants {piece}")
    if not arrays:
        if dtype is None:
            raise ValueError("If the Array has no addressable shards, `dtype` must be provided.")
        like = as_array(np.zeros(piece, dtype))
    else:
        like = arrays[0][1]
    return from_shards(shape, sharding, [(device, array._value) for device, array in arrays], like)


def from_shards(shape, sharding, shards, like):
    """An array over devices of several processes, from the values of this one's; `like` has its dtype."""
    if sharding.is_fully_replicated and shards:
        return sharded_array(shards[0][1], shards, sharding, like.dtype, like.weak_type)
    return spanning_array(like.aval.update(shape=tuple(shape)), shards, sharding)
