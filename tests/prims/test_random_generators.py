"""Generators other than Threefry: the words of real JAX 0.10.2, and those that users define."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import random
from onax.extend import random as extend_random

WORDS = jnp.array([1, 2, 3, 4], jnp.uint32)

#: generator -> what it is printed as, and words of real JAX from the key WORDS
JAX = {
    "rbg": {
        "dtype": "key<rbg>",
        "seed": [0, 5, 0, 5],
        "split": [[[629071667, 2343584484, 1144503774, 142997786]], [[629003988, 1317161160, 1441834994, 695621559]]],
        "fold_in": [1341780466, 4248146725, 198967021, 3592938964],
        "bits": [512747620, 1298009047, 1267190206, 761827841, 1383286907],
        "bits of 8": [100, 215, 190, 1, 123],
        "bits of 16": [59492, 3031, 51646, 37377, 18555],
        "bits of mapped keys": [[3280628599, 460599477], [1445315269, 2550286549], [2691261481, 4143742886]],
        "split of mapped keys": [
            [[4284104437, 3664408472, 796080102, 318099126], [3262115082, 2898608262, 1604203109, 3102317454]],
            [[3093522318, 964062516, 4087341159, 1339941583], [2334755390, 3877424997, 504616650, 2626587963]],
            [[1546981032, 1360057239, 1108920772, 1172047372], [3117021112, 1022408338, 3563126610, 3484602701]],
        ],
        "fold_in of mapped keys": [
            [290397809, 3527179513, 2174027060, 4010239554],
            [2169573356, 596766254, 219535589, 1047371679],
            [4031726955, 877801992, 2030567091, 965663743],
        ],
        "fold_in of mapped data": [
            [629071667, 2343584484, 1144503774, 142997786],
            [629003988, 1317161160, 1441834994, 695621559],
            [4128513521, 2345921600, 3970621033, 2143107470],
        ],
        "fold_in of both": [
            [4284104437, 3664408472, 796080102, 318099126],
            [2334755390, 3877424997, 504616650, 2626587963],
            [2798447608, 1292819663, 309839651, 467655006],
        ],
        "permutation": [8, 1, 5, 0, 4, 3, 7, 2, 6],
    },
    "unsafe_rbg": {
        "dtype": "key<urbg>",
        "seed": [0, 5, 0, 5],
        "split": [[[512747620, 1298009047, 1267190206, 761827841]], [[2117349439, 2738932741, 2107557141, 1903717071]]],
        "fold_in": [1300080328, 138944925, 2151969554, 3341033587],
        "bits": [512747620, 1298009047, 1267190206, 761827841, 1383286907],
        "bits of 8": [100, 215, 190, 1, 123],
        "bits of 16": [59492, 3031, 51646, 37377, 18555],
        "bits of mapped keys": [[3026836921, 2895255799], [211222031, 1930738209], [2899975523, 4205765764]],
        "split of mapped keys": [
            [[3026836921, 2895255799, 211222031, 1930738209], [3882738634, 2226312912, 2471660794, 1262843515]],
            [[3736142217, 3994618310, 2217640428, 1539983110], [1874175648, 752914728, 45702232, 3360443343]],
            [[775454252, 156114420, 3964893550, 2250143394], [3472037936, 1057506388, 3501223519, 2087914709]],
        ],
        "fold_in of mapped keys": [
            [500244516, 566008786, 3652849536, 3092411252],
            [2104162431, 3483524096, 4020437803, 3829566394],
            [3077144218, 1576905342, 3248389770, 625850656],
        ],
        "fold_in of mapped data": [
            [2531852733, 718943160, 4068121406, 453177558],
            [2700612816, 969135823, 60494960, 2586996940],
            [25364417, 1834931203, 1202557155, 3567667807],
        ],
        "fold_in of both": [
            [2288445912, 1736718445, 3120386691, 912941779],
            [3737920750, 2592283336, 2114310502, 3947502087],
            [3048517914, 1547824762, 336472148, 1691423246],
        ],
        "permutation": [3, 2, 7, 4, 5, 1, 0, 6, 8],
    },
}


def data(keys):
    return np.asarray(random.key_data(keys)).tolist()


def results(impl):
    """The same draws as were recorded."""
    key = random.wrap_key_data(WORDS, impl=impl)
    keys = random.split(key, 3)
    return {
        "dtype": str(key.dtype),
        "seed": data(random.key(5, impl=impl)),
        "split": data(random.split(key, (2, 1))),
        "fold_in": data(random.fold_in(key, 9)),
        "bits": random.bits(key, (5,)).tolist(),
        "bits of 8": random.bits(key, (5,), jnp.uint8).tolist(),
        "bits of 16": random.bits(key, (5,), jnp.uint16).tolist(),
        "bits of mapped keys": jax.vmap(lambda k: random.bits(k, (2,)))(keys).tolist(),
        "split of mapped keys": data(jax.vmap(random.split)(keys)),
        "fold_in of mapped keys": data(jax.vmap(lambda k: random.fold_in(k, 3))(keys)),
        "fold_in of mapped data": data(jax.vmap(lambda i: random.fold_in(key, i))(jnp.arange(3))),
        "fold_in of both": data(jax.vmap(random.fold_in)(keys, jnp.arange(3))),
        "permutation": random.permutation(key, 9).tolist(),
    }


@pytest.mark.parametrize("impl", JAX)
def test_words_are_those_of_jax(impl):
    assert results(impl) == JAX[impl]


@pytest.mark.parametrize("impl", JAX)
def test_jitted_words_are_the_same(impl):
    key = random.wrap_key_data(WORDS, impl=impl)
    f = lambda key: (random.bits(key, (5,)), random.key_data(random.split(key)), random.gamma(key, 2.0))
    for got, want in zip(jax.jit(f)(key), f(key)):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("impl", JAX)
def test_the_default_generator(impl):
    with jax.default_prng_impl(impl):
        raw = random.PRNGKey(7)
        assert raw.tolist() == [0, 7, 0, 7] and random.key_impl(raw) == impl
        assert random.split(raw).shape == (2, 4)
        assert random.key(7).dtype == random.key_dtype(impl) == random.key_dtype()
        with pytest.raises(TypeError, match="to end with"):
            random.bits(jnp.zeros(2, jnp.uint32))
    with jax.enable_custom_prng(True):
        assert random.PRNGKey(7).dtype == random.key_dtype("threefry2x32")


def test_poisson_needs_threefry():
    with pytest.raises(NotImplementedError, match="`poisson` is only implemented for the threefry2x32 RNG, not rbg"):
        random.poisson(random.key(0, impl="rbg"), 1.0)


COUNTER = extend_random.define_prng_impl(
    key_shape=(2,),
    seed=lambda s: jnp.stack([s.astype(jnp.uint32), jnp.uint32(9)]),
    split=lambda k, shape: k + jnp.arange(np.prod(shape), dtype=jnp.uint32).reshape((*shape, 1)),
    random_bits=lambda k, width, shape: jnp.full(shape, k[0] * k[1], jnp.uint32).astype(f"uint{width}"),
    fold_in=lambda k, data: k + jnp.uint32(data),
    name="counter",
    tag="cnt",
)


def test_a_generator_of_a_user():
    key = random.key(4, impl=COUNTER)
    assert repr(key) == "Array((), dtype=key<cnt>) overlaying:\n[4 9]"
    assert random.key_impl(key) is COUNTER and str(COUNTER) == "cnt"
    assert data(random.split(key, 3)) == [[4, 9], [5, 10], [6, 11]]
    assert data(random.fold_in(key, 4)) == [8, 13]
    assert random.bits(key, (2,)).tolist() == [36, 36]
    mapped = jax.vmap(lambda k: random.bits(k, (2,)))(random.split(key, 3))
    assert mapped.tolist() == [[36] * 2, [50] * 2, [66] * 2]
    draw = lambda k: (random.bits(k, (3,)), random.key_data(random.split(k)), random.key_data(random.fold_in(k, 2)))
    for got, want in zip(jax.jit(draw)(key), draw(key)):
        np.testing.assert_array_equal(got, want)


def test_names_for_libraries():
    assert repr(extend_random.seed_with_impl(extend_random.rbg_prng_impl, 3)) == repr(random.key(3, impl="rbg"))
    keys = extend_random.random_seed(jnp.arange(3), extend_random.threefry_prng_impl)
    assert data(keys) == [[0, 0], [0, 1], [0, 2]]
    pair = np.array([1, 2], np.uint32)
    assert extend_random.threefry_2x32(pair, np.uint32(3)).tolist() == 2392469163
    got = extend_random.threefry_2x32(pair, np.arange(6, dtype=np.uint32).reshape(2, 3)).tolist()
    assert got == [[2052595727, 3504730591, 1038787879], [1880214352, 1914734168, 1027009547]]
    with pytest.raises(TypeError, match="requires uint32 arguments"):
        extend_random.threefry_2x32(np.array([1, 2]), np.uint32(3))
