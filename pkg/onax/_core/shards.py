"""The shards of arrays, and the device, sharding and shards that compiled arrays look up."""

import functools
import itertools
from dataclasses import dataclass

import numpy as np

from onax._core.explicit_axes import sharded_array, spanning_array
from onax._core.meshes import PartitionSpec, get_abstract_mesh
from onax._core.redistribution import is_spanning, redistribute
from onax._core.sharding import NamedSharding, Sharding, SingleDeviceSharding, replica_ids
from onax._ground import devices
from onax._native.array import ArrayImpl, install_method, make_array


@dataclass(slots=True, eq=False, repr=False)
class Shard:
    """A part of an array, as `addressable_shards` lists them.

    Args:
      device: the device that holds it.
      index: a tuple of slices of the whole array.
      replica_id: the number of this copy, from 0 on.
      data: the part, an array.

    Examples:
      >>> onax.device_put(jnp.arange(3.0)).addressable_shards[0].data
      Array([0., 1., 2.], dtype=float32)
    """

    device: object
    index: tuple
    replica_id: int
    data: object

    def __repr__(self):
        return f"Shard(device={self.device!r}, index={self.index}, replica_id={self.replica_id}, data={self.data})"


def first_device():
    """The device of arrays that are not committed to one."""
    return devices.local_devices()[0]


def _shards(x, everywhere):
    """The shards of an array, in the order of its sharding's devices; those of other processes only if `everywhere`."""
    if x.is_deleted():
        x.__array__()  # raises the error
    sharding = x.sharding
    replicas = replica_ids(sharding, x.shape)
    shards, numbers, without = [], itertools.count(), _devices_without_part(sharding)
    for device, index in sharding.devices_indices_map(x.shape).items():
        if device._addressable:
            data = x.addressable_data(next(numbers))
            shards.append(Shard(device, index, replicas[device], _zeros(data) if device in without else data))
        elif everywhere:
            shards.append(Shard(device, index, replicas[device], None))
    return shards


_data_on_device = ArrayImpl.addressable_data


def addressable_data(self, index):
    """The part of an array on the device with this number among those of this process; it lies in the same memory."""
    data = _data_on_device(self, index)
    kind = self.sharding.memory_kind if self._shards is not None and isinstance(self.sharding, Sharding) else "device"
    return data if kind == "device" else shard_array(data, SingleDeviceSharding(data.device, memory_kind=kind))


def _devices_without_part(sharding):
    """The devices that have zeros: of an unreduced array, a sum over axes, the first along these has it all."""
    if not isinstance(sharding, NamedSharding) or not sharding.spec.unreduced:
        return ()
    places = np.argwhere(np.ones(sharding.mesh.devices.shape, bool))
    axes = [sharding.mesh.axis_names.index(a) for a in sharding.spec.unreduced]
    return {sharding.mesh.devices[tuple(place)] for place in places if place[axes].any()}


def _zeros(x):
    return make_array(np.zeros_like(x._value), x.dtype, x.weak_type)._with(device=x.device, committed=True)


def addressable_shards(x):
    """The shards on the devices of this process, each with its device, index, replica number and data."""
    return _shards(x, False)


def global_shards(x):
    """The shards on all devices; the data of those of other processes is None."""
    return _shards(x, True)


def is_fully_addressable(x):
    """Whether this process has all devices on which the array lies."""
    return x._shards is None or x.sharding.is_fully_addressable


def is_fully_replicated(x):
    """Whether each device on which the array lies has all of it."""
    return x._shards is None or x.sharding.is_fully_replicated


def array_devices(x):
    """The set of devices that hold the array."""
    return {x._device} if x._shards is None else x.sharding.device_set


for _property in (addressable_shards, global_shards, is_fully_addressable, is_fully_replicated):
    install_method(ArrayImpl, _property.__name__, property(_property))
install_method(ArrayImpl, "devices", array_devices)
install_method(ArrayImpl, "addressable_data", addressable_data)


@functools.lru_cache(maxsize=512)
def _pieces(sharding, shape):
    """Pairs of a device and the slices that it holds."""
    return tuple(sharding.addressable_devices_indices_map(shape).items())


def shard_array(x, sharding):
    """Distributes an array as the sharding says; raises IndivisibleError if shards would be unequal.

    If the sharding, or that of the array, has devices of several processes, all of them must do so together.
    """
    if is_spanning(x):
        return redistribute(x, sharding)
    value = x._value
    if not sharding.is_fully_addressable and not sharding.is_fully_replicated:
        shards = [(device, value[index]) for device, index in _pieces(sharding, value.shape)]
        return spanning_array(x.aval, shards, sharding)
    shards = [(device, value[index]) for device, index in _pieces(sharding, value.shape)]
    return sharded_array(value, shards, sharding, x.dtype, x.weak_type)


def aval_sharding(aval):
    """The sharding of an aval without one: whole, over the mesh in context."""
    return NamedSharding(get_abstract_mesh(), PartitionSpec(*(None,) * aval.ndim))


def array_sharding(x):
    """The sharding of an array that states none: on its device."""
    return SingleDeviceSharding(x._device)
