"""Lowerings of placement: a graph runs on one device, so each is the identity."""

from onax._control.shard_alike import shard_alike_p
from onax._prims.placement import device_put_p, reshard_p, sharding_constraint_p
from onax.export.lower.registry import lowers


@lowers(device_put_p, shard_alike_p, components=True)
def _device_put(g, out, *values, **_):
    return list(values)


@lowers(sharding_constraint_p, reshard_p, components=True)
def _sharding_constraint(g, out, x, **_):
    return x
