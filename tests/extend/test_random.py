"""Generators of random numbers for libraries: threefry's words, keys of a generator by itself, generators of users."""

import numpy as np
import pytest

import onax as jax
from onax import numpy as jnp
from onax.extend import random

KEYPAIR = jnp.array([0x13198A2E, 0x03707344], jnp.uint32)
COUNTER = [0x243F6A88, 0x85A308D3]  # Threefry's known answer: skein_golden_kat_short_internals, threefry2x32 20


@pytest.mark.parametrize("way", [lambda f: f, jax.jit])
def test_words_of_threefry(way):
    words = way(random.threefry_2x32)(KEYPAIR, jnp.array(COUNTER, jnp.uint32))
    assert [hex(w) for w in words.tolist()] == ["0xc4923a9c", "0x483df7a0"]


def test_counters_are_paired_by_halves():
    count = jnp.arange(5, dtype=jnp.uint32)
    words = random.threefry_2x32(KEYPAIR, count)
    padded = random.threefry_2x32(KEYPAIR, jnp.array([[0, 1, 2], [3, 4, 0]], jnp.uint32))
    assert padded.shape == (2, 3) and words.tolist() == padded.ravel()[:5].tolist()
    pair = random.threefry_2x32(KEYPAIR, jnp.array([1, 4], jnp.uint32))
    assert pair.tolist() == [words.tolist()[1], words.tolist()[4]]


def test_words_are_unsigned():
    with pytest.raises(TypeError, match="requires uint32"):
        random.threefry_2x32(KEYPAIR, jnp.arange(4))
    with pytest.raises(ValueError):
        random.threefry_2x32(jnp.arange(3, dtype=jnp.uint32), jnp.arange(4, dtype=jnp.uint32))


@pytest.mark.parametrize("name", ["threefry", "rbg", "unsafe_rbg"])
def test_keys_of_a_generator(name):
    impl = getattr(random, f"{name}_prng_impl")
    key = random.seed_with_impl(impl, 7)
    wanted = jax.random.key(7, impl="threefry2x32" if name == "threefry" else name)
    assert key.dtype == wanted.dtype
    assert jax.random.key_data(key).tolist() == jax.random.key_data(wanted).tolist()
    keys = random.random_seed(jnp.array([[7, 8]]), impl)
    assert keys.shape == (1, 2)
    assert jax.random.key_data(keys)[0, 0].tolist() == jax.random.key_data(wanted).tolist()
    assert jax.random.key_data(random.random_seed(7, impl)).tolist() == jax.random.key_data(wanted).tolist()


def _mixed(words, salt):
    return words * jnp.uint32(1664525) + jnp.asarray(salt).astype(jnp.uint32)


COUNTING = random.define_prng_impl(
    key_shape=(1,),
    seed=lambda seed: jnp.asarray(seed).astype(jnp.uint32)[None],
    split=lambda words, shape: _mixed(words, jnp.arange(int(np.prod(shape))).reshape(shape)[..., None] + 1),
    random_bits=lambda words, width, shape: jnp.full(shape, words[0]).astype(f"uint{width}"),
    fold_in=lambda words, data: _mixed(words, data),
    name="counting",
    tag="cnt",
)


@pytest.mark.parametrize("way", [lambda f: f, jax.jit])
def test_a_generator_of_a_user(way):
    key = jax.random.key(3, impl=COUNTING)
    assert str(key.dtype) == "key<cnt>" and "cnt" in repr(key)
    assert jax.random.key_impl(key) is COUNTING and repr(COUNTING) == "PRNGSpec('counting')" and str(COUNTING) == "cnt"
    assert way(lambda k: jax.random.bits(k, (2,)))(key).tolist() == [3, 3]
    keys = way(lambda k: jax.random.split(k, 3))(key)
    assert jax.random.key_data(keys).ravel().tolist() == [3 * 1664525 + n for n in (1, 2, 3)]
    assert jax.random.key_data(way(jax.random.fold_in)(key, 9)).tolist() == [3 * 1664525 + 9]
    mapped = way(jax.vmap(lambda k: jax.random.bits(k, (), "uint8")))(keys)
    assert mapped.tolist() == [(3 * 1664525 + n) % 256 for n in (1, 2, 3)]


@pytest.mark.parametrize(
    "way", [lambda f: f, jax.jit, lambda f: lambda *args: jax.vmap(f)(*(a[None] for a in args))[0]]
)
@pytest.mark.parametrize("name", ["threefry", "rbg", "unsafe_rbg"])
def test_functions_of_a_generator(name, way):
    impl = getattr(random, f"{name}_prng_impl")
    key = random.seed_with_impl(impl, 7)
    words, data = jax.random.key_data(key), jnp.uint32(5)
    assert way(impl.seed)(jnp.uint32(7)).tolist() == words.tolist()
    assert (
        way(lambda w: impl.split(w, (2, 3)))(words).tolist()
        == jax.random.key_data(jax.random.split(key, (2, 3))).tolist()
    )
    assert way(impl.fold_in)(words, data).tolist() == jax.random.key_data(jax.random.fold_in(key, data)).tolist()
    assert way(lambda w: impl.random_bits(w, 8, (4,)))(words).tolist() == jax.random.bits(key, (4,), "uint8").tolist()


def test_a_generator_made_from_another_one():
    threefry = random.threefry_prng_impl
    doubled = random.define_prng_impl(
        key_shape=(2, 2),
        seed=lambda seed: jnp.stack([threefry.seed(seed), threefry.seed(seed ^ 3)]),
        split=lambda words, shape: jax.vmap(threefry.split, (0, None), len(shape))(words, shape),
        random_bits=lambda words, width, shape: threefry.random_bits(words[0], width, shape),
        fold_in=lambda words, data: jax.vmap(threefry.fold_in, (0, None))(words, data),
    )
    key, plain = jax.random.key(7, impl=doubled), jax.random.key(7)
    assert (
        jax.random.key_data(jax.random.split(key, 3))[:, 0].tolist()
        == jax.random.key_data(jax.random.split(plain, 3)).tolist()
    )
    assert jax.random.uniform(key, (3,)).tolist() == jax.random.uniform(plain, (3,)).tolist()
    folded = jax.vmap(jax.random.fold_in, (None, 0))(key, jnp.arange(3))
    assert (
        folded.shape == (3,)
        and jax.random.key_data(folded)[1, 0].tolist() == jax.random.key_data(jax.random.fold_in(plain, 1)).tolist()
    )
