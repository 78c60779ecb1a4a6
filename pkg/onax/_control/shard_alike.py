"""shard_alike: two values, which lie alike where one of them is sharded."""

from onax._core.sharding import NamedSharding
from onax._core.shards import shard_array
from onax._core.zeros import Zero
from onax._native.dispatch import NEVER, Primitive
from onax._prims.shaping import broadcast_bdim, moveaxis


def common_sharding(given):
    """The sharding of both values, from those that they have: the second one's, or the first one's if it is whole."""
    named = [s for s in given if isinstance(s, NamedSharding)]
    return next((s for s in reversed(named) if not s.is_fully_replicated), named[-1] if named else None)


def _impl(*operands):
    sharding = common_sharding([x.sharding for x in operands])
    return list(operands) if sharding is None else [shard_array(x, sharding) for x in operands]


def _jvp(primals, tangents):
    outs = shard_alike_p.bind(*primals)
    if any(type(t) is Zero for t in tangents):
        return outs, list(tangents)
    return outs, shard_alike_p.bind(*tangents)


def _transpose(cts, *operands):
    return list(cts) if any(type(ct) is Zero for ct in cts) else shard_alike_p.bind(*cts)


def _batch(axis_data, operands, dims):
    dim = next(d for d in dims if d is not None)
    moved = [
        broadcast_bdim(x, axis_data.size, dim) if d is None else moveaxis(x, d, dim) for x, d in zip(operands, dims)
    ]
    return shard_alike_p.bind(*moved), [dim, dim]


shard_alike_p = Primitive(
    "shard_alike",
    multiple_results=True,
    impl=_impl,
    abstract_eval=lambda *avals: list(avals),
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
    weak=NEVER,
)


__all__ = ["common_sharding", "shard_alike_p"]
