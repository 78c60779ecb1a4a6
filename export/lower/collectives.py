"""Lowerings of programs over named axes.

A collective itself has no ONNX form: `vmap` replaces the collectives over its axis, and a `shard_map` equation is
lowered as one batched program of all devices.
"""

from onax._control.custom_vmap import custom_vmap_p
from onax._control.manual_region import global_program
from onax._control.shard_map import shard_map_p
from onax._prims import collectives
from onax._prims.varying import pvary_p
from onax.export.lower.driver import inline
from onax.export.lower.registry import lowers, unsupported

unsupported(
    "it names an axis that no vmap, pmap or shard_map around it binds",
    collectives.psum_p,
    collectives.pmax_p,
    collectives.pmin_p,
    collectives.all_gather_p,
    collectives.all_gather_invariant_p,
    collectives.reduce_scatter_p,
    collectives.all_to_all_p,
    collectives.ppermute_p,
    collectives.pbroadcast_p,
    collectives.axis_index_p,
    collectives.psum_invariant_p,
    pvary_p,
)


@lowers(custom_vmap_p, components=True)
def _custom_vmap(g, out, *values, call, **_):
    return inline(g, call, call.consts, values)


@lowers(shard_map_p, components=True)
def _shard_map(g, out, *values, jaxpr, **params):
    program = global_program(jaxpr, params)
    return inline(g, program, program.consts, values)
