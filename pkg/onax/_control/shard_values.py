"""The values of all devices in a body of shard_map: batched over mesh axes, and shown where a program prints them."""

from dataclasses import dataclass

import numpy as np

from onax._core import jaxpr as core
from onax._core.axes import AxisData
from onax._core.evaluate import eval_jaxpr
from onax._core.explicit_axes import automatic_axes
from onax._core.meshes import PartitionSpec
from onax._core.redistribution import is_spanning
from onax._core.refs import AbstractRef
from onax._core.sharding import names_in
from onax._core.shards import first_device
from onax._core.trace import as_array, eval_trace, find_cur_trace, set_current_trace, typeof
from onax._native.avals import ShapedArray
from onax._prims.collectives import index_along, psum_p
from onax._prims.creation import full_like
from onax._prims.elementwise import eq, select_n_p
from onax._prims.shaping import moveaxis, reshape, shape_of, transpose
from onax._transforms.batching import batch_flat
from onax._transforms.discharge import discharge_refs
from onax._transforms.staging import derive_jaxpr


def split_shards(region, x, spec):
    """Moves the axes over which a value is sharded to the front, in the order of the mesh; returns (value, names)."""
    shape, positions, new = shape_of(x), {}, []
    for i, n in enumerate(shape):
        names = names_in(spec[i]) if i < len(spec) else ()
        for a in names:
            positions[a] = len(new)
            new.append(region.size((a,)))
        new.append(n // region.size(names))
    used = [a for a in region.names if a in positions]
    if not used:
        return x, ()
    rest = [i for i in range(len(new)) if i not in positions.values()]
    return transpose(reshape(x, tuple(new)), (*(positions[a] for a in used), *rest)), tuple(used)


def on_whole_values(region, jaxpr, in_specs, out_specs):
    """The body as a program in which a value that is unreduced over axes is the sum; itself if no spec has such axes.

    The first device along these axes has all of an argument, the others zeros; the parts of results are summed.
    """
    if not any(map(region.unreduced_axes, (*in_specs, *out_specs))):
        return jaxpr
    key = ("on whole values", region.key, tuple(in_specs), tuple(out_specs))
    if key in jaxpr.cache:
        return jaxpr.cache[key]

    def fun(*args):
        outs = eval_jaxpr(jaxpr, jaxpr.consts, *map(_part_of_sum, map(region.unreduced_axes, in_specs), args))
        return [_sum_of_parts(region.unreduced_axes(spec), x) for x, spec in zip(outs, out_specs)]

    with region.scope(typed=False), automatic_axes():
        result = jaxpr.cache[key] = derive_jaxpr(fun, [v.aval for v in jaxpr.invars], jaxpr)
    return result


def _part_of_sum(axes, x):
    if not axes:
        return x
    index = index_along(axes)
    return select_n_p.bind(eq(index, full_like(index, 0)), full_like(x, 0), x)


def _sum_of_parts(axes, x):
    return psum_p.bind(x, axes=axes, axis_index_groups=None) if axes else x


def run_batched(region, k, jaxpr, values, used, mapped):
    """Runs the body batched over the axes from the k-th on; sets `mapped[k]` to flags of the results mapped over it."""
    if k == len(region.names):
        return eval_jaxpr(jaxpr, jaxpr.consts, *values)
    name = region.names[k]
    outs, dims = batch_flat(
        lambda *xs: run_batched(region, k + 1, jaxpr, xs, used, mapped),
        AxisData(name, region.sizes[k], of_devices=True),
        values,
        [0 if name in u else None for u in used],
    )
    mapped[k] = [d is not None for d in dims]
    return [x if d is None else moveaxis(x, d, 0) for x, d in zip(outs, dims)]


def values_of(region, args, in_specs):
    """What finds the values of a body that is applied to arrays at once, on every device of a mesh; else None."""
    if find_cur_trace() is not eval_trace or len(region.names) != len(region.mesh.axis_names):
        return None
    if any(type(typeof(x)) is not ShapedArray or is_spanning(x) for x in args):
        return None
    return ShardValues(region, args, in_specs)


@dataclass(slots=True, eq=False)
class ShardValues:
    """Finds what tracers of a body stand for, by evaluating the equations that are staged so far."""

    region: object
    args: list
    specs: list

    def text(self, tracer):
        """The value on each device, as JAX prints it."""
        value, axes = self._evaluate(tracer)
        region, lines = self.region, []
        names = "".join(f"{a}, " for a in region.names).rstrip(" ")
        for index, device in _enumerate(region.mesh.devices):
            own = _item(value, tuple(i for i, a in zip(index, region.names) if a in axes))
            lines.append(f"On {device} at mesh coordinates ({names}) = {index}:\n{own}\n")
        return "\n".join(lines)

    def single(self, tracer):
        """The value of a tracer that is the same on all devices by its type; None for any other."""
        if not self.region.checked or tracer.aval.varying or tracer.aval.unreduced:
            return None
        value, axes = self._evaluate(tracer)
        return _item(value, (0,) * len(axes))

    def _evaluate(self, tracer):
        """(values with leading axes, the mesh axes that these are)."""
        region, jaxpr = self.region, on_whole_values(self.region, _program_of(tracer), self.specs, [PartitionSpec()])
        mapped = [None] * len(region.names)
        with set_current_trace(None), region.scope(typed=False), automatic_axes():
            pairs = [split_shards(region, _on_one_device(x), spec) for x, spec in zip(self.args, self.specs)]
            (value,) = run_batched(region, 0, jaxpr, [x for x, _ in pairs], [used for _, used in pairs], mapped)
        return _on_one_device(value), tuple(a for a, flags in zip(region.names, mapped) if flags[0])


def _item(value, index):
    with set_current_trace(None), automatic_axes():
        return value[index] if index else value


def _on_one_device(x):
    return as_array(x)._with(device=first_device())


def _enumerate(devices):
    """Pairs of the place of a device in a mesh and the device."""
    return [(index, devices[index]) for index in np.ndindex(devices.shape)]


def _program_of(tracer):
    """The program that computes the value of a tracer from what is staged so far."""
    trace, needed, eqns = tracer._trace, {tracer._var}, []
    for eqn in reversed(trace.eqns):
        on_refs = any(type(a.aval) is AbstractRef for a in (*eqn.invars, *eqn.outvars))
        if on_refs or any(v in needed for v in eqn.outvars):
            eqns.append(eqn)
            needed.update(a for a in eqn.invars if type(a) is not core.Literal)
    jaxpr = core.Jaxpr(trace.constvars, trace.invars, [tracer._var], eqns[::-1], None, trace.debug_info)
    return discharge_refs(core.ClosedJaxpr(jaxpr, trace.consts))
