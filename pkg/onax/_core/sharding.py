"""Shardings: which part of an array lies on which device.

    Sharding
      SingleDeviceSharding   the whole array on one device
      NamedSharding          dimensions of the array split along named axes of a mesh; the others are replicated

A sharding maps a shape to one tuple of slices for each device.
"""

import numpy as np

from onax._core.meshes import (
    UNCONSTRAINED,
    AbstractMesh,
    DuplicateSpecError,
    Mesh,
    PartitionSpec,
    get_abstract_mesh,
    mesh_of_specs,
)
from onax._ground import devices as device_list
from onax._ground import processes
from onax._ground.errors import JaxRuntimeError
from onax._ground.source import api_class


class IndivisibleError(ValueError):
    """A sharding would split a dimension into unequal shards."""


def placed_argument(values, i, program, names=()):
    """(what it is, its devices) of one of the arguments of a program, for `incompatible_devices_error`.

    `program` is the name of a function or an operation, `names` those of its arguments, as far as known.
    """
    return described_argument(i, values[i].aval, values[i].sharding, program, names)


def described_argument(i, aval, sharding, program, names):
    """As `placed_argument`, of an argument of this type with this sharding."""
    name = names[i] if i < len(names) else f"args[{i}]"
    return f"argument {name} of {program} with shape {aval.str_short()} and", sharding._ordered_devices()


def operand_names(operands):
    """Names of the operands of an operation, as far as they have any."""
    return "xyz"[: len(operands)] if len(operands) <= 3 else ()


def incompatible_devices_error(first, second):
    """Makes the error for two things on other devices: each a text, devices in their order, and perhaps a place."""
    texts = []
    for what, devices, *place in (first, second):
        where = f"with device ids {[d.id for d in devices]} on platform {devices[0].platform.upper()}"
        texts.append(" ".join((what, where, *place)))
    return ValueError(f"Received incompatible devices for jitted computation. Got {texts[0]} and {texts[1]}")


class ShardingTypeError(Exception):
    """The sharding of a result over explicit axes cannot be told from those of the operands."""


def is_abstract(sharding):
    """Whether a value is a sharding over an AbstractMesh, which has no devices."""
    return isinstance(sharding, NamedSharding) and isinstance(sharding.mesh, AbstractMesh)


def resolve_spec(sharding, error, text, mesh=None):
    """Makes a PartitionSpec, or a sharding over an AbstractMesh, a sharding over the mesh in context.

    PartitionSpecs are over `mesh`, if one is given.  Raises error(text) for a spec without a mesh, ValueError for an
    AbstractMesh that is not that of the mesh.
    """
    if is_abstract(sharding):
        if sharding.mesh == mesh_of_specs():
            return sharding
        if sharding.mesh == get_abstract_mesh() and not sharding.mesh.empty:  # some of its axes are manual here
            return NamedSharding(mesh_of_specs(), sharding.spec, memory_kind=sharding._memory_kind)
        return _over_mesh_in_context(sharding)
    if not isinstance(sharding, PartitionSpec):
        return sharding
    mesh = mesh_of_specs() if mesh is None else mesh
    if mesh.empty:
        raise error(text)
    return NamedSharding(mesh, sharding)


def over_devices(sharding, mesh):
    """A sharding over an AbstractMesh as one over the devices of a mesh of its size; others as they are."""
    if not is_abstract(sharding):
        return sharding
    wanted = sharding.mesh
    if mesh.size != wanted.size:
        raise ValueError(f"{sharding} needs devices: the mesh in context, {mesh}, is another one; see `onax.set_mesh`")
    if mesh.abstract_mesh != wanted:
        mesh = Mesh(mesh.devices.reshape(wanted.axis_sizes), wanted.axis_names, wanted.axis_types)
    return NamedSharding(mesh, sharding.spec, memory_kind=sharding.memory_kind)


def _over_mesh_in_context(sharding):
    """A sharding over an AbstractMesh as one over the devices of the mesh in context, of which it has to be."""
    if sharding.mesh.empty:
        raise ValueError(f"got an empty NamedSharding: {sharding} which is not allowed.")
    mesh = mesh_of_specs()
    if isinstance(mesh, AbstractMesh) or mesh.abstract_mesh != sharding.mesh:
        raise ValueError(f"{sharding} needs devices: the mesh in context, {mesh}, is another one; see `onax.set_mesh`")
    return NamedSharding(mesh, sharding.spec, memory_kind=sharding.memory_kind)


class Sharding:
    """The distribution of an array over devices."""

    __slots__ = ()

    @property
    def is_fully_addressable(self):
        """Whether this process has all devices."""
        return processes.current() is None or all(device._addressable for device in self._ordered_devices())

    has_addressable_devices = property(lambda self: bool(self.addressable_devices))
    num_devices = property(lambda self: len(self.device_set))
    addressable_devices = property(lambda self: {device for device in self.device_set if device._addressable})

    _device_assignment = property(lambda self: self._ordered_devices())  # libraries read it

    @property
    def _addressable_device_assignment(self):  # Orbax reads it
        return tuple(device for device in self._ordered_devices() if device._addressable)

    def addressable_devices_indices_map(self, global_shape):
        """For each device of this process, the slices of the array that it holds."""
        found = self.devices_indices_map(global_shape)
        if processes.current() is None:
            return found
        return {device: index for device, index in found.items() if device._addressable}

    def is_equivalent_to(self, other, ndim):
        """Whether both distribute an array of `ndim` dimensions alike."""
        if self == other:
            return True
        return (
            self.memory_kind == other.memory_kind
            and self._ordered_devices() == other._ordered_devices()
            and (_factors(self, ndim) == _factors(other, ndim) or splits_alike(self, other, ndim))
        )

    def _check_memory(self, device):
        if self.memory_kind is not None:
            try:
                device.memory(self.memory_kind)
            except JaxRuntimeError as error:
                raise ValueError(str(error).removeprefix("INVALID_ARGUMENT: ")) from None


def check_rank(sharding, ndim, what):
    """Raises ValueError for a sharding with more dimensions than an array has, which is one of `what`."""
    if isinstance(sharding, NamedSharding) and len(sharding.spec) > ndim:
        raise ValueError(
            f"One of {what} is incompatible with its sharding annotation {sharding}: {sharding._rank_message(ndim)}"
        )


def splits_alike(first, second, ndim):
    """Whether two shardings give the shards of an array to their devices in the same order, whichever these are."""
    if first == second or (first.is_fully_replicated and second.is_fully_replicated):
        return True
    if not isinstance(first, NamedSharding) or not isinstance(second, NamedSharding):
        return False
    ndim = max(ndim, len(first.spec), len(second.spec))
    if first.mesh.size != second.mesh.size or first._pieces(ndim) != second._pieces(ndim):
        return False
    shape = (first.mesh.size,) * ndim  # which every sharding over so many devices can split
    maps = (list(s.devices_indices_map(shape).values()) for s in (first, second))
    return next(maps) == next(maps)


def _factors(sharding, ndim):
    """For each dimension up to the last one that is split, the mesh axes that split it, with their sizes."""
    if isinstance(sharding, SingleDeviceSharding):
        return []
    found = [
        tuple((name, sharding.mesh.shape[name]) for name in names if sharding.mesh.shape[name] > 1)
        for names in sharding._axes_by_dimension(max(ndim, len(sharding.spec)))
    ]
    while found and not found[-1]:
        found.pop()
    return found


@api_class
class SingleDeviceSharding(Sharding):
    """A sharding that places whole arrays on one device.

    Args:
      device: a Device.
      memory_kind: the kind of its memory; default None, "device".

    Raises:
      TypeError: `device` is no Device.

    Examples:
      >>> onax.sharding.SingleDeviceSharding(onax.devices()[0]).is_fully_replicated
      True
    """

    __slots__ = ("_device", "_memory_kind")

    def __init__(self, device, *, memory_kind=None):
        if not isinstance(device, device_list.Device):
            raise TypeError(f"SingleDeviceSharding takes a Device, such as `onax.devices()[0]`; got {device!r}")
        self._device = device
        self._memory_kind = memory_kind
        self._check_memory(device)

    memory_kind = property(lambda self: self._memory_kind or "device")
    device_set = property(lambda self: {self._device})
    is_fully_replicated = property(lambda self: True)

    def _ordered_devices(self):
        return (self._device,)

    def shard_shape(self, global_shape):
        """The shape of the shard on the device, which is the whole array."""
        return tuple(global_shape)

    def devices_indices_map(self, global_shape):
        """For each device, the slices of the array that it holds: all of it."""
        return {self._device: (slice(None),) * len(global_shape)}

    def with_memory_kind(self, kind):
        """The same sharding in another memory of the device."""
        return SingleDeviceSharding(self._device, memory_kind=kind)

    def __eq__(self, other):
        return (
            type(other) is SingleDeviceSharding
            and self._device is other._device
            and self.memory_kind == other.memory_kind
        )

    def __hash__(self):
        return hash((self._device, self.memory_kind))

    def __repr__(self):
        return f"SingleDeviceSharding(device={self._device!r}, memory_kind={self.memory_kind})"

    def __reduce__(self):
        return _make_single, (self._device, self._memory_kind)


def _make_single(device, memory_kind):
    return SingleDeviceSharding(device, memory_kind=memory_kind)


@api_class
class NamedSharding(Sharding):
    """A sharding that splits dimensions along the axes of a mesh, as a partition spec says.

    Args:
      mesh: a Mesh or an AbstractMesh.
      spec: a PartitionSpec.
      memory_kind: the kind of the devices' memory; default None, "device".

    Raises:
      ValueError: axes that the mesh does not have.
      ValueError: an axis that is used twice.

    Examples:
      >>> mesh = onax.make_mesh((1,), ("x",))
      >>> onax.sharding.NamedSharding(mesh, onax.P("x")).shard_shape((4, 2))
      (4, 2)
    """

    __slots__ = ("_memory_kind", "mesh", "spec")

    def __init__(self, mesh, spec, *, memory_kind=None):
        if mesh is None or spec is None:
            raise TypeError(
                "NamedSharding: incompatible function arguments: it takes a mesh and a PartitionSpec; got "
                f"{mesh!r} and {spec!r}"
            )
        if not isinstance(spec, PartitionSpec):
            raise AttributeError(f"{type(spec).__name__!r} object has no attribute 'partitions': it is no spec")
        if not isinstance(mesh, (Mesh, AbstractMesh)):
            raise AttributeError(f"{type(mesh).__name__!r} object has no attribute 'size': it is no mesh")
        self.mesh = mesh
        self.spec = spec
        self._memory_kind = memory_kind
        seen = set()
        for entry in spec.partitions:
            for name in names_in(entry):
                if name not in mesh.axis_names:
                    raise ValueError(f"Resource axis: {name} of {spec} is not found in mesh: {mesh.axis_names}.")
                if name in seen:
                    raise DuplicateSpecError(
                        "A single NamedSharding spec specification can map every mesh axis to at most one positional "
                        f"dimension, but {spec} has duplicate entries for `{name}`"
                    )
                seen.add(name)
        _check_sets(mesh, spec)
        if UNCONSTRAINED in spec and not mesh.auto_axes:
            raise ValueError(
                f"{spec} cannot contain `P.UNCONSTRAINED` when no mesh axis_types are `Auto`. Got mesh axis_types: "
                f"{mesh.axis_types}"
            )
        if isinstance(mesh, AbstractMesh):
            if memory_kind not in (None, *device_list.MEMORY_KINDS):
                kinds = ", ".join(device_list.MEMORY_KINDS)
                raise ValueError(f"Got invalid memory kind: {memory_kind}. Valid memory kinds are: {kinds}")
        elif mesh.size:
            self._check_memory(mesh.devices.flat[0])

    @property
    def memory_kind(self):
        """The kind of the devices' memory; None over an AbstractMesh that states none."""
        return self._memory_kind or (None if isinstance(self.mesh, AbstractMesh) else "device")

    device_set = property(lambda self: set(self.mesh.devices.flat))

    def _ordered_devices(self):
        return tuple(self.mesh.devices.flat)

    def _axes_by_dimension(self, ndim):
        """For each dimension, the mesh axes that split it, as tuples; entries beyond the dimensions split nothing."""
        if any(names_in(entry) for entry in self.spec[ndim:]):
            raise ValueError(self._rank_message(ndim))
        return [names_in(entry) for entry in self.spec[:ndim]] + [()] * (ndim - len(self.spec))

    def _rank_message(self, ndim):
        return (
            f"Sharding {self} is only valid for values of rank at least {len(self.spec)}, but was applied to a "
            f"value of rank {ndim}.{'' if ndim else ' For scalars the PartitionSpec should be P()'}"
        )

    def _pieces(self, ndim):
        """For each dimension, the number of shards."""
        shape = self.mesh.shape
        counts = []
        for names in self._axes_by_dimension(ndim):
            count = 1
            for name in names:
                count *= shape[name]
            counts.append(count)
        return counts

    @property
    def is_fully_replicated(self):
        """Whether every device holds the whole array."""
        return not self.spec.unreduced and all(n == 1 for n in self._pieces(len(self.spec)))

    @property
    def replicated_axes(self):
        """Mesh axes along which the array is replicated."""
        used = {name for entry in self.spec for name in names_in(entry)}
        return frozenset(name for name in self.mesh.axis_names if name not in used)

    def shard_shape(self, global_shape):
        """The shape of the shard on each device; raises IndivisibleError if shards would be unequal."""
        counts = self._pieces(len(global_shape))
        for axis, (n, count) in enumerate(zip(global_shape, counts)):
            if n % count != 0:
                raise IndivisibleError(
                    f"Sharding {self} implies that array axis {axis} is partitioned {count} times, but the dimension "
                    f"size is {n} (full shape: {tuple(global_shape)}, per-dimension tiling factors: {counts} should "
                    "evenly divide the shape)"
                )
        return tuple(n // count for n, count in zip(global_shape, counts))

    def devices_indices_map(self, global_shape):
        """For each device, the slices of the array that it holds; slice(None) for replicated dimensions."""
        piece = self.shard_shape(global_shape)
        sizes = self.mesh.shape
        axes = self._axes_by_dimension(len(global_shape))
        result = {}
        for index in np.ndindex(*self.mesh.devices.shape):
            coordinate = dict(zip(self.mesh.axis_names, index))
            slices = []
            for names, n, whole in zip(axes, piece, global_shape):
                number = 0
                for name in names:
                    number = number * sizes[name] + coordinate[name]
                slices.append(slice(None) if n == whole else slice(number * n, (number + 1) * n))
            result[self.mesh.devices[index]] = tuple(slices)
        return result

    def with_memory_kind(self, kind):
        """The same sharding in another kind of memory."""
        return NamedSharding(self.mesh, self.spec, memory_kind=kind)

    def update(self, **changes):
        """A copy with `mesh`, `spec` or `memory_kind` replaced."""
        return NamedSharding(
            changes.get("mesh", self.mesh),
            changes.get("spec", self.spec),
            memory_kind=changes.get("memory_kind", self._memory_kind),
        )

    def check_compatible_aval(self, shape):
        """Raises ValueError if an array of this shape cannot have this sharding."""
        self._axes_by_dimension(len(shape))

    def __eq__(self, other):
        return (
            type(other) is NamedSharding
            and self.mesh == other.mesh
            and self.spec == other.spec
            and self.memory_kind == other.memory_kind
        )

    def __hash__(self):
        return hash((self.mesh, self.spec, self.memory_kind))

    def __repr__(self):
        abstract = self._memory_kind is None and isinstance(self.mesh, AbstractMesh)
        memory = "" if abstract else f", memory_kind={self.memory_kind}"
        return f"NamedSharding(mesh={self.mesh!s}, spec={self.spec!r}{memory})"

    def __reduce__(self):
        return _make_named, (self.mesh, self.spec, self._memory_kind)


def _check_sets(mesh, spec):
    """Raises ValueError for unreduced or reduced axes that the mesh has not, or not as explicit ones."""
    for kind, axes in (("Unreduced", spec.unreduced), ("Reduced", spec.reduced)):
        for name in axes:
            if name not in mesh.axis_names:
                raise ValueError(
                    f"{kind} axes {name} is not found in mesh.axis_names={mesh.axis_names}. Got pspec={spec}"
                )
            if name not in mesh.explicit_axes:
                raise ValueError(
                    f"{kind} axes can only refer to mesh axes that is of type `Explicit`. Got {kind.lower()} axes: "
                    f"{axes} and mesh: {mesh}"
                )


def _make_named(mesh, spec, memory_kind):
    return NamedSharding(mesh, spec, memory_kind=memory_kind)


def names_in(entry):
    """The mesh axes of one entry of a spec."""
    if entry is None or entry is UNCONSTRAINED:
        return ()
    return entry if isinstance(entry, tuple) else (entry,)


def with_whole_spec(sharding, ndim):
    """A sharding over a mesh with explicit axes with an entry for each dimension, as types have it; else as it is."""
    if not isinstance(sharding, NamedSharding) or len(sharding.spec) >= ndim or not sharding.mesh.explicit_axes:
        return sharding
    spec = sharding.spec
    whole = PartitionSpec(*spec, *[None] * (ndim - len(spec)), unreduced=spec.unreduced, reduced=spec.reduced)
    return NamedSharding(sharding.mesh, whole, memory_kind=sharding._memory_kind)


def without_trailing_entries(sharding):
    """A sharding over a mesh with other axes than explicit ones without entries that split nothing at its end."""
    if not isinstance(sharding, NamedSharding) or sharding.mesh.are_all_axes_explicit:
        return sharding
    entries = list(sharding.spec)
    while entries and entries[-1] is None:
        entries.pop()
    return sharding.update(
        spec=PartitionSpec(*entries, unreduced=sharding.spec.unreduced, reduced=sharding.spec.reduced)
    )


def insert_spec_entry(sharding, dim, entry):
    """Inserts `entry` for a new dimension `dim` into a spec or named sharding; returns other shardings unchanged."""
    if isinstance(sharding, NamedSharding):
        spec = insert_spec_entry(sharding.spec, dim, entry)
        return NamedSharding(sharding.mesh, spec, memory_kind=sharding._memory_kind)
    if not isinstance(sharding, PartitionSpec):
        return sharding
    entries = [*sharding, *[None] * max(0, dim - len(sharding))]
    return sharding.update(partitions=(*entries[:dim], entry, *entries[dim:]))


def divisible_sharding(mesh, cuts, shape):
    """A named sharding from the axes for each dimension, without axes that are repeated or do not divide the
    dimension."""
    seen, entries = set(), []
    for names, n in zip(cuts, shape):
        count = 1
        for a in names:
            count *= mesh.shape[a]
        fits = n % count == 0 and not seen & set(names)
        entries.append(names if fits else None)
        seen |= set(names) if fits else set()
    while entries and not entries[-1]:
        entries.pop()
    return NamedSharding(mesh, PartitionSpec(*entries))


def replica_ids(sharding, global_shape):
    """For each device, in order, the number of the replica of its shard, counted from 0."""
    seen, result = {}, {}
    for device, index in sharding.devices_indices_map(global_shape).items():
        key = tuple((s.start, s.stop) for s in index)
        result[device] = seen[key] = seen.get(key, -1) + 1
    return result
