"""Regions within regions over other axes of the same devices, as a device of both runs them."""

import numpy as np

from onax._control.shard_map import Region
from onax._core.evaluate import eval_jaxpr
from onax._core.sharding import names_in
from onax._prims.collectives import all_gather_p, axis_index_p, pbroadcast_p
from onax._prims.elementwise import add, mul
from onax._prims.shaping import full_like, shape_of
from onax._prims.slicing import dynamic_slice
from onax._transforms.staging import derive_jaxpr


def nested_program(jaxpr, params):
    """The program of a region within one, as each device of both runs it, from whole values to whole values.

    A device takes its pieces; results are gathered, and along axes that do not cut them the first device's are taken.
    """
    region = Region.of(params)

    def fun(*args):
        outs = eval_jaxpr(jaxpr, jaxpr.consts, *[_own_piece(region, x, s) for x, s in zip(args, params["in_specs"])])
        return [_gather(region, x, spec) for x, spec in zip(outs, params["out_specs"])]

    with region.scope():
        avals = [region.whole(v.aval, spec) for v, spec in zip(jaxpr.invars, params["in_specs"])]
        return derive_jaxpr(fun, avals, jaxpr)


def _own_piece(region, x, spec):
    starts, sizes = [np.int32(0)] * len(shape_of(x)), list(shape_of(x))
    for i, entry in enumerate(spec):
        place, names = None, names_in(entry)
        for a in names:
            own = axis_index_p.bind(axis_name=a)
            place = own if place is None else add(mul(place, full_like(place, region.size((a,)))), own)
        if names:
            sizes[i] //= region.size(names)
            starts[i] = mul(place, full_like(place, sizes[i]))
    return dynamic_slice(x, starts, sizes, allow_negative_indices=False)


def _gather(region, x, spec):
    unnamed = region.unnamed(spec)
    if unnamed and not region.checked:
        x = pbroadcast_p.bind(x, axis_name=unnamed, source=0)
    for i, entry in enumerate(spec):
        names = names_in(entry)
        if names:
            x = all_gather_p.bind(
                x, all_gather_dimension=i, axis_index_groups=None, axis_name=names, axis_size=region.size(names),
                tiled=True,
            )  # fmt: skip
    return x
