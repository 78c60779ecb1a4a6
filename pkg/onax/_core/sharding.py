"""Meshes of devices, partition specs and shardings.

    Sharding
      SingleDeviceSharding   the whole array on one device
      NamedSharding          dimensions of the array split along named axes of a mesh; the others are replicated

A sharding maps a shape to one tuple of slices for each device.
"""

from _thread import _local
from collections import OrderedDict
from enum import Enum, auto

import numpy as np

from onax._ground import devices as device_list
from onax._ground import processes
from onax._ground.errors import JaxRuntimeError
from onax._ground.source import api_class


class IndivisibleError(ValueError):
    """A sharding would split a dimension into unequal shards."""


class DuplicateSpecError(ValueError):
    """A partition spec uses one mesh axis for two dimensions."""


class ShardingTypeError(Exception):
    """The sharding of a result over explicit axes cannot be told from those of the operands."""


class AxisType(Enum):
    """The kind of a mesh axis: Auto (the compiler chooses), Explicit (in types) or Manual (inside shard_map)."""

    Auto = "auto"
    Explicit = "explicit"
    Manual = "manual"

    def __repr__(self):
        return self.name

    __str__ = __repr__


class _Unconstrained:
    """The marker for a dimension whose sharding is left open."""

    __slots__ = ()

    def __repr__(self):
        return "UNCONSTRAINED"

    def __reduce__(self):
        return "UNCONSTRAINED"


UNCONSTRAINED = _Unconstrained()


def _canonical_entry(entry):
    """An entry of a spec: None, one axis name, a tuple of several, or UNCONSTRAINED."""
    if isinstance(entry, (tuple, list)):
        names = tuple(entry)
        return None if not names else names[0] if len(names) == 1 else names
    return entry


class UnreducedKind(Enum):
    """How the values of an unreduced axis are to be combined."""

    sum = auto()
    max = auto()
    min = auto()


@api_class
class PartitionSpec:
    """For each dimension of an array, the mesh axis or axes that split it; None for a replicated dimension."""

    __slots__ = ("_hash", "_partitions", "reduced", "unreduced")
    UNCONSTRAINED = UNCONSTRAINED

    def __init__(self, *partitions, unreduced=frozenset(), reduced=frozenset()):
        self._partitions = tuple(_canonical_entry(p) for p in partitions)
        self.unreduced = frozenset(unreduced)
        self.reduced = frozenset(reduced)
        self._hash = _hash_of("PartitionSpec", self._partitions, self.unreduced, self.reduced)

    @property
    def partitions(self):
        """The entries, as a tuple."""
        return self._partitions

    def __len__(self):
        return len(self._partitions)

    def __iter__(self):
        return iter(self._partitions)

    def __getitem__(self, index):
        return self._partitions[index]

    def index(self, value):
        """The index of the first entry equal to value."""
        return self._partitions.index(value)

    def count(self, value):
        """How many entries equal value."""
        return self._partitions.count(value)

    def __add__(self, other):
        if isinstance(other, PartitionSpec):
            return PartitionSpec(
                *self._partitions,
                *other._partitions,
                unreduced=self.unreduced | other.unreduced,
                reduced=self.reduced | other.reduced,
            )
        return PartitionSpec(*self._partitions, *other, unreduced=self.unreduced, reduced=self.reduced)

    def __radd__(self, other):
        return PartitionSpec(*other, *self._partitions, unreduced=self.unreduced, reduced=self.reduced)

    def update(self, **changes):
        """A copy with `partitions`, `unreduced` or `reduced` replaced."""
        fields = {"unreduced": self.unreduced, "reduced": self.reduced}
        partitions = changes.pop("partitions", self._partitions)
        return PartitionSpec(*partitions, **{**fields, **changes})

    def __eq__(self, other):
        if isinstance(other, PartitionSpec):
            return (
                self._partitions == other._partitions
                and self.unreduced == other.unreduced
                and self.reduced == other.reduced
            )
        return isinstance(other, tuple) and self._partitions == tuple(_canonical_entry(p) for p in other)

    def __hash__(self):
        return self._hash

    def __repr__(self):
        text = repr(self._partitions)
        for name in ("unreduced", "reduced"):
            value = getattr(self, name)
            if value:
                text = f"{text[:-1].rstrip(',')}, {name}={set(value)!r})"
        return f"P{text}"

    def __reduce__(self):
        return _make_spec, (self._partitions, self.unreduced, self.reduced)


def _make_spec(partitions, unreduced, reduced):
    return PartitionSpec(*partitions, unreduced=unreduced, reduced=reduced)


P = PartitionSpec


def _axis_names(kind, given):
    """The names of a mesh's axes, as a tuple."""
    if isinstance(given, str):
        return (given,)
    try:
        return tuple(given)
    except TypeError:
        raise TypeError(f"{kind} takes a sequence of axis names; got {given!r}") from None


def _hash_of(kind, *fields):
    """A hash of the fields of a mesh or a spec; raises TypeError, which names it, for an unhashable field."""
    try:
        return hash(fields)
    except TypeError as error:
        raise TypeError(f"{kind}: {error}") from None


def _axis_types(kind, given, names):
    """One AxisType for each axis; Auto where none is given."""
    if given is None:
        return (AxisType.Auto,) * len(names)
    types = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    if not all(isinstance(t, AxisType) for t in types):
        classes = tuple(map(type, types))
        raise TypeError(
            f"axis_types passed to {kind} must be of type `jax.sharding.AxisType`. Got {types} of type {classes}"
        )
    if len(types) != len(names):
        raise ValueError(
            f"Number of axis names should match the number of axis_types. Got axis_names={names} and axis_types={types}"
        )
    return types


class _Axes:
    """Base of Mesh and AbstractMesh: named axes with sizes and types."""

    __slots__ = ()

    @property
    def shape(self):
        """Sizes by axis name, in order."""
        return OrderedDict(zip(self.axis_names, self.axis_sizes))

    @property
    def shape_tuple(self):
        """Pairs of axis name and size."""
        return tuple(zip(self.axis_names, self.axis_sizes))

    @property
    def size(self):
        """How many devices there are."""
        total = 1
        for n in self.axis_sizes:
            total *= n
        return total

    @property
    def empty(self):
        """Whether the mesh has no axes."""
        return not self.axis_names

    def _axes_of(self, kind):
        return tuple(name for name, own in zip(self.axis_names, self.axis_types) if own is kind)

    auto_axes = property(lambda self: self._axes_of(AxisType.Auto))
    explicit_axes = property(lambda self: self._axes_of(AxisType.Explicit))
    manual_axes = property(lambda self: self._axes_of(AxisType.Manual))
    are_all_axes_auto = property(lambda self: all(t is AxisType.Auto for t in self.axis_types))
    are_all_axes_explicit = property(lambda self: all(t is AxisType.Explicit for t in self.axis_types))
    are_all_axes_manual = property(lambda self: all(t is AxisType.Manual for t in self.axis_types))

    def __str__(self):
        axes = ", ".join(f"{name!r}: {n}" for name, n in self.shape.items())
        types = f", axis_types={self._types_text()}" if self.axis_names else ""
        return f"{type(self).__name__}({axes}{types})"

    def _types_text(self):
        return repr(self.axis_types)


@api_class
class Mesh(_Axes):
    """A grid of devices whose axes have names.

    `devices` is an array of devices (or one to make one of), `axis_names` a name for each of its axes.
    Raises ValueError if their numbers differ.
    """

    __slots__ = ("_hash", "axis_names", "axis_types", "devices")

    def __init__(self, devices, axis_names, axis_types=None):
        grid = np.array(devices, dtype=object)
        names = _axis_names("Mesh", axis_names)
        if grid.ndim != len(names):
            raise ValueError(
                "Mesh requires the ndim of its first argument (`devices`) to equal the length of its second argument "
                f"(`axis_names`), but got devices.ndim == {grid.ndim} and len(axis_names) == {len(names)}."
            )
        if any(name is None for name in names):
            raise ValueError(f"Mesh axis names cannot be None. Got: {names}")
        grid.flags.writeable = False
        self.devices = grid
        self.axis_names = names
        self.axis_types = _axis_types("Mesh", axis_types, names)
        self._hash = _hash_of("Mesh", names, grid.shape, tuple(id(d) for d in grid.flat), self.axis_types)

    @property
    def axis_sizes(self):
        """The size of each axis."""
        return self.devices.shape

    @property
    def device_ids(self):
        """The ids of the devices, as an integer array of the mesh's shape."""
        return np.array([d.id for d in self.devices.flat], dtype=int).reshape(self.devices.shape)

    @property
    def local_devices(self):
        """The devices of this process."""
        return [device for device in self.devices.flat if device._addressable]

    @property
    def is_multi_process(self):
        """Whether some devices belong to other processes."""
        return processes.current() is not None and not all(device._addressable for device in self.devices.flat)

    @property
    def local_mesh(self):
        """The part of the mesh with the devices of this process; ValueError if they are not a block of it."""
        if not self.is_multi_process:
            return self
        own = np.vectorize(lambda device: device._addressable, otypes=[bool])(self.devices)
        block = self.devices[np.ix_(*[np.unique(at) for at in np.nonzero(own)])]
        if block.size != own.sum() or not block.size:
            raise ValueError("the devices of this process are not a contiguous block of the mesh")
        return Mesh(block, self.axis_names, self.axis_types)

    is_scalar = property(lambda self: self.devices.ndim == 0)

    @property
    def abstract_mesh(self):
        """The mesh without its devices."""
        return AbstractMesh(self.axis_sizes, self.axis_names, self.axis_types)

    def update(self, devices=None, axis_names=None, axis_types=None):
        """A copy with some fields replaced."""
        return Mesh(
            self.devices if devices is None else devices,
            self.axis_names if axis_names is None else axis_names,
            self.axis_types if axis_types is None else axis_types,
        )

    def __eq__(self, other):
        return self is other or (
            isinstance(other, Mesh)
            and self._hash == other._hash
            and self.axis_names == other.axis_names
            and self.axis_types == other.axis_types
            and self.devices.shape == other.devices.shape
            and all(a is b for a, b in zip(self.devices.flat, other.devices.flat))
        )

    def __hash__(self):
        return self._hash

    def __enter__(self):
        _stack().append(self)
        return self

    def __exit__(self, *_):
        _stack().pop()

    def __repr__(self):
        types = f", axis_types={self._types_text()}" if self.axis_names else ""
        return f"Mesh(axis_sizes={tuple(self.axis_sizes)}, axis_names={self.axis_names}{types})"

    def __reduce__(self):
        return Mesh, (self.devices, self.axis_names, self.axis_types)


@api_class
class AbstractMesh(_Axes):
    """Named, sized axes without devices."""

    __slots__ = ("axis_names", "axis_sizes", "axis_types")

    def __init__(self, axis_sizes, axis_names, axis_types=None):
        self.axis_names = _axis_names("AbstractMesh", axis_names)
        _hash_of("AbstractMesh", axis_sizes, self.axis_names)
        if not isinstance(axis_sizes, (tuple, str)):
            raise TypeError(f"AbstractMesh takes a sequence of axis sizes; got {axis_sizes!r}")
        self.axis_sizes = tuple(axis_sizes)
        if len(self.axis_sizes) != len(self.axis_names):
            raise ValueError(f"AbstractMesh got {len(self.axis_sizes)} sizes for {len(self.axis_names)} axis names")
        self.axis_types = _axis_types("AbstractMesh", axis_types, self.axis_names)

    def __eq__(self, other):
        return type(other) is AbstractMesh and (self.axis_sizes, self.axis_names, self.axis_types) == (
            other.axis_sizes,
            other.axis_names,
            other.axis_types,
        )

    def __hash__(self):
        return hash((self.axis_sizes, self.axis_names, self.axis_types))

    def __repr__(self):
        return str(self) if self.axis_names else "AbstractMesh((), axis_types=())"


_thread = _local()


def _stack():
    """The meshes of this thread's `with` blocks."""
    try:
        return _thread.stack
    except AttributeError:
        _thread.stack = []
        return _thread.stack


_no_mesh = None
_global_mesh = None


def get_mesh():
    """The mesh of the innermost `with mesh:` or `with set_mesh(mesh):` of this thread, else that of `set_mesh(mesh)`.

    An empty mesh where there is none.
    """
    global _no_mesh
    stack = _stack()
    if stack:
        return stack[-1]
    if _global_mesh is not None:
        return _global_mesh
    if _no_mesh is None:
        _no_mesh = Mesh(np.empty((), dtype=object), ())
    return _no_mesh


def get_abstract_mesh():
    """The mesh in context without its devices."""
    mesh = get_mesh()
    return mesh if isinstance(mesh, AbstractMesh) else mesh.abstract_mesh


@api_class
class set_mesh:
    """Sets the mesh in context, for a `with` block or from now on.

    PartitionSpecs then need no mesh beside them.
    """

    __slots__ = ("_mesh", "_previous")

    def __init__(self, mesh):
        global _global_mesh
        if not isinstance(mesh, Mesh):
            raise ValueError(f"Expected mesh of type `jax.sharding.Mesh`. Got {type(mesh)}")
        self._mesh = mesh
        self._previous = _global_mesh
        _global_mesh = mesh

    def __enter__(self):
        global _global_mesh
        _global_mesh = self._previous
        _stack().append(self._mesh)
        return self._mesh

    def __exit__(self, *_):
        _stack().pop()


class use_abstract_mesh:
    """Context manager that sets the abstract mesh in context."""

    __slots__ = ("_mesh",)

    def __init__(self, mesh):
        self._mesh = mesh

    def __enter__(self):
        _stack().append(self._mesh)
        return self._mesh

    def __exit__(self, *_):
        _stack().pop()


def resolve_spec(sharding, error, text):
    """Makes a PartitionSpec, or a sharding over an AbstractMesh, a sharding over the mesh in context.

    Raises error(text) for a spec without a mesh, ValueError for an AbstractMesh that is not that of the mesh.
    """
    if isinstance(sharding, NamedSharding) and isinstance(sharding.mesh, AbstractMesh):
        return _over_devices(sharding)
    if not isinstance(sharding, PartitionSpec):
        return sharding
    mesh = get_mesh()
    if mesh.empty:
        raise error(text)
    return NamedSharding(mesh, sharding)


def _over_devices(sharding):
    """A sharding over an AbstractMesh as one over the devices of the mesh in context."""
    if sharding.mesh.empty:
        raise ValueError(f"got an empty NamedSharding: {sharding} which is not allowed.")
    mesh = get_mesh()
    if isinstance(mesh, AbstractMesh) or mesh.abstract_mesh != sharding.mesh:
        raise ValueError(f"{sharding} needs devices: the mesh in context, {mesh}, is another one; see `onax.set_mesh`")
    return NamedSharding(mesh, sharding.spec, memory_kind=sharding.memory_kind)


def make_mesh(axis_shapes, axis_names, axis_types=None, *, devices=None):
    """A mesh of the given sizes over the first devices; raises ValueError when there are too few."""
    shapes = tuple(axis_shapes)
    available = device_list.devices() if devices is None else list(devices)
    num_devices = int(np.prod(shapes, dtype=int))
    if num_devices > len(available):
        raise ValueError(f"Number of devices {len(available)} must be >= the product of mesh_shape {shapes}")
    if axis_types is None:
        axis_types = (AxisType.Explicit,) * len(shapes)
    return Mesh(np.array(available[:num_devices], dtype=object).reshape(shapes), axis_names, axis_types)


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
            and _factors(self, ndim) == _factors(other, ndim)
        )

    def _check_memory(self, device):
        if self.memory_kind is not None:
            try:
                device.memory(self.memory_kind)
            except JaxRuntimeError as error:
                raise ValueError(str(error).removeprefix("INVALID_ARGUMENT: ")) from None


def _factors(sharding, ndim):
    """For each dimension, the mesh axes that split it, as strides and sizes in the order of devices."""
    if isinstance(sharding, SingleDeviceSharding):
        return [()] * ndim
    return [
        tuple((name, sharding.mesh.shape[name]) for name in names if sharding.mesh.shape[name] > 1)
        for names in sharding._axes_by_dimension(ndim)
    ]


@api_class
class SingleDeviceSharding(Sharding):
    """The whole array on one device."""

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

    Raises ValueError for axes that the mesh does not have, DuplicateSpecError for an axis that is used twice.
    """

    __slots__ = ("_memory_kind", "mesh", "spec")

    def __init__(self, mesh, spec, *, memory_kind=None):
        if not isinstance(spec, PartitionSpec):
            raise TypeError(f"NamedSharding takes a PartitionSpec as its second argument; got {spec!r}.")
        self.mesh = mesh
        self.spec = spec
        self._memory_kind = memory_kind
        seen = set()
        for entry in spec:
            for name in names_in(entry):
                if name not in mesh.axis_names:
                    raise ValueError(f"Resource axis: {name} of {spec} is not found in mesh: {mesh.axis_names}.")
                if name in seen:
                    raise DuplicateSpecError(
                        "A single NamedSharding spec specification can map every mesh axis to at most one positional "
                        f"dimension, but {spec} has duplicate entries for `{name}`"
                    )
                seen.add(name)
        if isinstance(mesh, Mesh) and mesh.devices.size:
            self._check_memory(mesh.devices.flat[0])

    memory_kind = property(lambda self: self._memory_kind or "device")
    device_set = property(lambda self: set(self.mesh.devices.flat))

    def _ordered_devices(self):
        return tuple(self.mesh.devices.flat)

    def _axes_by_dimension(self, ndim):
        """For each dimension, the mesh axes that split it, as tuples."""
        if len(self.spec) > ndim:
            raise ValueError(
                f"Sharding {self} is only valid for values of rank at least {len(self.spec)}, but was applied to a "
                f"value of rank {ndim}."
            )
        return [names_in(entry) for entry in self.spec] + [()] * (ndim - len(self.spec))

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
        return all(n == 1 for n in self._pieces(len(self.spec)))

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
        return f"NamedSharding(mesh={self.mesh!s}, spec={self.spec!r}, memory_kind={self.memory_kind})"

    def __reduce__(self):
        return _make_named, (self.mesh, self.spec, self._memory_kind)


def _make_named(mesh, spec, memory_kind):
    return NamedSharding(mesh, spec, memory_kind=memory_kind)


def names_in(entry):
    """The mesh axes of one entry of a spec."""
    if entry is None or entry is UNCONSTRAINED:
        return ()
    return entry if isinstance(entry, tuple) else (entry,)


def insert_spec_entry(sharding, dim, entry):
    """Inserts `entry` for a new dimension `dim` into a spec or named sharding; returns other shardings unchanged."""
    if isinstance(sharding, NamedSharding):
        spec = insert_spec_entry(sharding.spec, dim, entry)
        return NamedSharding(sharding.mesh, spec, memory_kind=sharding._memory_kind)
    if not isinstance(sharding, PartitionSpec):
        return sharding
    entries = [*sharding, *[None] * max(0, dim - len(sharding))]
    return PartitionSpec(*entries[:dim], entry, *entries[dim:])


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
