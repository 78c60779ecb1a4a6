"""Shardings in the types of arrays: over the explicit axes of a mesh, of which types and their rules tell."""

import contextlib
import functools
import threading

from onax._core.axes import AxisData, set_text
from onax._core.meshes import AbstractMesh, PartitionSpec
from onax._core.sharding import NamedSharding, names_in
from onax._native.array_sources import make_sharded, make_spanning
from onax._native.avals import ShapedArray


class _Seen:
    """Whether any value has had a sharding over explicit axes; until then nobody looks for shardings in types."""

    __slots__ = ("explicit_axes", "thread")

    def __init__(self):
        self.explicit_axes = False
        self.thread = threading.local()

    @property
    def automatic(self):
        """Whether this thread is inside `automatic_axes()`, where results have no shardings in their types."""
        return getattr(self.thread, "automatic", False)


seen = _Seen()


@contextlib.contextmanager
def automatic_axes():
    """Context in which the explicit axes count as automatic: operations give results without shardings in types."""
    previous, seen.thread.automatic = seen.automatic, True
    try:
        yield
    finally:
        seen.thread.automatic = previous


@functools.lru_cache(maxsize=512)
def _explicit_part(mesh, spec, ndim):
    entries = [names_in(entry) for entry in spec] + [()] * (ndim - len(spec))
    explicit = set(mesh.explicit_axes)
    kept = [tuple(a for a in names if a in explicit) for names in entries]
    unreduced, reduced = spec.unreduced & explicit, spec.reduced & explicit
    if not any(kept) and not unreduced and not reduced:
        return None
    spec = PartitionSpec(*kept, unreduced=unreduced, reduced=reduced)
    return NamedSharding(mesh if isinstance(mesh, AbstractMesh) else mesh.abstract_mesh, spec)


def explicit_sharding(sharding, ndim):
    """The sharding in the type of an array: over the abstract mesh, of explicit axes; None if it is whole."""
    if not isinstance(sharding, NamedSharding) or not sharding.mesh.explicit_axes:
        return None
    seen.explicit_axes = True
    return _explicit_part(sharding.mesh, sharding.spec, ndim)


def sharding_of_type(sharding, ndim):
    """What a type keeps of a sharding with which it is made."""
    return explicit_sharding(sharding, ndim) if isinstance(sharding, NamedSharding) else sharding


def with_mapped_axis(aval, dim, axis_data):
    """The type of all examples of a mapped function together, from that of one; `dim`: the mapped axis."""
    if aval.is_high:
        return aval.inc_rank(axis_data.size, dim)
    aval, own = aval.update(shape=(*aval.shape[:dim], axis_data.size, *aval.shape[dim:])), aval.stated_sharding
    if own is None and axis_data.explicit_mesh_axis is None:
        return aval
    entries = [()] * (aval.ndim - 1) if own is None else [*map(names_in, own.spec)]
    spec = PartitionSpec(*entries[:dim], axis_data.explicit_mesh_axis, *entries[dim:])
    if own is not None:
        spec = spec.update(unreduced=own.spec.unreduced, reduced=own.spec.reduced)
    return aval.update(
        sharding=explicit_sharding(NamedSharding(axis_data.mesh if own is None else own.mesh, spec), aval.ndim)
    )


def without_mapped_axis(aval, dim, size=None):
    """The type of one example of a mapped function, from that of all together, which are `size`."""
    if aval.is_high:
        return aval.dec_rank(size, dim)
    one, own = aval.update(shape=(*aval.shape[:dim], *aval.shape[dim + 1 :])), aval.stated_sharding
    if own is None:
        return one
    return one.update(sharding=explicit_sharding(own.update(spec=_without_entry(own.spec, dim)), one.ndim))


def with_axis(aval, size, dim):
    """The type of an array with one more axis, which no mesh axis splits; the same for None."""
    return aval if dim is None else with_mapped_axis(aval, dim, AxisData(None, size))


def without_axis(aval, size, dim):
    """The type of an array without an axis; the same for None."""
    return aval if dim is None else without_mapped_axis(aval, dim, size)


def _without_entry(spec, dim):
    return PartitionSpec(*spec[:dim], *spec[dim + 1 :], unreduced=spec.unreduced, reduced=spec.reduced)


def split_by(aval, dim):
    """The explicit mesh axes that split a dimension: a name or a tuple of several; None for none."""
    own = getattr(aval, "stated_sharding", None)
    names = () if own is None or dim >= len(own.spec) else names_in(own.spec[dim])
    return None if not names else names[0] if len(names) == 1 else tuple(names)


def cotangent_type(aval):
    """The type of cotangents of values of a type: over the axes over which one is reduced the other is unreduced."""
    if type(aval) is not ShapedArray:
        return aval
    own = aval.stated_sharding
    if own is not None and (own.spec.unreduced or own.spec.reduced):
        spec = own.spec.update(unreduced=own.spec.reduced, reduced=own.spec.unreduced)
        aval = aval.update(sharding=own.update(spec=spec))
    if aval.unreduced or aval.reduced:
        aval = aval.update(manual_axis_type=aval.mat.to_ct_mat())
    return aval


def axes_text(aval):
    """The mesh axes over which values vary, are unreduced or reduced, as types show them: `{V:x}`."""
    own, order = aval.stated_sharding, ()
    unreduced, reduced = aval.unreduced, aval.reduced
    if own is not None:
        order, unreduced, reduced = own.mesh.axis_names, unreduced | own.spec.unreduced, reduced | own.spec.reduced
    parts = zip("VUR", (aval.varying, unreduced, reduced))
    shown = [f"{letter}:{set_text(names, order)}" for letter, names in parts if names]
    return f"{{{', '.join(shown)}}}" if shown else ""


def axes_of(aval):
    """The explicit mesh axes that split any dimension of a type."""
    own = getattr(aval, "stated_sharding", None)
    return () if own is None else tuple(a for entry in own.spec for a in names_in(entry))


def is_split(aval):
    """Whether the type of an operand says that explicit axes split it, where types say so."""
    own = None if seen.automatic else aval.stated_sharding
    return own is not None and any(entry is not None for entry in own.spec)


def dimensions_text(shape, sharding):
    """The dimensions of a type, each with the explicit axes that split it: `4@x,2`."""
    texts = []
    for n, entry in zip(shape, sharding.spec):
        names = names_in(entry)
        axes = names[0] if len(names) == 1 else f"({','.join(names)})"
        texts.append(f"{n}@{axes}" if names else str(n))
    return ",".join(texts)


def sharded_array(whole, shards, sharding, dtype, weak_type):
    """The array of a whole value over devices, with its type; `shards`: pairs of a device and its part."""
    return make_sharded(whole, shards, sharding, dtype, weak_type, explicit_sharding(sharding, whole.ndim))


def spanning_array(aval, shards, sharding):
    """The array of a type over devices of several processes; `shards`: a pair (device, part) for each one here."""
    return make_spanning(aval.update(sharding=explicit_sharding(sharding, aval.ndim)), shards, sharding)
