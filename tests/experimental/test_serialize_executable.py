"""Compiled functions as bytes."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax.errors import LoweringError
from onax.experimental.serialize_executable import deserialize_and_load, serialize


def test_round_trip():
    f = lambda tree, *, k: {"y": jnp.tanh(tree["x"]) @ tree["w"] * k, "n": tree["x"].sum()}
    tree = {"x": np.ones((2, 3), np.float32), "w": np.arange(6, dtype=np.float32).reshape(3, 2)}
    compiled = jax.jit(f).lower(tree, k=2.0).compile()
    loaded = deserialize_and_load(*serialize(compiled))
    assert isinstance(loaded, jax.stages.Compiled)
    for got, want in zip(jax.tree.leaves(loaded(tree, k=2.0)), jax.tree.leaves(compiled(tree, k=2.0))):
        np.testing.assert_allclose(got, want, rtol=1e-6)
    with pytest.raises(TypeError):
        loaded(tree)


def test_refusals():
    compiled = jax.jit(lambda x: jax.pure_callback(np.sin, x, x)).lower(1.0).compile()
    with pytest.raises(LoweringError, match="pure_callback"):
        serialize(compiled)
    ref = jax.new_ref(0)
    jitted = jax.jit(lambda r, x: r[...] + x)
    for lowered in (jitted.lower(ref, 1), jax.jit(lambda x: jitted(ref, x)).lower(1)):
        with pytest.raises(ValueError, match=r"can't serialize .*mutable array ref"):
            serialize(lowered.compile())
    with pytest.raises(jax.errors.ArtifactError):
        deserialize_and_load(b"other", None, None)
