"""Global values as one device holds them, and how their blocks move between devices when another sharding is wanted.

    axes      for each dimension the mesh axes that split it, as a tuple; () for a dimension that is whole
    pending   mesh axes over which the devices' values still have to be summed: the partial sums of a product

A value remembers each form that it was brought into, so that two readers share one collective.
"""

import contextlib

import numpy as np

from onax._core.meshes import PartitionSpec
from onax._core.sharding import NamedSharding, divisible_sharding, names_in
from onax._ground.source import here
from onax._prims.collectives import all_gather_p, all_to_all_p, index_along, ppermute_p, psum_p, reduce_scatter_p
from onax._prims.creation import full_like
from onax._prims.elementwise import mul
from onax._prims.shaping import shape_of
from onax._prims.slicing import dynamic_slice


class ShardedValue:
    """A global value of type `aval`; `value` is a device's own block, or its part of the sum over `pending` axes."""

    __slots__ = ("aval", "axes", "forms", "pending", "record", "value")

    def __init__(self, value, aval, axes=None, pending=()):
        self.value = value
        self.aval = aval
        self.axes = ((),) * aval.ndim if axes is None else tuple(map(tuple, axes))
        self.pending = tuple(pending)
        self.forms = {} if self.pending else {self.axes: value}
        self.record = here.record  # the source location of the equation that gives the value

    @property
    def is_whole(self):
        """Whether every device holds the whole value."""
        return not self.pending and not any(self.axes)

    @property
    def spec(self):
        """The PartitionSpec of the axes, without trailing None."""
        return spec_of_axes(self.axes)


def spec_of_axes(axes):
    """The PartitionSpec of a tuple of mesh axes for each dimension, without trailing None."""
    entries = list(axes)
    while entries and not entries[-1]:
        entries.pop()
    return PartitionSpec(*entries)


def axes_of_spec(spec, ndim):
    """For each of `ndim` dimensions the mesh axes of a PartitionSpec, as tuples."""
    entries = [names_in(entry) for entry in spec]
    return (*entries, *[()] * (ndim - len(entries)))


def usable_axes(mesh, axes, shape):
    """The axes for each dimension without those that are repeated or that do not divide the dimension."""
    return axes_of_spec(divisible_sharding(mesh, axes, shape).spec, len(shape))


@contextlib.contextmanager
def _at(record):
    """Equations bound within have the source location of `record`."""
    outer, here.record = here.record, record
    try:
        yield
    finally:
        here.record = outer


class Resharder:
    """Brings values into other shardings over one mesh, by collectives over its axes."""

    def __init__(self, mesh):
        self.mesh = mesh
        self.sizes = mesh.shape

    def count(self, names):
        """The number of devices along some axes."""
        total = 1
        for name in names:
            total *= self.sizes[name]
        return total

    def block_of(self, x, axes=None):
        """A device's block of a ShardedValue with these axes (by default its own), all sums taken."""
        axes = x.axes if axes is None else tuple(map(tuple, axes))
        if not x.forms:
            start = _with_scattered_axes(x.axes, axes, x.pending)
            with _at(x.record):  # a sum has the line of the value
                x.forms[start] = self._sum_pending(x, start)
        if axes not in x.forms:
            with _at(here.record or x.record):  # others that of the reader, if there is one
                self._add_form(x, axes)
        return x.forms[axes]

    def _add_form(self, x, axes):
        """Brings a value into a form that it does not have yet."""
        whole = ((),) * len(axes)
        start = whole if whole in x.forms else next(iter(x.forms))
        x.forms[axes] = self._move(x.forms[start], start, axes)

    def whole(self, x):
        """The whole value on every device."""
        return self.block_of(x, ((),) * x.aval.ndim)

    def _sum_pending(self, x, axes):
        """The sum over the pending axes; a device gets only its block along those by which `axes` has more."""
        value, rest = x.value, list(x.pending)
        for dim, (now, target) in enumerate(zip(x.axes, axes)):
            added = target[len(now) :]
            if added:
                rest = [a for a in rest if a not in added]
                value = reduce_scatter_p.bind(
                    value, scatter_dimension=dim, axis_index_groups=None, axis_name=added,
                    axis_size=self.count(added), tiled=True,
                )  # fmt: skip
        return psum_p.bind(value, axes=tuple(rest), axis_index_groups=None) if rest else value

    # ---- from one sharding to another

    def _move(self, value, now, target):
        """A device's block along the axes `target`, from its block along the axes `now`."""
        now = list(now)
        value = self._slice(value, now, target)
        if self._is_permutation(now, target):
            return self._permute(value, now, target)
        value = self._gather(value, now, target, wanted_elsewhere=False)
        for dim, names in enumerate(now):
            surplus = _surplus(names, target[dim])
            other = next((d for d in range(len(now)) if surplus and target[d] == now[d] + surplus), None)
            if other is not None:
                value = all_to_all_p.bind(
                    value, axis_name=surplus, split_axis=other, concat_axis=dim, axis_index_groups=None, tiled=True
                )
                now[dim], now[other] = names[: len(names) - len(surplus)], target[other]
        value = self._gather(value, now, target, wanted_elsewhere=True)
        return self._slice(value, now, target)

    def _gather(self, value, now, target, wanted_elsewhere):
        """Gathers the dimensions that lose axes; updates `now`.  Those whose axes other dimensions get can wait."""
        for dim, names in enumerate(now):
            surplus = _surplus(names, target[dim])
            if surplus and (wanted_elsewhere or all(set(surplus).isdisjoint(own) for own in target)):
                value = all_gather_p.bind(
                    value, all_gather_dimension=dim, axis_index_groups=None, axis_name=surplus,
                    axis_size=self.count(surplus), tiled=True,
                )  # fmt: skip
                now[dim] = names[: len(names) - len(surplus)]
        return value

    def _slice(self, value, now, target):
        """Slices the dimensions that get more axes, of which none is in use yet; updates `now`."""
        starts, sizes = [np.int32(0)] * len(now), list(shape_of(value))
        used = {a for names in now for a in names}
        for dim, (names, wanted) in enumerate(zip(now, target)):
            added = wanted[len(names) :]
            if added and wanted[: len(names)] == names and used.isdisjoint(added):
                index = index_along(added)
                sizes[dim] //= self.count(added)
                starts[dim] = mul(index, full_like(index, sizes[dim]))
                now[dim] = wanted
                used.update(added)
        if tuple(sizes) == shape_of(value):
            return value
        return dynamic_slice(value, starts, sizes, allow_negative_indices=False)

    def _is_permutation(self, now, target):
        """Whether devices only exchange their blocks: each dimension is split into as many as before."""
        counts = [(self.count(a), self.count(b)) for a, b in zip(now, target)]
        return list(now) != list(target) and all(m == n for m, n in counts)

    def _permute(self, value, now, target):
        """Sends each device the block that it needs."""
        involved = {a for names in (*now, *target) for a in names}
        names = tuple(a for a in self.mesh.axis_names if a in involved)
        coordinates = [dict(zip(names, index)) for index in np.ndindex(*(self.sizes[a] for a in names))]
        holders = {}
        for i, coordinate in enumerate(coordinates):
            holders.setdefault(self._block_number(now, coordinate), []).append(i)
        pairs = [(holders[self._block_number(target, c)].pop(0), i) for i, c in enumerate(coordinates)]
        return ppermute_p.bind(value, axis_name=names, perm=tuple(pairs))

    def _block_number(self, axes, coordinate):
        """For each dimension the number of the block of the device at a coordinate."""
        numbers = []
        for names in axes:
            number = 0
            for a in names:
                number = number * self.sizes[a] + coordinate[a]
            numbers.append(number)
        return tuple(numbers)

    def sharding(self, axes):
        """The NamedSharding of a tuple of mesh axes for each dimension."""
        return NamedSharding(self.mesh, spec_of_axes(axes))


def _surplus(names, target):
    """The axes behind the first one in which `names` differs from `target`."""
    count = 0
    for a, b in zip(names, target):
        if a != b:
            break
        count += 1
    return names[count:]


def _with_scattered_axes(now, target, pending):
    """The axes after a sum over `pending` that scatters: dimensions get the pending axes that `target` adds there."""
    result = []
    for names, wanted in zip(now, target):
        added = wanted[len(names) :]
        scatters = wanted[: len(names)] == names and set(added) <= set(pending)
        result.append(wanted if scatters else names)
    return tuple(result)
