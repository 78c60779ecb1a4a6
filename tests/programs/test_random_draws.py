"""What draws random numbers gives the same compiled, in loops too, as eager."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from native_passes import after_passes
from onax import lax, random
from onax._ground.config import enable_x64

KEY, RAW = random.key(7), random.PRNGKey(7)
KEYS = random.split(KEY, 5)
POINT = np.linspace(-1, 1, 33, dtype=np.float32)


def leaves(tree):
    """ndarrays, of keys their words."""
    found = jax.tree_util.tree_leaves(tree)
    return [np.asarray(random.key_data(x) if jnp.issubdtype(x.dtype, jax.dtypes.prng_key) else x) for x in found]


def check(function, *args, rtol=0.0):
    """Compiled as eager, to the bit unless a tolerance is given; the program with regions."""
    for got, want in zip(leaves(jax.jit(function)(*args)), leaves(function(*args)), strict=True):
        assert got.dtype == want.dtype and got.shape == want.shape
        if rtol and got.dtype.kind == "f":
            np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol)
        else:
            np.testing.assert_array_equal(got, want)
    return after_passes(jax.make_jaxpr(function)(*args))


def names(program):
    return [eqn.primitive.name for eqn in program.eqns]


def halves(key):
    first, second = random.split(key)
    return random.bits(first, (3,)), random.bits(second, (2, 2)), second


DRAWS = {
    "bits": lambda k: (random.bits(k), random.bits(k, (5,)), random.bits(k, (3, 70))),
    "narrow bits": lambda k: (random.bits(k, (5,), np.uint8), random.bits(random.split(k)[1], (3,), np.uint16)),
    "many bits": lambda k: (random.bits(k, (9001,)), random.bits(random.fold_in(k, 3), (50, 100))),
    "no bits": lambda k: (random.bits(k, (0, 3)), random.split(k, 0)),
    "halves": halves,
    "split into a matrix": lambda k: random.split(k, (3, 4))[1:, ::2],
    "split often": lambda k: random.split(random.split(random.split(k)[0])[1], 3)[2],
    "split in many": lambda k: random.split(k, 5000),
    "fold_in": lambda k: [random.fold_in(random.fold_in(k, i), 2**32 - 1) for i in range(3)],
    "fold in an array": lambda k: jax.vmap(lambda i: random.fold_in(k, i))(jnp.arange(6)),
    "a key for each": lambda k: jax.vmap(lambda k: random.bits(k, (4,)))(random.split(k, 3)),
    "many for each": lambda k: jax.vmap(lambda k: random.bits(k, (40, 50)))(random.split(k, 3)),
    "keys of keys": lambda k: jax.vmap(jax.vmap(random.split))(random.split(k, (2, 3))),
    "randint": lambda k: (random.randint(k, (20,), -3, 9), random.randint(k, (), 0, 1000)),
    "bernoulli": lambda k: random.bernoulli(k, jnp.array([0.1, 0.5, 0.9]), (4, 3)),
    "choice": lambda k: random.choice(k, jnp.arange(10), (4,)),
    "permutation": lambda k: random.permutation(k, 20),
    "categorical": lambda k: random.categorical(k, jnp.zeros((3, 5))),
    "keys chosen": lambda k: jnp.where(random.bits(k) > 5, random.split(k)[0], random.fold_in(k, 1)),
    "keys put together": lambda k: jnp.concatenate([random.split(k), random.split(random.fold_in(k, 1), 3)])[1:4],
    "keys in a branch": lambda k: lax.cond(random.uniform(k) > 0.5, lambda k: random.split(k)[0], lambda k: k, k),
    "data of keys": lambda k: random.wrap_key_data(random.key_data(random.split(k, 3))[::2] + 1),
    "a clone": lambda k: random.bits(random.clone(k)),
    "another generator": lambda k: random.bits(random.split(random.key(random.bits(k), impl="rbg"))[0], (3,)),
    "a key closed over": lambda k: (random.bits(KEY, (3,)), random.bits(KEYS[3], (3,)) + random.bits(k)),
}


@pytest.mark.parametrize("partitionable", (True, False))
@pytest.mark.parametrize("name", DRAWS)
def test_drawn_bits(name, partitionable):
    with jax.threefry_partitionable(partitionable):
        check(DRAWS[name], KEY)


@pytest.mark.parametrize("name", ("bits", "halves", "split often", "fold_in", "randint"))
def test_raw_keys(name):
    def run(raw):
        return [random.key_data(x) if x.dtype == KEY.dtype else x for x in jax.tree_util.tree_leaves(DRAWS[name](raw))]

    check(run, RAW)


def test_wide_bits():
    with enable_x64(True):
        check(lambda k: (random.bits(k, (5,), np.uint64), random.randint(k, (3,), 0, 2**40)), KEY)
        check(lambda k: (random.uniform(k, (50,)), random.normal(k, (50,))), KEY, rtol=1e-14)


@pytest.mark.parametrize("n", (1, 33, 6000))
def test_floats(n):
    for function in (random.uniform, random.normal, random.exponential, random.gumbel, random.laplace):
        check(lambda k, f=function: f(k, (n,)), KEY, rtol=2e-6)
        check(lambda k, f=function: f(random.split(k)[1], (n,)) * 2 + 1, KEY, rtol=2e-6)


# ---- loops


def walk(i, state):
    key, x = state
    key, sub = random.split(key)
    return key, x * 0.5 + random.normal(sub, x.shape)


def metropolis(state, _):
    key, x = state
    key, moving, accepting = random.split(key, 3)
    new = x + 0.3 * random.normal(moving, x.shape)
    better = jnp.exp(0.5 * jnp.sum(x * x - new * new))
    return (key, jnp.where(random.uniform(accepting) < better, new, x)), jnp.max(x)


def rejection(key):
    """Draws until two dice are alike; what was drawn."""

    def again(state):
        return state[1][0] != state[1][1]

    def draw(state):
        key, sub = random.split(state[0])
        return key, random.randint(sub, (2,), 1, 7), state[2] + 1

    return lax.while_loop(again, draw, (key, jnp.array([0, 1], jnp.int32), 0))


def by_number(key):
    return lax.fori_loop(0, 9, lambda i, x: x + random.uniform(random.fold_in(key, i), (3,)), jnp.zeros(3))


def drift(x, key):
    return x + random.normal(key, (33,)), x[0]


def flips(x, key):
    return x + random.bits(key), key


def closed_over(key):
    return lax.fori_loop(0, 3, lambda i, x: x ^ random.bits(KEYS[2], (2,)) + i, random.bits(key, (2,)))


LOOPS = {
    "a key carried": lambda k: lax.fori_loop(0, 7, walk, (k, POINT)),
    "a raw key carried": lambda k: lax.fori_loop(0, 7, walk, (random.key_data(k), POINT))[1],
    "Metropolis": lambda k: lax.scan(metropolis, (k, POINT), None, 9),
    "keys scanned": lambda k: lax.scan(drift, POINT, random.split(k, 6)),
    "keys scanned backwards": lambda k: lax.scan(flips, jnp.uint32(0), random.split(k, 6), reverse=True),
    "keys stacked": lambda k: lax.scan(lambda k, _: tuple(random.split(k)), k, None, 5),
    "until": rejection,
    "by number": by_number,
    "a key closed over": lambda k: by_number(KEY) + random.uniform(k),
    "keys closed over": closed_over,
    "a mapped loop": lambda k: jax.vmap(lambda k: lax.fori_loop(0, 5, walk, (k, POINT[:4])))(random.split(k, 3)),
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops(name):
    assert names(check(LOOPS[name], KEY, rtol=2e-6)) == ["tape"]


@pytest.mark.parametrize("draw", (lambda k: random.permutation(k, 3)[0], lambda k: random.gamma(k, 2.0)))
def test_loops_of_longer_draws(draw):
    def step(c, k):
        return c + draw(k), None

    check(lambda k: lax.scan(step, draw(k) * 0, random.split(k, 3)), KEY, rtol=1e-5)


def test_gradients_through_random_steps():
    def loss(x):
        return jnp.sum(
            lax.fori_loop(0, 4, lambda i, x: x * 0.9 + x * random.normal(random.fold_in(KEY, i), x.shape), x)
        )

    np.testing.assert_allclose(jax.jit(jax.grad(loss))(POINT), jax.grad(loss)(POINT), rtol=1e-5)
