"""Keys: printing, programs, derivatives, graphs, and what is refused."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax, random, vmap
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
    "random_split[shape=(2, 3)] a": lambda: random.split(KEY, [2, 3]),
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


def test_keys_are_made_like_arrays():
    for like, word in (
        (jnp.zeros_like, 0),
        (jnp.ones_like, 1),
        (jnp.empty_like, 0),
        (lambda k: jnp.full_like(k, 7), 7),
    ):
        made = like(KEYS)
        assert made.dtype == KEYS.dtype and random.key_data(made).tolist() == [[word] * 2] * 3
    for make, word in ((jnp.zeros, 0), (jnp.ones, 1), (jnp.empty, 0)):
        made = make((2,), random.key_dtype("rbg"))
        assert str(made.dtype) == "key<rbg>" and random.key_data(made).tolist() == [[word] * 4] * 2
    assert repr(jnp.full((2,), KEY)) == repr(KEY[None].repeat(2))
    assert jax.device_get(KEYS) is KEYS


MOVES = {
    "reshape": (lambda k: k.reshape(3, 1)[:, 0], [0, 1, 2]),
    "concatenate": (lambda k: jnp.concatenate([k, k[:1]]), [0, 1, 2, 0]),
    "stack": (lambda k: jnp.stack([k[2], k[0]]), [2, 0]),
    "where": (lambda k: jnp.where(jnp.array([True, False, True]), k, k[0]), [0, 0, 2]),
    "index": (lambda k: k[jnp.array([2, 0])], [2, 0]),
    "take": (lambda k: jnp.take(k, 1)[None], [1]),
    "at": (lambda k: k.at[0].set(k[1]), [1, 1, 2]),
    "flip": (lambda k: jnp.flip(k), [2, 1, 0]),
    "roll": (lambda k: jnp.roll(k, 1), [2, 0, 1]),
    "tile": (lambda k: jnp.tile(k, 2), [0, 1, 2, 0, 1, 2]),
    "broadcast": (lambda k: jnp.broadcast_to(k[1], (2,)), [1, 1]),
    "dynamic_slice": (lambda k: lax.dynamic_slice(k, (1,), (2,)), [1, 2]),
    "scan": (lambda k: lax.scan(lambda c, k: (k, c), k[0], k)[1], [0, 0, 1]),
    "cond": (lambda k: lax.cond(k[0] == k[1], lambda: k, lambda: k[::-1]), [2, 1, 0]),
    "vmap": (lambda k: jax.vmap(lambda a: jnp.stack([a, a]))(k)[:, 1], [0, 1, 2]),
}


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg"])
@pytest.mark.parametrize("name", MOVES)
def test_keys_are_moved_like_numbers(name, impl):
    keys = random.split(random.key(0, impl=impl), 3)
    move, order = MOVES[name]
    want = np.asarray(random.key_data(keys))[order].tolist()
    assert random.key_data(move(keys)).tolist() == random.key_data(jax.jit(move)(keys)).tolist() == want


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
    first, second = threefry.threefry2x32(flat[:, :1], flat[:, 1:], zero, low)
    np.testing.assert_array_equal(threefry.random_bits_partitionable(flat, n, 0), np.stack([first, second], -1))
    np.testing.assert_array_equal(threefry.random_bits_partitionable(flat, n, 32), first ^ second)
    np.testing.assert_array_equal(threefry.random_bits_partitionable(flat, n, 16), (first ^ second).astype(np.uint16))
    np.testing.assert_array_equal(threefry.random_bits_partitionable(flat, n, 64) >> np.uint64(32), first)


def test_a_known_block():
    """From the reference implementation's table of known answers."""
    words = [np.uint32(w) for w in (0x13198A2E, 0x03707344, 0x243F6A88, 0x85A308D3)]
    first, second = threefry.threefry2x32(*words)
    assert (int(first), int(second)) == (0xC4923A9C, 0x483DF7A0)


INVALID = "JAX encountered invalid PRNG key data: expected "
ERRORS = {
    "arithmetic": (lambda: KEY + 1, TypeError, "add does not accept dtypes key<fry>, int32."),
    "arithmetic from the right": (lambda: 1 + KEY, TypeError, "add does not accept dtypes int32, key<fry>."),
    "product of keys": (lambda: KEY * KEY, TypeError, "mul does not accept dtype key<fry> at position 0."),
    "power": (lambda: KEY**2, TypeError, "key<fry>"),
    "negative": (lambda: -KEY, TypeError, "neg does not accept dtype key<fry>."),
    "comparison with a number": (lambda: jnp.equal(KEY, 1), TypeError, "equal does not accept dtypes key<fry>, int32."),
    "order": (lambda: KEY < KEY, TypeError, "lt does not accept dtype key<fry> at position 0."),
    "quotient": (lambda: KEY / KEY, TypeError, "Cannot interpret 'key<fry>' as a data type"),
    "sine": (lambda: jnp.sin(KEY), TypeError, "Cannot interpret 'key<fry>' as a data type"),
    "sum": (lambda: jnp.sum(KEYS), TypeError, "key<fry>"),
    "sorting": (lambda: jnp.sort(KEYS), TypeError, "key<fry>"),
    "another generator's keys": (
        lambda: jnp.where(True, KEY, random.key(0, impl="rbg")),
        ValueError,
        "key<rbg>",
    ),
    "generator by number": (
        lambda: random.key(0, impl=3),
        TypeError,
        "unrecognized type <class 'int'> for specifying PRNG implementation.",
    ),
    "two generators": (
        lambda: random.key(0, impl="rbg", dtype=KEY.dtype),
        ValueError,
        "Cannot specify both `impl` and `dtype`",
    ),
    "words of another generator": (
        lambda: random.wrap_key_data(RAW, impl="rbg"),
        TypeError,
        f"{INVALID}key_data.shape to end with (4,)",
    ),
    "many keys": (
        lambda: random.split(KEYS),
        ValueError,
        "split accepts a single key, but was given a key array of shape (3,) != (). Use jax.vmap for batching.",
    ),
    "many keys for counts": (
        lambda: random.multinomial(KEYS, 3, jnp.ones(2) / 2),
        ValueError,
        "multinomial accepts a single key, but was given a key array of shape (3,)",
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


def test_clone_passes_other_arrays_through():
    words = random.key_data(KEYS)
    for function in (random.clone, jax.jit(random.clone), jax.vmap(random.clone)):
        np.testing.assert_array_equal(function(words), words)
        np.testing.assert_array_equal(function(jnp.ones(3)), 1)


@pytest.mark.parametrize(
    "keys",
    [lambda: random.split(random.key(20), 40), lambda: vmap(random.fold_in, (None, 0))(random.key(20), jnp.arange(40))],
)
def test_keys_are_independent(keys):
    drawn = np.asarray(vmap(lambda key: random.normal(key, (2000,)))(keys()), np.float64)
    correlations = np.corrcoef(drawn)[np.triu_indices(40, 1)]
    assert np.max(np.abs(correlations)) < 5 / 2000**0.5


def test_legacy_keys_can_be_reported():
    data = np.zeros(2, np.uint32)
    with jax.legacy_prng_key("allow"), warnings.catch_warnings():
        warnings.simplefilter("error")
        jax.random.uniform(data)
    with jax.legacy_prng_key("warn"), pytest.warns(UserWarning, match="Legacy uint32 key array") as seen:
        jax.random.uniform(data)
    assert seen[0].filename == __file__
    with jax.legacy_prng_key("error"):
        with pytest.raises(ValueError, match="Legacy uint32 key array"):
            jax.random.uniform(data)
        with pytest.raises(TypeError, match="invalid PRNG key data"):  # what is no key at all is said first
            jax.random.uniform(np.zeros(1, np.float32))


@pytest.mark.parametrize(
    "use, error, text",
    [
        (lambda ks: jnp.pad(ks, 1), ValueError, "^Cannot convert_element_type from int32 to key<fry>"),
        (lambda ks: lax.bitcast_convert_type(ks, jnp.uint32), ValueError, "^unexpected input: dtype=key<fry>"),
        (lambda ks: lax.iota(ks.dtype, 3), TypeError, "^iota does not accept dtype key<fry>"),
        (lambda ks: jax.jacfwd(lambda k: 1.0)(ks[0]), TypeError, "^jacfwd with input element type key<fry>"),
        (lambda ks: jax.jacrev(lambda x: ks[0])(1.0), TypeError, "^jacrev with output element type key<fry>"),
        (lambda ks: jax.grad(lambda x: ks[0])(1.0), TypeError, "^grad with output element type key<fry>"),
    ],
)
def test_functions_of_numbers_refuse_keys(use, error, text):
    with pytest.raises(error, match=text):
        use(jax.random.split(jax.random.key(0), 3))


def test_raw_keys_beside_typed_ones():
    raw = random.PRNGKey(0)
    with pytest.raises(ValueError, match=r"a key array of shape \(2, 2\) != \(\)"):
        random.uniform(random.split(raw))
    with jax.enable_custom_prng(True), pytest.warns(FutureWarning, match="Raw arrays as random keys"):
        random.uniform(raw)
