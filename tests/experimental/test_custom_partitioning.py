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
    assert power.def_partition(partition, sharding_rule=rule) is partition and power.__doc__ == "The power."
    x = jnp.arange(3.0)
    np.testing.assert_array_equal(power(x), x**2)
    np.testing.assert_array_equal(jax.jit(lambda x: power(x, n=3))(x), x**3)
    np.testing.assert_array_equal(jax.grad(lambda x: power(x).sum())(x), 2 * x)
    assert power.rules["sharding_rule"] is rule
    power.def_partition(partition, sharding_rule="...  (i j) -> i j")
    assert str(power.rules["sharding_rule"]) == "SdyShardingRule((('…0', ('i', 'j')),), (('i', 'j'),), {})"
    with pytest.raises(TypeError, match="rule must be a str, but got <class 'int'>"):
        power.def_partition(partition, sharding_rule=3)
    with pytest.raises(ValueError, match="Unknown keyword arguments"):
        power.def_partition(partition, sharding_rule=rule, i=2)


def test_rules_compare_by_value():
    make = lambda: SdyShardingRule((ArrayMapping(CompoundFactor("i", "j")),), (ArrayMapping("i"),), j=2)
    assert make() == make() and hash(make()) == hash(make()) and make() != SdyShardingRule((), ())
    with pytest.raises(ValueError, match="at least two factors"):
        CompoundFactor("i")
    with pytest.raises(ValueError, match="must be a str"):
        CompoundFactor("i", 2)
    with pytest.raises(ValueError, match="must be a str or CompoundFactor"):
        ArrayMapping(3)


RULES = {
    "i j, j k -> i k": "((('i', 'j'), ('j', 'k')), (('i', 'k'),), {})",
    "... i -> ...i": "((('…0', 'i'),), (('…0', 'i'),), {})",
    "...1 i, ...02 -> i_1": "((('…1', 'i'), ('…2',)), (('i_1',),), {})",
    "(i j) k -> i, j, k": "(((('i', 'j'), 'k'),), (('i',), ('j',), ('k',)), {})",
    " -> ": "(((),), ((),), {})",
}


@pytest.mark.parametrize("text", RULES)
def test_rules_as_text(text):
    power.def_partition(None, sharding_rule=text)
    assert str(power.rules["sharding_rule"]) == f"SdyShardingRule{RULES[text]}"


@pytest.mark.parametrize(
    "text, options, message",
    [
        ("i j", {}, "There is no -> in rule: 'i j'"),
        ("i -> j -> k", {}, "There is no -> in rule"),
        ("1i -> i", {}, "Factor names have to start with a letter, but got '1'"),
        ("i _ -> i", {}, "Factor names have to start with a letter, but got '_'"),
        ("i+ -> i", {}, r"Unknown character '\+'"),
        (".. -> i", {}, "must be used inside ellipsis"),
        ("i ... -> i", {}, "Ellipsis can only be used at the beginning of a dimension"),
        ("(... i) -> i", {}, "Ellipsis can only be used at the beginning of a dimension"),
        ("(i) -> i", {}, "Brackets should contain at least two factors"),
        ("((i j)) -> i", {}, "nested brackets are not allowed"),
        ("i) -> i", {}, "Brackets are not balanced"),
        ("(i j -> i", {}, r"Brackets are not balanced in rule: '\(i j'"),
        ("(i j) -> i", {}, "Factor j is only used in compound factors; must specify its size"),
        ("i -> i", {"k": 2}, "Factor k is not used in the rule, but size is provided"),
        ("i -> i", {"i": 2}, "Factor i represents a whole dimension; do not specify its size"),
        ("i -> i", {"reduction_factors": ("k",)}, "Factor k in reduction_factors is not used in the rule"),
        ("i -> i", {"reduction_factors": ["i"]}, "reduction_factors must be a tuple of factors"),
        ("i -> i", {"permutation_factors": ("i", "i")}, "permutation_factors contains duplicated factors"),
        (
            "i -> i",
            {"permutation_factors": ("i",), "reduction_factors": ("i",)},
            "Factor i can only be in one of the reduction, need replication, or permutation factor sets",
        ),
    ],
)
def test_texts_that_are_no_rules(text, options, message):
    with pytest.raises(ValueError, match=message):
        power.def_partition(None, sharding_rule=text, **options)
