"""Functions with rules for XLA's partitioner are computed by their definition."""

from functools import partial

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax.experimental.custom_partitioning import (
    BATCHING,
    ArrayMapping,
    CompoundFactor,
    SdyShardingRule,
    custom_partitioning,
)


@partial(custom_partitioning, static_argnums=(1,))
def power(x, n=2):
    """The power."""
    return x**n


def test_values():
    with pytest.raises(ValueError, match="before def_partition"):
        power(1.0)
    rule = SdyShardingRule((ArrayMapping(BATCHING, "i"),), (ArrayMapping(BATCHING, "i"),))
    partition = lambda mesh, args, result: None
    assert power.def_partition(partition, sharding_rule=rule, i=2) is partition and power.__doc__ == "The power."
    x = jnp.arange(3.0)
    np.testing.assert_array_equal(power(x), x**2)
    np.testing.assert_array_equal(jax.jit(lambda x: power(x, n=3))(x), x**3)
    np.testing.assert_array_equal(jax.grad(lambda x: power(x).sum())(x), 2 * x)
    assert power.rules["factor_sizes"] == {"i": 2}
    with pytest.raises(ValueError, match="sharding_rule must be"):
        power.def_partition(partition, sharding_rule=3)


def test_rules_compare_by_value():
    make = lambda: SdyShardingRule((ArrayMapping(CompoundFactor("i", "j")),), (ArrayMapping("i"),), i=2)
    assert make() == make() and hash(make()) == hash(make()) and make() != SdyShardingRule((), ())
    with pytest.raises(ValueError, match="at least two factors"):
        CompoundFactor("i")
    with pytest.raises(ValueError, match="must be a str"):
        CompoundFactor("i", 2)
    with pytest.raises(ValueError, match="must be a str or CompoundFactor"):
        ArrayMapping(3)
