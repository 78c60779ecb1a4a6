"""Mapped axes: the record that a batching rule receives, and the named axes in scope."""

import contextlib
import threading
from dataclasses import dataclass, field
from typing import Any


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


class _Scope(threading.local):
    def __init__(self):
        self.axes = ()


_scope = _Scope()


@contextlib.contextmanager
def named_axes_in_scope(names, sizes, checked=None):
    """Makes axis names known while a mapped function runs.

    checked: for the manual axes of a `shard_map`, whether it checks which values vary between devices; None for others.
    """
    previous = _scope.axes
    _scope.axes = (*previous, *((name, size, checked) for name, size in zip(names, sizes)))
    try:
        yield
    finally:
        _scope.axes = previous


def named_axis(name, size):
    """Makes one axis name known while a mapped function runs."""
    return named_axes_in_scope((name,), (size,))


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
    """Whether one of these axes belongs to a `shard_map` that checks which values vary between devices."""
    return any(frame is not None and frame[2] for frame in map(_find, names_of(axis_name)))


def checked_axes():
    """The names of all axes in scope over which varying values are checked, outermost first."""
    return tuple(name for name, _, checked in _scope.axes if checked)


def manual_axes():
    """The names of the mesh axes over which an enclosing `shard_map` or `pmap` maps."""
    return frozenset(name for name, _, checked in _scope.axes if checked is not None)


def named_axes():
    """The (name, size, checked) of all axes in scope, outermost first; part of every staging cache's key."""
    return _scope.axes
