"""memory.Space: kinds of memory, which device_put accepts."""

import pytest

import onax as jax
import onax.numpy as jnp


def test_values_stay_in_the_one_memory():
    space = jax.memory.Space
    assert repr(list(space)) == "[MemorySpace.Device, MemorySpace.Host, MemorySpace.Any]"
    x = jnp.arange(3.0)
    for kind in (space.Device, space.Host):
        assert (jax.device_put(x, kind) == x).all() and jax.jit(lambda x, k=kind: jax.device_put(x, k) + 1)(x)[0] == 1
    assert jax.device_put({"a": x, "b": 1}, {"a": space.Host, "b": space.Device})["b"] == 1
    with pytest.raises(ValueError, match="Any is no place"):
        jax.device_put(x, space.Any)
