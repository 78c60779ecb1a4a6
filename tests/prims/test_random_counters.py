"""Generators of Random123: the words that real JAX 0.10.2 draws, eager and compiled, and their statistics."""

import json
from pathlib import Path

import numpy as np
import pytest

import counter_words
import onax as jax
import onax.numpy as jnp
from onax import random

RECORDED = json.loads((Path(__file__).parent.parent / "golden" / "counter_words.json").read_text())


@pytest.mark.parametrize("impl", counter_words.IMPLS)
def test_words_are_those_of_jax(impl):
    assert counter_words.results(jax, impl) == RECORDED[impl]


@pytest.mark.parametrize("impl", counter_words.IMPLS)
def test_jitted_words_are_the_same(impl):
    key = random.key(3, impl=impl)

    def draw(key):
        new = random.split(key, (2, 3))
        return random.bits(key, (5,)), random.key_data(new), jax.vmap(jax.vmap(random.bits))(new), random.normal(key)

    for got, want in zip(jax.jit(draw)(key), draw(key)):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("impl", counter_words.IMPLS)
def test_bits_are_fair_and_the_layout_of_counters_is_one(impl):
    key = random.key(8, impl=impl)
    drawn = random.bits(key, (4096,))
    ones = np.unpackbits(np.asarray(drawn).view(np.uint8)).mean()
    assert abs(ones - 0.5) < 5 * 0.5 / np.sqrt(32 * 4096)
    with jax.threefry_partitionable(False):
        np.testing.assert_array_equal(random.bits(key, (4096,)), drawn)
    np.testing.assert_array_equal(random.bits(key, (3, 0)), jnp.zeros((3, 0), jnp.uint32))


@pytest.mark.parametrize("impl", counter_words.IMPLS)
def test_the_default_generator(impl):
    with jax.default_prng_impl(impl):
        raw = random.PRNGKey(7)
        assert random.key_impl(raw) == impl
        assert random.key(7).dtype == random.key_dtype(impl) == random.key_dtype()
        np.testing.assert_array_equal(random.key_data(random.key(7)), raw)
