"""shard_alike checks its arguments and returns them."""

import pytest

import onax.numpy as jnp
from onax.experimental.shard_alike import shard_alike


def test_arguments():
    x, y = {"a": jnp.ones(3)}, {"a": jnp.zeros(3)}
    assert shard_alike(x, y) == (x, y)
    with pytest.raises(ValueError, match="leaves shapes"):
        shard_alike(jnp.ones(3), jnp.ones(2))
    with pytest.raises(ValueError, match="Trees should be equal"):
        shard_alike(x, 1.0)
