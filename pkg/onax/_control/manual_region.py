"""The manual axes of a shard_map, the types of its shards, and its body as one program of all devices."""

import contextlib
import math

from onax._control.shard_values import on_whole_values, run_batched, split_shards
from onax._core.axes import ManualAxisType, named_axes_in_scope, spread_axes
from onax._core.explicit_axes import automatic_axes, explicit_sharding
from onax._core.hitypes import HiPspec
from onax._core.meshes import AxisType, PartitionSpec, mesh_scope
from onax._core.refs import AbstractRef
from onax._core.sharding import NamedSharding, names_in
from onax._ground.config import config
from onax._native.avals import ShapedArray
from onax._prims.shaping import broadcast_bdim, reshape, shape_of, transpose
from onax._prims.slicing import index_in_dim
from onax._transforms.staging import derive_jaxpr


class ManualRegion:
    """The manual axes of a shard_map: names and sizes, in the order of the mesh, and whether varying is checked."""

    __slots__ = ("checked", "mesh", "names", "sizes")

    def __init__(self, mesh, manual_axes, checked):
        self.mesh = mesh
        self.names = tuple(a for a in mesh.axis_names if a in manual_axes)
        self.sizes = tuple(mesh.shape[a] for a in self.names)
        self.checked = checked

    @classmethod
    def of(cls, params):
        """The region of an equation with these parameters."""
        return cls(params["mesh"], params["newly_manual_axes"], params["check_vma"])

    def restrict(self, names):
        """The region with some of the axes."""
        return ManualRegion(self.mesh, names, self.checked)

    @property
    def key(self):
        """A hashable key; programs of regions with equal keys are the same."""
        return self.names, self.sizes, self.checked

    @contextlib.contextmanager
    def scope(self, typed=True):
        """Context manager that binds the axis names and sets the mesh in context.

        typed: whether types say over which axes values vary, if that is checked; not where one program has all devices.
        """
        with mesh_scope(self.mesh), named_axes_in_scope(self.names, self.sizes, self.checked and typed):
            yield

    def size(self, names):
        """The number of devices along some axes."""
        return math.prod(self.sizes[self.names.index(a)] for a in names)

    def mentioned_axes(self, spec):
        """The axes over which a value with this spec is sharded."""
        named = {a for entry in spec for a in names_in(entry)}
        return tuple(a for a in self.names if a in named)

    def unreduced_axes(self, spec):
        """The axes over which a value with this spec is a sum of what the devices have."""
        return () if isinstance(spec, HiPspec) else tuple(a for a in self.names if a in spec.unreduced)

    def unmentioned_axes(self, spec):
        """The axes over which a value with this spec is not sharded."""
        named = {a for entry in spec for a in names_in(entry)}
        return tuple(a for a in self.names if a not in named)

    def repeated_axes(self, spec):
        """The axes over which a value with this spec is neither sharded nor a sum, and no axis that `vmap` maps."""
        others = spread_axes() | spec.unreduced | spec.reduced
        return tuple(a for a in self.unmentioned_axes(spec) if a not in others)

    def shard_aval(self, aval, spec):
        """The type of a shard of a value of this type."""
        if aval.is_high:
            return aval.shard(self.mesh, frozenset(self.names), self.checked, spec)
        shape = list(aval.shape)
        for i, entry in enumerate(spec):
            shape[i] //= self.size(names_in(entry))
        aval = self.varying_aval(aval, spec)
        stated = getattr(aval, "stated_sharding", None)
        if stated is None:
            return aval.update(shape=tuple(shape))
        rest = PartitionSpec(*(tuple(a for a in names_in(entry) if a not in self.names) for entry in stated.spec))
        mesh = stated.mesh.update_axis_types(dict.fromkeys(self.names, AxisType.Manual))
        return aval.update(
            shape=tuple(shape), sharding=explicit_sharding(stated.update(mesh=mesh, spec=rest), len(shape))
        )

    def varying_aval(self, aval, spec):
        """The type of a shard, which says that it varies over the axes in the spec, or is unreduced or reduced."""
        if type(aval) is AbstractRef:
            return AbstractRef(self.varying_aval(aval.inner_aval, spec))
        if not self.checked or type(aval) is not ShapedArray:
            return aval
        varying = aval.varying.difference(self.names).union(self.mentioned_axes(spec))
        if spec.unreduced or spec.reduced:
            kinds = ManualAxisType(varying=varying, unreduced=spec.unreduced, reduced=spec.reduced)
            return aval.update(manual_axis_type=kinds)
        return aval.update(varying=varying)

    def unshard_aval(self, aval, spec):
        """The type of the global value whose shards have this type."""
        shape = list(aval.shape)
        for i, entry in enumerate(spec):
            shape[i] *= self.size(names_in(entry))
        if type(aval) is not ShapedArray or aval.mat.empty:
            return aval.update(shape=tuple(shape))
        return aval.update(
            shape=tuple(shape), manual_axis_type=ManualAxisType(varying=aval.varying.difference(self.names))
        )

    def typed_result(self, aval, spec):
        """`unshard_aval`, with the sharding over explicit axes that the spec and the type of the shards state."""
        if aval.is_high:
            return aval.unshard(self.mesh, self.checked, spec)
        whole = self.unshard_aval(aval, spec)
        if self.mesh.size == 1 or not self.mesh.explicit_axes or type(aval) is not ShapedArray:
            return whole
        sharding = NamedSharding(self.mesh, self.result_spec(aval, spec))
        return whole.update(sharding=explicit_sharding(sharding, whole.ndim))

    def result_spec(self, aval, spec):
        """The spec of the global value whose shards have this type: the axes in the type beside those in `spec`."""
        stated = getattr(aval, "stated_sharding", None)
        if stated is None:
            return spec
        outside = [names_in(entry) for entry in spec] + [()] * (aval.ndim - len(spec))
        return PartitionSpec(*((*o, *names_in(i)) for o, i in zip(outside, stated.spec, strict=True)))


# ---- one program of all devices


def _join_shards(region, x, mapped, spec):
    """Assembles a value from shards along leading `mapped` axes; takes the first along axes not in `spec`."""
    names = [a for entry in spec for a in names_in(entry)]
    for i in reversed(range(len(mapped))):
        if mapped[i] not in names:
            x = index_in_dim(x, 0, i, keepdims=False)
    present = [a for a in mapped if a in names]
    for a in names:
        if a not in present:
            x, present = broadcast_bdim(x, region.size((a,)), 0), [a, *present]
    order, shape, n = [], [], len(present)
    for i, size in enumerate(shape_of(x)[n:]):
        own = names_in(spec[i]) if i < len(spec) else ()
        order += [*(present.index(a) for a in own), n + i]
        shape.append(size * region.size(own))
    return reshape(transpose(x, order), tuple(shape)) if n else x


def global_program(jaxpr, params):
    """The program on global values that computes a shard_map equation; cached with its body."""
    region = ManualRegion.of(params)
    in_specs, out_specs = params["in_specs"], params["out_specs"]
    key = ("whole", region.key, in_specs, out_specs)
    if key in jaxpr.cache:
        return jaxpr.cache[key]

    body = on_whole_values(region, jaxpr, in_specs, out_specs)

    def fun(*args):
        pairs = [split_shards(region, x, spec) for x, spec in zip(args, in_specs)]
        mapped = [None] * len(region.names)
        outs = run_batched(region, 0, body, [x for x, _ in pairs], [u for _, u in pairs], mapped)
        joined = []
        for i, (x, spec) in enumerate(zip(outs, out_specs)):
            own = tuple(a for a, flags in zip(region.names, mapped) if flags[i])
            joined.append(_join_shards(region, x, own, spec))
        return joined

    avals = [region.unshard_aval(v.aval, spec) for v, spec in zip(jaxpr.invars, in_specs)]
    with region.scope(typed=False), automatic_axes():
        result = jaxpr.cache[key] = derive_jaxpr(fun, avals, jaxpr)
    return result


def has_separate_devices(mesh):
    """Whether each device of a mesh runs its own program; virtual devices share one but for `onax_separate_devices`."""
    return config.onax_separate_devices or any(device._separate for device in mesh.devices.flat)


def stacked_program(region, jaxpr, varying):
    """Batches the program of one device over the axes along which its arguments vary.

    `varying`: for each argument the axes of the region over which it varies.  The new argument has these as leading
    axes, in the order of the region, and stacks the values of the devices.  Returns (program, for each result the
    leading axes over which it is stacked).
    """
    order = [tuple(a for a in region.names if a in axes) for axes in varying]
    mapped = [None] * len(region.names)
    avals = [
        v.aval.update(shape=(*(region.size((a,)) for a in axes), *v.aval.shape)) for v, axes in zip(jaxpr.invars, order)
    ]
    with region.scope(typed=False):
        program = derive_jaxpr(lambda *args: run_batched(region, 0, jaxpr, args, order, mapped), avals, jaxpr)
    return program, mapped_axes(region, mapped, len(jaxpr.outvars))


def mapped_axes(region, mapped, count):
    """For each of `count` results the axes over which it is mapped, from the flags of each axis."""
    return [tuple(a for a, flags in zip(region.names, mapped) if flags[i]) for i in range(count)]


def not_replicated(name, region, wrong):
    """The error for results that vary over axes over which they are not sharded: pairs (spec, axes of the type)."""
    bullet, mesh = "* " if len(wrong) > 1 else "", region.mesh
    braced = lambda axes: "{" + ",".join(str(a) for a in region.names if a in axes) + "}"
    lines = []
    for spec, varying in wrong:
        missing = region.unmentioned_axes(spec)
        implied = (
            f"only varying across mesh axes {braced(region.mentioned_axes(spec))} and not "
            f"{braced(varying.intersection(missing))}, but it was inferred to be possibly varying over "
            f"{braced(varying)}."
            if len(missing) > 1
            else f"replicated across mesh axis {missing[0]!r}, but could not infer replication over any axes."
        )
        lines.append(f"{bullet}out_specs is {spec} which implies that the corresponding output value is {implied}")
    listed = "\n\n".join(lines)
    return ValueError(
        f"shard_map applied to the function '{name}' was given out_specs which require replication which can't be "
        f"statically inferred given the mesh:\n\nThe mesh given has shape {tuple(mesh.axis_sizes)} with corresponding "
        f"axis names {tuple(mesh.axis_names)}.\n\n{listed}\n\nName these axes in out_specs, reduce over them (psum, "
        "pmax, ...), or pass check_vma=False to take the value of the first device."
    )
