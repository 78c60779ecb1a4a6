"""Mapped axes: what a batching rule knows of the axis, and the named axes in scope."""

import contextlib
import threading


class AxisData:
    """One mapped axis: its name (or None), its size and the mesh axes it is spread over."""

    __slots__ = ("explicit_mesh_axis", "name", "size", "spmd_name")

    def __init__(self, name, size, spmd_name=None):
        self.name = name
        self.size = size
        self.spmd_name = spmd_name
        self.explicit_mesh_axis = None

    def __eq__(self, other):
        return (
            isinstance(other, AxisData)
            and self.name == other.name
            and self.size == other.size
            and self.spmd_name == other.spmd_name
        )

    def __hash__(self):
        return hash((self.name, self.size, self.spmd_name))

    def __repr__(self):
        return f"AxisData(name={self.name!r}, size={self.size!r}, spmd_name={self.spmd_name!r})"


class _Scope(threading.local):
    def __init__(self):
        self.sizes = ()


_scope = _Scope()


@contextlib.contextmanager
def named_axis(name, size):
    """Makes an axis name known while a mapped function runs."""
    previous = _scope.sizes
    _scope.sizes = (*previous, (name, size))
    try:
        yield
    finally:
        _scope.sizes = previous


def axis_size(name):
    """The size of a named axis in scope; NameError as JAX words it otherwise."""
    for known, size in reversed(_scope.sizes):
        if known == name:
            return size
    raise NameError(f"Found an unbound axis name: {name}. To fix this, please call psum under `jax.shard_map`.")


def named_axes():
    """The (name, size) pairs in scope, outermost first; part of every staging cache's key."""
    return _scope.sizes
