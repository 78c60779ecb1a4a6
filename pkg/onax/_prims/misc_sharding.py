"""sharding_constraint: states the sharding of a value inside a program."""

from onax._core.facts import DATA_MOVEMENT, LINEAR
from onax._core.rules import deflinear
from onax._core.sharding import NamedSharding, divisible_sharding, insert_spec_entry, names_in
from onax._core.shards import shard_array
from onax._core.trace import as_array
from onax._native.dispatch import Primitive


def _impl(x, *, sharding, **_):
    return shard_array(as_array(x), fit_sharding(sharding, x.shape))


def fit_sharding(sharding, shape):
    """The sharding that a value of this shape gets; mesh axes that do not divide a dimension do not shard it."""
    if not isinstance(sharding, NamedSharding):
        return sharding
    cuts = [names_in(entry) for entry in sharding.spec]
    return divisible_sharding(sharding.mesh, [*cuts, *[()] * (len(shape) - len(cuts))], shape)


def _abstract_eval(x, **_):
    return x


def _batch(axis_data, operands, dims, *, sharding, **params):
    sharding = insert_spec_entry(sharding, dims[0], axis_data.spmd_name)
    return sharding_constraint_p.bind(operands[0], sharding=sharding, **params), dims[0]


def _pretty(eqn, names):
    """Shows all parameters; an empty set of unconstrained dimensions prints as JAX prints it."""
    shown = {key: eqn.params[key] for key in sorted(eqn.params)}
    return {**shown, "unconstrained_dims": f"frozenset({set(shown['unconstrained_dims']) or '{}'})"}


sharding_constraint_p = deflinear(
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
