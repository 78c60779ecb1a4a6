"""Mapped axes: the record that a batching rule receives, and the named axes in scope."""

import contextlib
import functools
import itertools
import threading
from dataclasses import dataclass, field, replace
from typing import Any

from onax._native import context


@dataclass(slots=True, unsafe_hash=True, repr=False)
class AxisData:
    """One mapped axis.

    Attributes:
      name: its name, or None.
      size: its length.
      spmd_name: the mesh axes over which values are sharded along it, or None.
      of_devices: whether its elements are devices.
      mesh: the mesh of `explicit_mesh_axis`.
      explicit_mesh_axis: the explicit mesh axes that split the mapped dimensions, or None.
    """

    name: Any
    size: Any
    spmd_name: Any = None
    of_devices: bool = False
    mesh: Any = field(default=None, hash=False)
    explicit_mesh_axis: Any = None

    def __repr__(self):
        return f"AxisData(name={self.name!r}, size={self.size!r}, spmd_name={self.spmd_name!r})"


@dataclass(slots=True, frozen=True, kw_only=True)
class ManualAxisType:
    """How a value inside `shard_map` relates to the mesh axes over which it maps.

    Args:
      varying: the axes over which the value varies from device to device.
      unreduced: the axes over which the value is a part of a sum.
      reduced: the axes over which cotangents are parts of a sum.

    Examples:
      >>> onax.typeof(jnp.ones(3)).manual_axis_type.varying
      frozenset()
    """

    varying: frozenset = frozenset()
    unreduced: frozenset = frozenset()
    reduced: frozenset = frozenset()

    def __post_init__(self):
        given = {name: getattr(self, name) for name in self.__slots__}
        for name, value in given.items():
            if not isinstance(value, (set, frozenset)):
                raise TypeError(f"ManualAxisType: {name} must be a set of names of mesh axes, got {value!r}")
            object.__setattr__(self, name, frozenset(value))
        for (a, one), (b, other) in itertools.combinations(given.items(), 2):
            if not one.isdisjoint(other):
                raise ValueError(f"{a} and {b} cannot have common mesh axes. Got {a}={one} and {b}={other}")

    empty = property(lambda self: not self.vur)
    vur = property(lambda self: self.varying | self.unreduced | self.reduced)

    def invarying(self, mesh):
        """The manual axes of a mesh over which the value is the same on all devices."""
        return frozenset(mesh.manual_axes) - self.vur

    def update(self, **changes):
        """A copy in which the given fields differ."""
        return replace(self, **changes)

    def to_ct_mat(self):
        """That of cotangents."""
        return replace(self, unreduced=self.reduced, reduced=self.unreduced)


def set_text(names, order):
    """The names of mesh axes as types show them, in the order of the mesh as far as it is known."""
    names = sorted(names, key=lambda name: (order.index(name) if name in order else len(order), str(name)))
    return str(names[0]) if len(names) == 1 else f"({','.join(map(str, names))})"


@functools.lru_cache(maxsize=256)
def manual_axis_type(varying, unreduced, reduced):
    """The ManualAxisType of a value that varies over these axes, and so on."""
    return ManualAxisType(varying=varying, unreduced=unreduced, reduced=reduced)


class _Scope(threading.local):
    def __init__(self):
        self.axes = ()
        self.spread = frozenset()
        self.mesh = None


_scope = _Scope()


class _Seen:
    """Whether a type has ever said that a value varies; until then nobody looks."""

    __slots__ = ("varying",)

    def __init__(self):
        self.varying = False


seen = _Seen()


@contextlib.contextmanager
def named_axes_in_scope(names, sizes, checked=None):
    """Makes axis names known while a mapped function runs.

    checked: for the manual axes of a `shard_map`, whether types say which values vary between devices; None for others.
    """
    previous = _scope.axes
    _scope.axes = (*previous, *((name, size, checked) for name, size in zip(names, sizes)))
    seen.varying = seen.varying or bool(checked)
    context.set_typed_axes(bool(checked_axes()))
    try:
        yield
    finally:
        _scope.axes = previous
        context.set_typed_axes(bool(checked_axes()))


@contextlib.contextmanager
def mesh_of_arguments(mesh):
    """Makes the mesh known over which arguments lie while a function of them is staged."""
    previous = _scope.mesh
    _scope.mesh = mesh
    try:
        yield
    finally:
        _scope.mesh = previous


def staged_for_mesh():
    """The mesh over which arguments of the function that is being staged lie, if it has others than the first devices;
    else None."""
    return _scope.mesh


@contextlib.contextmanager
def spread_axes_in_scope(names):
    """Makes known that a mapped axis is sharded over these axes of a mesh while the mapped function runs."""
    previous = _scope.spread
    _scope.spread = previous.union(names)
    try:
        yield
    finally:
        _scope.spread = previous


def spread_axes():
    """The axes of the mesh over which axes mapped by enclosing `vmap`s are sharded."""
    return _scope.spread


@contextlib.contextmanager
def named_axis(name, size, spread=()):
    """Makes one axis name known while a mapped function runs, and over which axes of a mesh it is sharded."""
    with named_axes_in_scope((name,), (size,)), spread_axes_in_scope(spread):
        yield


def names_of(axis_name):
    """The names in an axis name, which may be a tuple of several."""
    return tuple(axis_name) if isinstance(axis_name, (tuple, list)) else (axis_name,)


def _find(name):
    for entry in reversed(_scope.axes):
        if entry[0] == name:
            return entry
    return None


def axis_size(axis_name, operation=None):
    """The size of a named axis in scope, or the product of those of several.

    Raises NameError for a name that is not in scope; with `operation`, JAX's message for traced operands.
    """
    total = 1
    for name in names_of(axis_name):
        frame = _find(name)
        if frame is None:
            if operation is None:
                raise NameError(f"unbound axis name: {name}")
            raise NameError(
                f"Found an unbound axis name: {name}. To fix this, please call {operation} under `jax.shard_map`."
            )
        total *= frame[1]
    return total


def varying_is_checked(axis_name):
    """Whether one of these axes belongs to a `shard_map` in which types say which values vary between devices."""
    return any(frame is not None and frame[2] for frame in map(_find, names_of(axis_name)))


def checked_axes():
    """The names of all axes in scope of which types say which values vary over them, outermost first."""
    seen_names, axes = set(), []
    for name, _, checked in reversed(_scope.axes):  # the innermost of a name counts
        if name not in seen_names and checked:
            axes.append(name)
        seen_names.add(name)
    return tuple(reversed(axes))


def manual_axes():
    """The names of the mesh axes over which an enclosing `shard_map` or `pmap` maps."""
    return frozenset(name for name, _, checked in _scope.axes if checked is not None)


def named_axes():
    """The (name, size, checked) of all axes in scope, outermost first."""
    return _scope.axes


def axes_key():
    """The part of every staging cache's key that says which mapped axes are in scope, and over which devices."""
    return _scope.axes, _scope.spread, _scope.mesh
