"""Integers, choices, permutations: frequencies; types, edges and refusals."""

import numpy as np
import pytest
from scipy import stats

import onax as jax
from onax import numpy as jnp
from onax import random
from random_statistics import KEY, N, assert_frequencies, frequencies

COUNTS = {
    "geometric": (
        lambda key: jnp.minimum(random.geometric(key, 0.4, (N,)), 9) - 1,
        frequencies(stats.geom(0.4, -1), 9),
    ),
    "randint": (lambda key: random.randint(key, (N,), 0, 7), np.full(7, 1 / 7)),
    "bernoulli": (lambda key: random.bernoulli(key, 0.3, (N,)), [0.7, 0.3]),
    "rademacher": (lambda key: random.rademacher(key, (N,)) > 0, [0.5, 0.5]),
    "categorical": (
        lambda key: random.categorical(key, jnp.log(jnp.array([0.2, 0.5, 0.3])), shape=(N,)),
        [0.2, 0.5, 0.3],
    ),
    "choice": (lambda key: random.choice(key, 3, (N,), p=jnp.array([0.2, 0.5, 0.3])), [0.2, 0.5, 0.3]),
    "permutation": (
        lambda key: jax.vmap(lambda k: random.permutation(k, 5)[0])(random.split(key, 4000)),
        np.full(5, 0.2),
    ),
}


@pytest.mark.parametrize("name", COUNTS)
def test_frequencies(name):
    assert_frequencies(*COUNTS[name])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint32", "int32", "int64", "uint64"])
def test_integers_stay_within_bounds(dtype):
    with jax.enable_x64(True):
        info = np.iinfo(dtype)
        for low, high in ((0, 7), (info.dtype.type(info.min), info.dtype.type(info.max)), (5, 6)):
            for run in (random.randint, jax.jit(random.randint, static_argnums=(1, 4))):
                x = np.asarray(run(KEY, (500,), low, high, dtype))
                assert x.dtype == dtype and x.min() >= low and x.max() < high


@pytest.mark.parametrize("axis", [0, 1])
def test_permutations_keep_the_slices(axis):
    x = jnp.arange(12).reshape(3, 4)
    moved = np.asarray(random.permutation(KEY, x, axis))
    assert sorted(map(tuple, np.moveaxis(moved, axis, 0))) == sorted(map(tuple, np.moveaxis(np.asarray(x), axis, 0)))
    independent = np.asarray(random.permutation(KEY, x, axis, independent=True))
    np.testing.assert_array_equal(np.sort(independent, axis), np.sort(x, axis))
    assert sorted(random.permutation(KEY, 9).tolist()) == list(range(9))


def test_choices():
    x = jnp.arange(10) * 10
    without = random.choice(KEY, x, (10,), replace=False)
    assert sorted(without.tolist()) == x.tolist()
    some = random.choice(KEY, 5, (3,), replace=False, p=jnp.array([0.0, 0.5, 0.25, 0.25, 0.0]))
    assert sorted(some.tolist()) == [1, 2, 3]
    assert random.choice(KEY, jnp.ones((4, 2)), (3,), axis=1).shape == (4, 3)
    assert random.bernoulli(KEY, jnp.array([0.0, 1.0])).tolist() == [False, True]
    assert set(random.rademacher(KEY, (100,), "int8").tolist()) == {-1, 1}


def test_categories():
    logits = jnp.log(jnp.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    for run in (random.categorical, jax.jit(random.categorical)):
        assert run(KEY, logits).tolist() == [1, 2]
    assert random.categorical(KEY, logits, axis=0, shape=(5, 3)).shape == (5, 3)
    some = random.categorical(KEY, jnp.zeros(4), shape=(4,), replace=False)
    assert sorted(some.tolist()) == [0, 1, 2, 3]


REFUSED = [
    (lambda: random.randint(KEY, (), 0, 1, float), TypeError, "integer dtypes"),
    (lambda: random.choice(KEY, 5, (6,), replace=False), ValueError, "larger sample"),
    (lambda: random.choice(KEY, 3, p=jnp.ones(4)), ValueError, "p has shape"),
    (lambda: random.permutation(KEY, 1.5), TypeError, "integer"),
    (lambda: random.bernoulli(KEY, 2), TypeError, "floating"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()


def test_dtypes():
    assert random.rademacher(KEY, (3,), bool).all()
    assert random.permutation(KEY, np.int8(4)).dtype == np.int32
    assert random.choice(KEY, 5, (2,), axis=1).shape == (2,)
    with pytest.raises(ValueError, match="dtype argument to `gumbel` must be a float dtype, got int32"):
        random.categorical(KEY, jnp.arange(3))
