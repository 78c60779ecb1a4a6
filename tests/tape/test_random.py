"""Random keys, bits and draws as instructions against the kernels."""

import numpy as np
import pytest

import onax as jax
from onax import lax, random
from tape.harness import check, run_tape
from tape.values import INTEGERS

KEY = random.key(3)
KEYS = random.split(KEY, (2, 3))


@pytest.fixture(autouse=True)
def _wide():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_seeds(dtype):
    info = np.iinfo(dtype)
    for seeds in (np.array(info.min, dtype), np.array([[1, 2, info.max], [info.min, 0, 5]], dtype)):
        check(lambda s: random.key_data(jax.vmap(random.key)(s.reshape(-1))), seeds)
    check(lambda s: random.key_data(random.key(s)), np.array(info.max, dtype))


@pytest.mark.parametrize("partitionable", [True, False])
def test_bits_and_splits(partitionable):
    with jax.threefry_partitionable(partitionable):
        for dtype in (np.uint8, np.uint16, np.uint32, np.uint64):
            for shape in ((), (1,), (3,), (5, 8), (17,), (0,), (70_001,)):
                check(lambda k, s=shape, d=dtype: random.bits(k, s, d), KEY)
            check(lambda k, d=dtype: jax.vmap(lambda x: random.bits(x, (3,), d))(k.reshape(-1)), KEYS)
        for count in (1, 2, 3, 40, (2, 3)):
            check(lambda k, n=count: random.key_data(random.split(k, n)), KEY)
        check(lambda k: random.key_data(jax.vmap(jax.vmap(lambda x: random.split(x, 2)))(k)), KEYS)


def test_fold_in():
    check(lambda k, n: random.key_data(random.fold_in(k, n)), KEY, np.int32(7))
    check(lambda k, n: random.key_data(jax.vmap(random.fold_in)(k.reshape(-1), n)), KEYS, np.arange(6, dtype=np.uint32))
    check(lambda k, n: random.key_data(jax.vmap(random.fold_in, (None, 0))(k, n)), KEY, np.arange(6, dtype=np.uint32))
    check(lambda k, n: random.key_data(jax.vmap(random.fold_in, (0, None))(k.reshape(-1), n)), KEYS, np.uint32(5))


def test_keys_and_words():
    check(lambda w: random.key_data(random.wrap_key_data(w)), np.arange(8, dtype=np.uint32).reshape(4, 2))
    check(lambda k: random.key_data(random.clone(k)), KEYS)


def test_threefry2x32():
    words = [np.arange(i, i + 6, dtype=np.uint32).reshape(2, 3) for i in range(4)]
    block = jax.extend.random.threefry2x32_p.bind
    check(block, *words)
    check(lambda a, b, c, d: block(a, b, c, d), words[0][0, 0], words[1], words[2][0, 1], words[3])


@pytest.mark.parametrize("draw", [random.normal, random.uniform, random.exponential, random.gumbel, random.laplace])
def test_draws_need_no_python(draw):
    for shape in ((), (8,), (5000,)):
        check(lambda k, s=shape: draw(k, s, np.float32), KEY, rtol=1e-6, atol=1e-6)


def test_integers_permutations_and_choices():
    check(lambda k: random.randint(k, (50,), -5, 100), KEY)
    check(lambda k: random.bernoulli(k, 0.3, (50,)), KEY)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("draw", [random.gamma, random.loggamma])
def test_gamma(draw, dtype):
    shapes = np.array([0.1, 1, 1000, np.inf, np.nan, 0, -1, 1e-4, *np.linspace(0.2, 9, 3000)], dtype)
    tolerance = 4e-6 if dtype == np.float32 else 1e-12
    check(lambda k, a: draw(k, a, dtype=dtype), KEY, shapes, rtol=tolerance, atol=tolerance)
    check(lambda k: draw(k, dtype(2.5)), KEY, rtol=tolerance, atol=tolerance)
    check(lambda k, a: jax.vmap(draw)(k.reshape(-1), a), KEYS, shapes[8:14], rtol=tolerance, atol=tolerance)


def test_gamma_of_narrow_floats_is_the_kernels():
    check(lambda k: random.gamma(k, np.float16(2.5), (5,), np.float16), KEY, python={"random_gamma"})


@pytest.mark.parametrize(
    "dtype", [np.float32, np.float64, np.float16, jax.numpy.bfloat16], ids=lambda d: np.dtype(d).name
)
def test_gamma_grad(dtype):
    rng = np.random.default_rng(0)
    a = np.exp(rng.standard_normal(3000) * 2)
    x = a * np.exp(rng.standard_normal(3000))
    a[:6], x[3:8] = [0, -1, np.nan, np.inf, 1, 2], [1, 0, np.inf, np.nan, 5]
    eps = 4 * float(jax.numpy.finfo(dtype).eps)
    rtol = eps if dtype != np.float64 else 1e-10
    check(lax.random_gamma_grad, a.astype(dtype), x.astype(dtype), rtol=rtol)
    check(lax.random_gamma_grad, a[6:7].astype(dtype)[0], x[8:].astype(dtype), rtol=rtol)


def test_other_generators_are_the_kernels():
    check(lambda k: random.bits(k, (5,)), random.key(0, impl="rbg"), python={"random_bits"})


def test_a_random_walk():
    def walk(key):
        def step(carry, _):
            key, x = carry
            key, drawn = random.split(key)
            x = x + random.normal(drawn, (3,), np.float32)
            return (key, x), x

        return lax.scan(step, (key, np.zeros(3, np.float32)), None, length=20)[1]

    check(walk, KEY, rtol=1e-5, atol=1e-6)
    assert run_tape(walk, KEY)[0].shape == (20, 3)
