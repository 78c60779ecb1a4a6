"""Meshes of devices with named axes, the mesh in context, and partition specs."""

import functools
import math
import operator
from _thread import _local
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from onax._core.axes import manual_axes
from onax._core.mesh_context import Meshes, mesh_context
from onax._ground import devices as device_list
from onax._ground import processes
from onax._ground.source import api_class
from onax._native import context


class DuplicateSpecError(ValueError):
    """A partition spec uses one mesh axis for two dimensions."""


class AxisType(Enum):
    """The kind of a mesh axis: Auto (the compiler chooses), Explicit (in types) or Manual (inside shard_map)."""

    Auto = auto()
    Explicit = auto()
    Manual = auto()

    def __repr__(self):
        return self.name


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


def _set_fields(record, **fields):
    """Sets fields of a mesh or a spec, which nobody else can."""
    for name, value in fields.items():
        object.__setattr__(record, name, value)


def _refuse_to_set(self, name, value):
    raise AttributeError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self, name):
    raise AttributeError(f"cannot delete field {name!r}")


_IMMUTABLE = _refuse_to_set, _refuse_to_delete


def _axis_set(argument, names):
    """The names of axes of an argument of PartitionSpec, as a frozenset."""
    if not isinstance(names, (set, frozenset)):
        raise TypeError(f"{argument} argument of PartitionSpec should of type `frozenset` or `set`. Got type {names}")
    if None in names:
        raise ValueError(f"{argument} cannot contain None. All elements in {argument} should refer to the mesh axes.")
    return frozenset(names)


def _check_sets(partitions, unreduced, reduced):
    """Raises ValueError for an axis that a spec uses in two ways."""
    if unreduced & reduced:
        raise ValueError(
            "`unreduced` and `reduced` argument to PartitionSpec cannot overlap. "
            f"Got unreduced: {unreduced} and reduced: {reduced}"
        )
    names = {name for entry in partitions for name in (entry if isinstance(entry, tuple) else (entry,))}
    for kind, axes in (("unreduced", unreduced), ("reduced", reduced)):
        if names & axes:
            raise ValueError(
                f"partitions cannot overlap with {kind} axes passed to PartitionSpec. Got partitions: {partitions} "
                f"and {kind} axes: {axes}"
            )


@api_class
class PartitionSpec:
    """A spec that says which mesh axes split each dimension of an array.

    Args:
      partitions: for each dimension the name of a mesh axis, a tuple of names, or None for one that is not split.
      unreduced: names of axes over which values are yet to be summed; default none.
      reduced: names of axes over which they have been summed; default none.

    Examples:
      >>> onax.P("x", None, ("y", "z"))
      P('x', None, ('y', 'z'))
    """

    __slots__ = ("_hash", "_partitions", "reduced", "unreduced")
    reduced: frozenset[Any]
    unreduced: frozenset[Any]
    UNCONSTRAINED = UNCONSTRAINED

    def __init__(self, *partitions, unreduced=frozenset(), reduced=frozenset()):
        partitions = tuple(_canonical_entry(p) for p in partitions)
        if unreduced or reduced or unreduced is None or reduced is None:
            unreduced, reduced = _axis_set("unreduced", unreduced), _axis_set("reduced", reduced)
            _check_sets(partitions, unreduced, reduced)
        else:
            unreduced, reduced = frozenset(), frozenset()
        _set_fields(self, _partitions=partitions, unreduced=unreduced, reduced=reduced)
        _set_fields(self, _hash=_hash_of("PartitionSpec", partitions, unreduced, reduced))

    __setattr__, __delattr__ = _IMMUTABLE

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
        return self._partitions.index(_canonical_entry(value))

    def count(self, value):
        """How many entries equal value."""
        return self._partitions.count(_canonical_entry(value))

    def __add__(self, other):
        if isinstance(other, PartitionSpec):
            return PartitionSpec(
                *self._partitions,
                *other._partitions,
                unreduced=self.unreduced | other.unreduced,
                reduced=self.reduced | other.reduced,
            )
        self._refuse_sets(other, "__add__")
        return PartitionSpec(*self._partitions, *other)

    def __radd__(self, other):
        self._refuse_sets(other, "__radd__")
        return PartitionSpec(*other, *self._partitions)

    def _refuse_sets(self, other, operation):
        for name in ("unreduced", "reduced"):
            if getattr(self, name):
                raise TypeError(
                    f"other {other} cannot be of instance `tuple` when self {self} has {name} in `{operation}` of "
                    "PartitionSpec."
                )

    def update(self, **changes):
        """A copy with `partitions`, `unreduced` or `reduced` replaced."""
        fields = {"unreduced": self.unreduced, "reduced": self.reduced}
        partitions = changes.pop("partitions", self._partitions)
        return PartitionSpec(*partitions, **{**fields, **changes})

    def __eq__(self, other):
        if not isinstance(other, PartitionSpec):
            return False
        return (self._partitions, self.unreduced, self.reduced) == (other._partitions, other.unreduced, other.reduced)

    def __hash__(self):
        return self._hash

    def __repr__(self):
        if not self.unreduced and not self.reduced:
            return f"P{self._partitions!r}"
        entries = [repr(entry) for entry in self._partitions]
        sets = (("unreduced", self.unreduced), ("reduced", self.reduced))
        return f"P({', '.join(entries + [f'{name}={set(value)!r}' for name, value in sets if value])})"

    def __reduce__(self):
        return _make_spec, (self._partitions, self.unreduced, self.reduced)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


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
        """How many devices there are; 0 in a mesh without axes."""
        return math.prod(self.axis_sizes) if self.axis_names else 0

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


_meshes: WeakValueDictionary[Any, Any] = WeakValueDictionary()  # all that are alive


@api_class
class Mesh(_Axes):
    """A grid of devices whose axes have names.

    Args:
      devices: an array of Devices, or a sequence to make one of.
      axis_names: a name for each axis of the array.
      axis_types: an AxisType for each axis; default None, all automatic.

    Raises:
      ValueError: another number of names than axes.

    Examples:
      >>> onax.sharding.Mesh(np.array(onax.devices()[:1]), ("x",))
      Mesh(axis_sizes=(1,), axis_names=('x',), axis_types=(Auto,))
    """

    __slots__ = ("__weakref__", "_hash", "axis_names", "axis_types", "devices")
    axis_names: tuple[Any, ...]
    axis_types: tuple[AxisType, ...]
    devices: np.ndarray

    def __new__(cls, devices, axis_names, axis_types=None):
        grid = np.array(devices, dtype=object)
        names = _axis_names("Mesh", axis_names)
        if grid.ndim != len(names):
            raise ValueError(
                "Mesh requires the ndim of its first argument (`devices`) to equal the length of its second argument "
                f"(`axis_names`), but got devices.ndim == {grid.ndim} and len(axis_names) == {len(names)}."
            )
        if any(name is None for name in names):
            raise ValueError(f"Mesh axis names cannot be None. Got: {names}")
        types = _axis_types("Mesh", axis_types, names)
        ids = tuple([getattr(device, "id", None) for device in grid.flat])
        key = (names, grid.shape, ids, tuple(id(device) for device in grid.flat), types)
        _hash_of("Mesh", *key)
        found = _meshes.get(key)
        if found is not None:
            return found
        grid.flags.writeable = False
        self = super().__new__(cls)
        _set_fields(self, devices=grid, axis_names=names, axis_types=types, _hash=hash(key))
        return _meshes.setdefault(key, self)

    __setattr__, __delattr__ = _IMMUTABLE

    @property
    def size(self):
        """How many devices there are; 0 if the mesh has neither axes nor a device."""
        return 0 if self.empty and self.devices.flat[0] is None else self.devices.size

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
        first = None if self.empty else self.devices.flat[0]
        device = None if first is None else AbstractDevice(first.device_kind, None, first.platform)
        return AbstractMesh(self.axis_sizes, self.axis_names, self.axis_types, abstract_device=device)

    def update(self, devices=None, axis_names=None, axis_types=None):
        """A copy with some fields replaced."""
        return Mesh(
            self.devices if devices is None else devices,
            self.axis_names if axis_names is None else axis_names,
            self.axis_types if axis_types is None else axis_types,
        )

    # Equal meshes are one object.

    def __eq__(self, other):
        return self is other

    def __hash__(self):
        return self._hash

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __call__(self, function):
        """The function, within ``with mesh:``."""

        @functools.wraps(function)
        def in_mesh(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return in_mesh

    def __enter__(self):
        outer = mesh_context.value
        previous = mesh_context.swap_local(Meshes(self, outer.concrete, outer.abstract, self))
        _thread.__dict__.setdefault("previous", []).append(previous)
        return self

    def __exit__(self, *_):
        mesh_context.swap_local(_thread.previous.pop())

    def __repr__(self):
        types = f", axis_types={self._types_text()}" if self.size else ""
        return f"Mesh(axis_sizes={tuple(self.axis_sizes)}, axis_names={self.axis_names}{types})"

    def __reduce__(self):
        return Mesh, (self.devices, self.axis_names, self.axis_types)


@api_class
@dataclass(frozen=True, slots=True, repr=False)
class AbstractDevice:
    """The kind of the devices of a mesh, without the devices.

    Args:
      device_kind: the model of the devices, a str.
      num_cores: how many cores a device has, an int; None where it is one device.
      platform: "cpu" or "cuda".

    Examples:
      >>> onax.sharding.AbstractDevice("cpu", None, "cpu")
      AbstractDevice(device_kind=cpu, num_cores=None, platform=cpu)
    """

    device_kind: str
    num_cores: int | None
    platform: str

    def __repr__(self):
        return f"AbstractDevice({self._fields_text()})"

    def _fields_text(self):
        return f"device_kind={self.device_kind}, num_cores={self.num_cores}, platform={self.platform}"


def _needs_devices(name):
    def refuse(self, *_):
        raise ValueError(f"AbstractMesh does not implement {name}")

    return refuse


@api_class
class AbstractMesh(_Axes):
    """A grid of axes with names and sizes, without devices.

    Args:
      axis_sizes: a tuple of ints.
      axis_names: a tuple of names, as many.
      axis_types: an AxisType for each axis; default None, all automatic.
      abstract_device: an AbstractDevice, the kind of the devices that the mesh was made of; default None.  It is
        printed, and says nothing about the equality of meshes.

    Examples:
      >>> onax.sharding.AbstractMesh((2, 4), ("x", "y")).size
      8
    """

    __slots__ = ("abstract_device", "axis_names", "axis_sizes", "axis_types")

    def __init__(self, axis_sizes, axis_names, axis_types=None, *, abstract_device=None):
        self.abstract_device = abstract_device
        self.axis_names = _axis_names("AbstractMesh", axis_names)
        _hash_of("AbstractMesh", axis_sizes, self.axis_names)
        if not isinstance(axis_sizes, (tuple, str)):
            raise TypeError(f"AbstractMesh takes a sequence of axis sizes; got {axis_sizes!r}")
        self.axis_sizes = tuple(axis_sizes)
        if len(self.axis_sizes) != len(self.axis_names):
            lengths = (len(self.axis_names), len(self.axis_sizes))
            raise ValueError(
                f"safe_zip() argument 1 has length {lengths[1]} but argument 0 has length {lengths[0]}. All lengths: "
                f"{lengths}\nAbstractMesh takes a size for each axis."
            )
        self.axis_types = _axis_types("AbstractMesh", axis_types, self.axis_names)

    def __eq__(self, other):
        return type(other) is AbstractMesh and (self.axis_sizes, self.axis_names, self.axis_types) == (
            other.axis_sizes,
            other.axis_names,
            other.axis_types,
        )

    def __hash__(self):
        return hash((self.axis_sizes, self.axis_names, self.axis_types))

    abstract_mesh = property(lambda self: self)
    devices = property(_needs_devices("devices"))
    device_ids = property(_needs_devices("device_ids"))
    is_multi_process = property(_needs_devices("is_multi_process"))
    local_devices = property(_needs_devices("local_devices"))
    local_mesh = property(_needs_devices("local_mesh"))
    __enter__ = _needs_devices("__enter__")
    __exit__ = _needs_devices("__exit__")

    def update(self, axis_sizes=None, axis_names=None, axis_types=None, **kwargs):
        """A copy with some fields replaced."""
        return AbstractMesh(
            self.axis_sizes if axis_sizes is None else axis_sizes,
            self.axis_names if axis_names is None else axis_names,
            self.axis_types if axis_types is None else axis_types,
            **({"abstract_device": self.abstract_device} | kwargs),
        )

    def update_axis_types(self, name_to_type):
        """A copy in which the axes that a dict names have its types."""
        types = tuple(name_to_type.get(name, own) for name, own in zip(self.axis_names, self.axis_types))
        return self.update(axis_types=types)

    def __repr__(self):
        axes = ", ".join(f"{name!r}: {n}" for name, n in self.shape_tuple) or "()"
        device = f", {self.abstract_device._fields_text()}" if self.abstract_device is not None else ""
        return f"AbstractMesh({axes}, axis_types={self.axis_types}{device})"

    __str__ = __repr__


_thread = _local()


class mesh_scope:
    """Context manager in which a mesh is that of specs and of `get_abstract_mesh`."""

    __slots__ = ("_mesh", "_previous")

    def __init__(self, mesh):
        self._mesh = mesh

    def __enter__(self):
        outer = mesh_context.value
        entered = Meshes(self._mesh, outer.concrete, self._mesh.abstract_mesh, outer.entered)
        self._previous = mesh_context.swap_local(entered)

    def __exit__(self, *_):
        mesh_context.swap_local(self._previous)


@functools.cache
def _no_mesh():
    return Mesh(np.empty((), dtype=object), ())


_NO_ABSTRACT_MESH = AbstractMesh((), ())


def mesh_of_specs() -> Mesh | AbstractMesh:
    """The mesh over which PartitionSpecs without a mesh are: of the innermost ``with``, also ``with mesh:``."""
    return mesh_context.value.of_specs or _no_mesh()


def concrete_mesh() -> Mesh:
    """The mesh in context that `set_mesh` has set, or that of ``with mesh:``; an empty one if there is none."""
    of_specs = mesh_context.value.of_specs
    return mesh_context.value.concrete or (of_specs if isinstance(of_specs, Mesh) else _no_mesh())


def set_mesh_in_context() -> Mesh | None:
    """The mesh that `set_mesh` has set, with the axes that `use_abstract_mesh` has given it since; None while there is
    none, or while that of ``with mesh:`` is the mesh of specs."""
    found = mesh_context.value
    if found.of_specs is found.concrete or found.concrete is None:
        return found.concrete
    if isinstance(found.of_specs, AbstractMesh) and found.of_specs.size == found.concrete.size:
        return _with_axes_of(found.concrete, found.of_specs)
    return None


@functools.lru_cache(maxsize=64)
def _with_axes_of(mesh, wanted):
    return Mesh(mesh.devices.reshape(wanted.axis_sizes), wanted.axis_names, wanted.axis_types)


def with_mesh_in_context() -> Mesh | None:
    """The mesh of the innermost ``with mesh:``; None if there is none."""
    return mesh_context.value.entered


def mesh_of_options(of_pjit) -> Mesh | AbstractMesh:
    """The mesh over which the PartitionSpecs among the options of jit are: that of `set_mesh`, or where a function of
    `pjit` is meant, that of ``with mesh:``."""
    found = mesh_context.value
    if of_pjit:
        return found.entered or _no_mesh()
    return (found.concrete or _no_mesh()) if found.of_specs is found.entered else mesh_of_specs()


class pjit_scope:
    """Context manager in which `pjit` stages a function: the mesh of ``with mesh:`` is that of `set_mesh` too."""

    __slots__ = ("_previous",)

    def __enter__(self):
        mesh = mesh_context.value.entered
        self._previous = mesh_context.swap_local(Meshes(mesh, mesh, mesh.abstract_mesh, mesh))

    def __exit__(self, *_):
        mesh_context.swap_local(self._previous)


def get_mesh() -> Mesh:
    """Returns the mesh in context, which `set_mesh` has set in this thread.

    Returns:
      A Mesh; an empty one if there is none.

    Raises:
      ValueError: a function is being traced, where `get_abstract_mesh` gives the mesh.

    Examples:
      >>> with onax.set_mesh(onax.make_mesh((1,), ("x",))):
      ...     print(onax.sharding.get_mesh().axis_names)
      ('x',)
    """
    if context.get_trace() is not None:
        raise ValueError(
            "`get_mesh` can only be used outside of `jax.jit`. Maybe you want `jax.sharding.get_abstract_mesh()`?"
        )
    return mesh_context.value.concrete or _no_mesh()


def entered_mesh() -> AbstractMesh:
    """The mesh in context without its devices, whose axes have the types that they have outside of any `shard_map`."""
    return mesh_context.value.abstract or _NO_ABSTRACT_MESH


def get_abstract_mesh() -> AbstractMesh:
    """Returns the mesh in context without its devices, which `set_mesh` or `use_abstract_mesh` has set in this thread.

    Returns:
      An AbstractMesh; an empty one if there is none.  Inside of a `shard_map` its axes have the type `Manual`.

    Examples:
      >>> with onax.set_mesh(onax.make_mesh((1,), ("x",))):
      ...     print(onax.sharding.get_abstract_mesh().axis_names)
      ('x',)
    """
    mesh = entered_mesh()
    manual = manual_axes()
    return mesh.update_axis_types(dict.fromkeys(manual, AxisType.Manual)) if manual else mesh


@api_class
class set_mesh:
    """Sets the mesh in context of this thread, for a ``with`` block or from now on.

    PartitionSpecs then need no mesh beside them.

    Args:
      mesh: a Mesh; None: none is in context.

    Raises:
      ValueError: another kind of value; a mesh with axes of the type `Manual`; a function is being traced.

    Examples:
      >>> with onax.set_mesh(onax.make_mesh((1,), ("x",))):
      ...     print(onax.reshard(jnp.arange(2), onax.P("x")).sharding.spec)
      P('x',)
    """

    __slots__ = ("_previous",)

    def __init__(self, mesh: Mesh | None):
        if mesh is not None and not isinstance(mesh, Mesh):
            raise ValueError(f"Expected mesh of type `jax.sharding.Mesh`. Got {type(mesh)}")
        if context.get_trace() is not None:
            raise ValueError("`set_mesh` can only be used outside of `jax.jit`.")
        if mesh is not None and AxisType.Manual in mesh.axis_types:
            raise ValueError(
                f"mesh {mesh} contains manual axes which is not allowed when using `jax.set_mesh`. Please use "
                "`jax.shard_map` to enter into `Manual` mode instead."
            )
        abstract = None if mesh is None else mesh.abstract_mesh
        self._previous = mesh_context.swap_local(Meshes(mesh, mesh, abstract, mesh_context.value.entered))

    def __enter__(self):
        return None

    def __exit__(self, *_):
        mesh_context.swap_local(self._previous)


class use_abstract_mesh:
    """Context manager that sets the mesh in context, without devices.

    Args:
      mesh: an AbstractMesh, of the size of the one in context if there is one.

    Raises:
      ValueError: another kind of value, or a mesh of another size.

    Examples:
      >>> with onax.sharding.use_abstract_mesh(onax.sharding.AbstractMesh((2,), ("x",))):
      ...     print(onax.sharding.get_abstract_mesh().axis_sizes)
      (2,)
    """

    __slots__ = ("_mesh", "_previous")

    def __init__(self, mesh: AbstractMesh):
        if not isinstance(mesh, AbstractMesh):
            raise ValueError(f"Expected mesh of type `jax.sharding.AbstractMesh`. Got type: {type(mesh)}")
        self._mesh = mesh

    def __enter__(self):
        outer, mesh = mesh_context.value, self._mesh
        if outer.abstract is not None and not mesh.empty and outer.abstract.size != mesh.size:
            raise ValueError(
                f"use_abstract_mesh cannot change the size of the mesh. Got new mesh: {mesh} with size={mesh.size} and "
                f"prev mesh: {outer.abstract} with size={outer.abstract.size}"
            )
        self._previous = mesh_context.swap_local(Meshes(mesh, outer.concrete, mesh, outer.entered))

    def __exit__(self, *_):
        mesh_context.swap_local(self._previous)


def make_mesh(
    axis_shapes: Sequence[int], axis_names: Sequence[Any], axis_types: Any = None, *, devices: Any = None
) -> Mesh:
    """Returns a mesh of given sizes over the first devices.

    Args:
      axis_shapes: the sizes of the axes.
      axis_names: their names.
      axis_types: an AxisType for each; default None, all explicit: shardings over them show in types.
      devices: the devices; default None, all.

    Returns:
      A Mesh.

    Raises:
      ValueError: there are too few devices, or a size is no int.

    Examples:
      >>> onax.make_mesh((1,), ("x",))
      Mesh(axis_sizes=(1,), axis_names=('x',), axis_types=(Explicit,))
    """
    shapes = tuple(axis_shapes)
    if not all(hasattr(n, "__index__") for n in shapes):
        raise ValueError(f"`axis_shapes` passed to `make_mesh` should be a sequence of ints. Got {axis_shapes}")
    shapes = tuple(map(operator.index, shapes))
    available = device_list.devices() if devices is None else list(devices)
    num_devices = int(np.prod(shapes, dtype=int))
    if num_devices > len(available):
        raise ValueError(f"Number of devices {len(available)} must be >= the product of mesh_shape {shapes}")
    if num_devices < 0:
        raise ValueError(f"Number of devices {len(available)} must equal the product of mesh_shape {shapes}")
    if axis_types is None:
        axis_types = (AxisType.Explicit,) * len(shapes)
    return Mesh(np.array(available[:num_devices], dtype=object).reshape(shapes), axis_names, axis_types)
