"""The shards of arrays, and the device, sharding and shards that compiled arrays look up."""

import functools
from dataclasses import dataclass

from onax._core.sharding import AbstractMesh, NamedSharding, PartitionSpec, SingleDeviceSharding, replica_ids
from onax._ground import devices
from onax._native.array_sources import make_sharded


@dataclass(slots=True, eq=False, repr=False)
class Shard:
    """One part of an array: `device`, `index` (slices of the whole), `replica_id`, and its `data` as an array."""

    device: object
    index: tuple
    replica_id: int
    data: object

    def __repr__(self):
        return f"Shard(device={self.device!r}, index={self.index}, replica_id={self.replica_id}, data={self.data})"


def first_device():
    """The device of arrays that are not committed to one."""
    return devices.devices()[0]


def array_shards(x):
    """The shards of an array, in the order of its sharding's devices."""
    sharding = x.sharding
    replicas = replica_ids(sharding, x.shape)
    indices = sharding.devices_indices_map(x.shape)
    return [
        Shard(device, index, replicas[device], x.addressable_data(i))
        for i, (device, index) in enumerate(indices.items())
    ]


@functools.lru_cache(maxsize=512)
def _pieces(sharding, shape):
    """Pairs of a device and the slices that it holds."""
    return tuple(sharding.addressable_devices_indices_map(shape).items())


def shard_array(x, sharding):
    """Distributes an array as the sharding says; raises IndivisibleError if shards would be unequal."""
    value = x._value
    shards = [(device, value[index]) for device, index in _pieces(sharding, value.shape)]
    return make_sharded(value, shards, sharding, x.dtype, x.weak_type)


_NO_MESH = AbstractMesh((), ())


def aval_sharding(aval):
    """The sharding of an aval without one: over a mesh without axes."""
    return NamedSharding(_NO_MESH, PartitionSpec(*(None,) * aval.ndim))


def array_sharding(x):
    """The sharding of an array that states none: on its device."""
    return SingleDeviceSharding(x._device)
