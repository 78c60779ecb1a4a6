"""sharding_constraint: where a value lies, stated inside a program."""

from onax._core.rules import linear
from onax._core.sharding import NamedSharding, PartitionSpec
from onax._core.shards import spread_over
from onax._core.trace import as_array
from onax._native.dispatch import DATA_MOVEMENT, LINEAR, Primitive


def _impl(x, *, sharding, **_):
    return spread_over(as_array(x), sharding)


def _abstract_eval(x, *, sharding, **_):
    if isinstance(sharding, NamedSharding):
        sharding.shard_shape(x.shape)  # raises where the pieces would be unequal
    return x


def _batch(axis_data, operands, dims, *, sharding, **params):
    (x,), (d,) = operands, dims
    if isinstance(sharding, NamedSharding):
        entries = [*sharding.spec, *[None] * max(0, d - len(sharding.spec))]
        spec = PartitionSpec(*entries[:d], axis_data.spmd_name, *entries[d:])
        sharding = NamedSharding(sharding.mesh, spec, memory_kind=sharding.memory_kind)
    return sharding_constraint_p.bind(x, sharding=sharding, **params), d


def _pretty(eqn, names):
    """All parameters; an empty set prints as one that is not."""
    shown = {key: eqn.params[key] for key in sorted(eqn.params)}
    return {**shown, "unconstrained_dims": f"frozenset({set(shown['unconstrained_dims']) or '{}'})"}


sharding_constraint_p = linear(
    Primitive(
        "sharding_constraint",
        impl=_impl,
        abstract_eval=_abstract_eval,
        batch=_batch,
        pretty=_pretty,
        facts=frozenset({LINEAR, DATA_MOVEMENT}),
    ),
    lambda ct, x, **params: sharding_constraint_p.bind(ct, **params),
)
