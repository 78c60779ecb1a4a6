"""Keys: printing, programs, derivatives, graphs, and what is refused."""

import copy
import pickle

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax, random
from onax._native import threefry

KEY = random.key(0)
KEYS = random.split(KEY, 3)
RAW = random.PRNGKey(7)


def test_printing():
    assert repr(random.key(42)) == "Array((), dtype=key<fry>) overlaying:\n[ 0 42]"
    assert str(KEYS) == repr(KEYS)
    assert repr(RAW) == "Array([0, 7], dtype=uint32)"
    assert str(KEY.dtype) == "key<fry>"
    assert random.key_impl(KEY) == random.key_impl(RAW) == "threefry2x32"
    assert random.key_dtype("threefry2x32") == KEY.dtype


@pytest.mark.parametrize("seed", [0, -1, 5, 2**31, 2**40 + 5, np.uint8(3), np.int64(-7)])
def test_seeds(seed):
    low = int(seed) & 0xFFFFFFFF
    assert random.key_data(random.key(seed)).tolist() == [0, low]
    with jax.enable_x64(True):
        high = int(seed) >> 32 & 0xFFFFFFFF if not isinstance(seed, np.uint8) else 0
        assert random.key_data(random.key(seed)).tolist() == [high, low]


def test_a_seed_offset_is_added():
    jax.config.update("jax_random_seed_offset", 3)
    try:
        assert random.key_data(random.key(5)).tolist() == [0, 8]
    finally:
        jax.config.update("jax_random_seed_offset", 0)


PROGRAMS = {
    "random_seed[impl=fry] 3:i32[]": lambda: random.key(3),
    "random_split[shape=(2,)] a": lambda: random.split(KEY),
    "random_split[shape=(2, 3)] a": lambda: random.split(KEY, (2, 3)),
    "random_fold_in a 3:u32[]": lambda: random.fold_in(KEY, 3),
    "random_clone a": lambda: random.clone(KEY),
    "random_unwrap a": lambda: random.key_data(KEY),
    "random_wrap[impl=fry] a": lambda: random.wrap_key_data(RAW),
    "random_bits[bit_width=32 shape=(4,)] a": lambda: random.bits(KEY, (4,)),
    "random_bits[bit_width=8 shape=()] a": lambda: random.bits(KEY, dtype=jnp.uint8),
}


@pytest.mark.parametrize("text", PROGRAMS)
def test_programs_print_as_in_jax(text):
    program = str(jax.make_jaxpr(PROGRAMS[text])()).replace("\n", " ")
    assert f"= {text} " in program, program


def test_the_layout_is_that_of_the_place_where_bits_are_drawn():
    def draw(key):
        with jax.threefry_partitionable(False):
            return random.bits(key, (3,))

    assert "random_bits[bit_width=32 shape=(3,)] a" in str(jax.make_jaxpr(draw)(KEY))
    want = draw(KEY).tolist()
    assert want != random.bits(KEY, (3,)).tolist()
    assert jax.jit(draw)(KEY).tolist() == jax.vmap(draw)(KEY[None])[0].tolist() == want


def test_keys_go_through_transformations():
    f = lambda key, x: x * random.normal(key) + random.uniform(random.split(key)[1])
    want = [f(key, 2.0) for key in KEYS]
    assert jax.vmap(f, (0, None))(KEYS, 2.0).tolist() == want
    np.testing.assert_allclose(jax.jit(jax.vmap(f, (0, None)))(KEYS, 2.0), want, rtol=1e-6)
    np.testing.assert_allclose(jax.grad(f, 1)(KEY, 2.0), random.normal(KEY), rtol=1e-6)
    _, drawn = lax.scan(lambda key, _: (random.split(key)[0], random.bits(key)), KEY, None, length=2)
    assert drawn.tolist() == [int(random.bits(KEY)), int(random.bits(random.split(KEY)[0]))]


@pytest.mark.parametrize("kind", [int, np.float16, np.float32, np.float64, np.int8, jnp.float32])
def test_bounds_of_any_kind(kind):
    want = random.uniform(KEY, (5,), minval=-2.0, maxval=3.0)
    for bounds in ((kind(-2), kind(3)), (kind(-2), np.float32(3)), (-2, kind(3))):
        got = random.uniform(KEY, (5,), minval=bounds[0], maxval=bounds[1])
        assert got.dtype == np.float32 and got.tolist() == want.tolist()


def test_keys_go_through_jit_untouched():
    twice = jax.jit(lambda keys: (keys, keys[1], KEY))
    same, one, constant = twice(KEYS)
    assert same.dtype == one.dtype == constant.dtype == KEY.dtype
    assert repr(same) == repr(KEYS) and repr(one) == repr(KEYS[1]) and repr(constant) == repr(KEY)


def test_raw_keys_give_raw_keys():
    assert random.split(RAW).dtype == random.fold_in(RAW, 1).dtype == np.uint32
    assert random.bits(RAW).tolist() == random.bits(random.wrap_key_data(RAW)).tolist()
    assert random.uniform(np.array([0, 7], np.uint32)) == random.uniform(random.key(7))


def test_keys_are_copied_and_pickled():
    for other in (copy.deepcopy(KEYS), pickle.loads(pickle.dumps(KEYS))):
        assert other.dtype == KEYS.dtype and repr(other) == repr(KEYS)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
@pytest.mark.parametrize("n", [0, 1, 2, 7, 1000])
def test_blocks_are_the_block_function(shape, n):
    """The loops over counters against the function of single blocks."""
    words = random.key_data(random.split(KEY, shape) if shape else KEY)
    flat = np.asarray(words).reshape(-1, 2)
    zero, low = np.zeros(n, np.uint32), np.arange(n, dtype=np.uint32)
    first, second = threefry.blocks(flat[:, :1], flat[:, 1:], zero, low)
    np.testing.assert_array_equal(threefry.counted(flat, n, 0), np.stack([first, second], -1))
    np.testing.assert_array_equal(threefry.counted(flat, n, 32), first ^ second)
    np.testing.assert_array_equal(threefry.counted(flat, n, 16), (first ^ second).astype(np.uint16))
    np.testing.assert_array_equal(threefry.counted(flat, n, 64) >> np.uint64(32), first)


def test_a_known_block():
    """From the reference implementation's table of known answers."""
    words = [np.uint32(w) for w in (0x13198A2E, 0x03707344, 0x243F6A88, 0x85A308D3)]
    first, second = threefry.blocks(*words)
    assert (int(first), int(second)) == (0xC4923A9C, 0x483DF7A0)


INVALID = "JAX encountered invalid PRNG key data: expected "
ERRORS = {
    "arithmetic": (lambda: KEY + 1, ValueError, "key<fry> does not promote"),
    "many keys": (
        lambda: random.split(KEYS),
        ValueError,
        "split accepts a single key, but was given a key array of shape (3,) != (). Use jax.vmap for batching.",
    ),
    "many data": (lambda: random.fold_in(KEY, jnp.arange(3)), TypeError, "fold_in accepts a scalar"),
    "raw shape": (lambda: random.bits(jnp.zeros(3, np.uint32)), TypeError, f"{INVALID}key_data.shape to end with (2,)"),
    "raw dtype": (lambda: random.bits(jnp.zeros(2)), TypeError, f"{INVALID}key_data.dtype = uint32; got dtype=float32"),
    "raw number": (lambda: random.bits(1), TypeError, f"{INVALID}key_data to have ndim, shape, and dtype attributes."),
    "wrapped key": (lambda: random.wrap_key_data(KEY), TypeError, f"{INVALID}key_data.ndim >= 1; got ndim=0"),
    "no key": (lambda: random.bits(None), TypeError, "unexpected PRNG key type <class 'NoneType'>"),
    "float seed": (lambda: random.key(1.5), TypeError, "PRNG key seed must be an integer"),
    "array of seeds": (
        lambda: random.key(jnp.arange(3)),
        TypeError,
        "key accepts a scalar seed, but was given an array",
    ),
    "key as seed": (lambda: random.key(KEY), TypeError, "key accepts a scalar seed, but was given a PRNG key."),
    "large seed": (lambda: random.key(2**70), OverflowError, "too large"),
    "generator": (lambda: random.key(0, impl="foo"), ValueError, 'unrecognized PRNG implementation "foo".'),
    "bits dtype": (lambda: random.bits(KEY, dtype=int), ValueError, "`bits` must be an unsigned int dtype, got int32"),
    "uniform dtype": (lambda: random.uniform(KEY, dtype=int), ValueError, "must be a float dtype, got int32"),
    "normal dtype": (lambda: random.normal(KEY, dtype=int), ValueError, "must be a float or complex dtype, got int32"),
    "randint dtype": (
        lambda: random.randint(KEY, (), 0, 1, float),
        TypeError,
        "randint only accepts integer dtypes, got float32",
    ),
    "bounds": (
        lambda: random.uniform(KEY, (2, 3), minval=jnp.zeros(4)),
        TypeError,
        "got incompatible shapes for broadcasting: (2, 3), (1, 4).",
    ),
    "parameter": (
        lambda: random.rayleigh(KEY, jnp.zeros(3), (2,)),
        ValueError,
        "Incompatible shapes for broadcasting: shapes=[(2,), (3,)]",
    ),
    "probability": (
        lambda: random.bernoulli(KEY, 2),
        TypeError,
        "bernoulli probability `p` must have a floating dtype, got int32.",
    ),
    "sample": (lambda: random.choice(KEY, 5, (6,), replace=False), ValueError, "Cannot take a larger sample (size 6)"),
    "no population": (lambda: random.choice(KEY, 0, (6,)), ValueError, "a must be greater than 0"),
    "p": (lambda: random.choice(KEY, 3, p=jnp.ones(4)), ValueError, "p has shape (4,) and a.shape[axis] is 3."),
    "permutation": (lambda: random.permutation(KEY, 1.5), TypeError, "x must be an integer or at least 1-dimensional"),
    "axis": (lambda: random.categorical(KEY, jnp.zeros(3), axis=1), IndexError, "out of bounds"),
    "categories": (
        lambda: random.categorical(KEY, jnp.zeros(3), shape=(4,), replace=False),
        ValueError,
        "cannot exceed number of categories (3)",
    ),
    "gumbel's mode": (lambda: random.gumbel(KEY, mode="x"), ValueError, "Must provide valid mode for gumbel got: x"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    call, error, message = ERRORS[name]
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)
