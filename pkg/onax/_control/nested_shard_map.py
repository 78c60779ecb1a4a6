"""A shard_map inside the body of another over the same devices, as the program of one device."""

import numpy as np

from onax._control.manual_region import ManualRegion
from onax._control.shard_values import on_whole_values
from onax._core.evaluate import eval_jaxpr
from onax._core.sharding import names_in
from onax._prims.collectives import all_gather_p, index_along, pbroadcast_p
from onax._prims.creation import full_like
from onax._prims.elementwise import mul
from onax._prims.shaping import shape_of
from onax._prims.slicing import dynamic_slice
from onax._transforms.staging import derive_jaxpr


def nested_program(jaxpr, params):
    """The program of an inner region that each device runs, on values that are global to the inner region.

    A device slices its own shards of the arguments.  Results are gathered over the axes that shard them; along other
    axes the value of the first device is taken.
    """
    region = ManualRegion.of(params)
    body = on_whole_values(region, jaxpr, params["in_specs"], params["out_specs"])

    def fun(*args):
        shards = [_slice_own_shard(region, x, spec) for x, spec in zip(args, params["in_specs"])]
        outs = eval_jaxpr(body, body.consts, *shards)
        return [_gather(region, x, spec) for x, spec in zip(outs, params["out_specs"])]

    with region.scope():
        avals = [region.unshard_aval(v.aval, spec) for v, spec in zip(jaxpr.invars, params["in_specs"])]
        return derive_jaxpr(fun, avals, jaxpr)


def _slice_own_shard(region, x, spec):
    starts, sizes = [np.int32(0)] * len(shape_of(x)), list(shape_of(x))
    for i, entry in enumerate(spec):
        names = names_in(entry)
        if names:
            index = index_along(names)
            sizes[i] //= region.size(names)
            starts[i] = mul(index, full_like(index, sizes[i]))
    return dynamic_slice(x, starts, sizes, allow_negative_indices=False)


def _gather(region, x, spec):
    unmentioned = region.unmentioned_axes(spec)
    if unmentioned and not region.checked:
        x = pbroadcast_p.bind(x, axis_name=unmentioned, source=0)
    for i, entry in enumerate(spec):
        names = names_in(entry)
        if names:
            x = all_gather_p.bind(
                x, all_gather_dimension=i, axis_index_groups=None, axis_name=names, axis_size=region.size(names),
                tiled=True,
            )  # fmt: skip
    return x
