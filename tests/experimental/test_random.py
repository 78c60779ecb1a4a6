"""Generators with a state; the draws are JAX's."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax.experimental import random


def test_draws_are_those_of_jax():
    rng = random.stateful_rng(42)  # values of JAX 0.10.2
    np.testing.assert_allclose([rng.uniform(), rng.uniform()], [0.5302608, 0.72766423], rtol=1e-6)
    jitted = jax.jit(rng.uniform)
    np.testing.assert_allclose([jitted(), jitted()], [0.6672406, 0.3890121], rtol=1e-6)
    assert jax.random.key_data(rng.key()).tolist() == [2954079971, 3276725750]
    children = random.stateful_rng(123).spawn(2)
    assert [c.integers(0, 10, 2).tolist() for c in children] == [[4, 5], [2, 1]]


def test_generators_are_mapped():
    split = random.stateful_rng(123).split(3)
    drawn = jax.vmap(lambda rng, x: x + rng.uniform())(split, jnp.zeros(3))
    np.testing.assert_allclose(drawn, [0.35525954, 0.21937883, 0.5336956], rtol=1e-6)
    with pytest.raises(ValueError, match="cannot operate on split"):
        split.uniform()
    with pytest.raises(ValueError, match=r"tree path result\._counter, but mutable array references cannot"):
        jax.jit(lambda: split)()


def test_shapes_and_types():
    rng = random.stateful_rng(0)
    assert rng.random((2, 3)).shape == (2, 3) and rng.normal(jnp.zeros(4)).shape == (4,)
    assert rng.integers(5, size=3, dtype="int8").dtype == np.int8
    assert rng.key((2,)).shape == (2,)
    assert 3 <= rng.uniform(3, 4) < 4


def test_refusals():
    random.stateful_rng().uniform()
    with pytest.raises(TypeError, match="explicit seed"):
        jax.jit(lambda: random.stateful_rng().uniform())()
    with pytest.raises(ValueError, match="typed PRNG key"):
        random.StatefulPRNG(jnp.zeros(2), jax.new_ref(0))
    with pytest.raises(ValueError, match="scalar integer ref"):
        random.StatefulPRNG(jax.random.key(0), 0)


def test_a_generator_from_outside_of_vmap_is_refused():
    generator = random.stateful_rng(0)
    with pytest.raises(Exception, match="performing an addupdate operation with vmapped value"):
        jax.vmap(lambda rng, x: x + rng.uniform(), in_axes=(None, 0))(generator, jnp.arange(2.0))
