"""Attributes for XLA change nothing."""

import onax as jax
from onax.experimental.xla_metadata import set_xla_metadata


def test_values_contexts_and_decorators():
    x = {"a": 1.0}
    assert set_xla_metadata(x, key="v") is x
    with set_xla_metadata(key="v"):
        assert jax.jit(lambda x: x + 1)(1) == 2
    f = jax.jit(lambda x: x + 1)
    assert set_xla_metadata(key="v")(f) is f
