"""Counts: against SciPy's distributions; types, edges and refusals."""

import numpy as np
import pytest
from scipy import stats

import onax as jax
from onax import numpy as jnp
from onax import random
from random_statistics import KEY, N, assert_frequencies, frequencies

COUNTS = {
    "poisson": (lambda key: jnp.minimum(random.poisson(key, 3.0, (N,)), 11), frequencies(stats.poisson(3), 12)),
    "poisson by rejection": (
        lambda key: jnp.clip(random.poisson(key, 20.0, (N,)) - 8, 0, 24),
        np.diff(stats.poisson(20).cdf([-1, *range(8, 32), 1000])),
    ),
    "binomial": (lambda key: random.binomial(key, 9, 0.3, (N,)), frequencies(stats.binom(9, 0.3), 10)),
    "binomial by rejection": (
        lambda key: jnp.clip(random.binomial(key, 100, 0.6, (N,)) - 48, 0, 24),
        np.diff(stats.binom(100, 0.6).cdf([-1, *range(48, 72), 1000])),
    ),
    "multinomial": (
        lambda key: random.multinomial(key, 6, jnp.array([0.2, 0.5, 0.3]), shape=(N, 3))[:, 1],
        frequencies(stats.binom(6, 0.5), 7),
    ),
}


@pytest.mark.parametrize("name", COUNTS)
def test_frequencies(name):
    assert_frequencies(*COUNTS[name])


def test_geometric_mean():
    assert abs(float(jnp.mean(random.geometric(KEY, 0.25, (N,)))) - 4) < 4 * 12**0.5 / N**0.5


EDGES = {  # what is drawn, and what it is for certain
    "no chance": (lambda: random.binomial(KEY, 10, 0.0, (5,)), 0),
    "certainty": (lambda: random.binomial(KEY, 10, 1.0, (5,)), 10),
    "no trials": (lambda: random.binomial(KEY, 0, 0.5, (5,)), 0),
    "no events": (lambda: random.poisson(KEY, 0.0, (5,)), 0),
}


@pytest.mark.parametrize("way", [lambda f: f, jax.jit])
@pytest.mark.parametrize("name", EDGES)
def test_edges(name, way):
    draw, value = EDGES[name]
    assert np.asarray(way(draw)()).tolist() == [value] * 5


@pytest.mark.parametrize(
    ("draw", "shape", "dtype"),
    [
        (lambda: random.poisson(KEY, 3.0), (), "int32"),
        (lambda: random.poisson(KEY, jnp.ones((2, 1)), (2, 3), "int16"), (2, 3), "int16"),
        (lambda: random.binomial(KEY, 9, 0.5, (4,)), (4,), "float32"),
        (lambda: random.multinomial(KEY, 6, jnp.array([0.5, 0.5])), (2,), "float32"),
    ],
)
def test_types_and_shapes(draw, shape, dtype):
    for run in (draw, jax.jit(draw)):
        x = run()
        assert (x.shape, str(x.dtype), x.weak_type) == (shape, dtype, False)


def test_multinomial_counts_add_up():
    counts = random.multinomial(KEY, 20, jnp.array([0.1, 0.2, 0.7]), shape=(50, 3))
    assert (np.asarray(counts).sum(-1) == 20).all()


def test_refusals():
    with pytest.raises(NotImplementedError, match="threefry"):
        random.poisson(random.key(0, impl="rbg"), 3.0)
    with pytest.raises(ValueError, match="broadcasting"):
        random.poisson(KEY, jnp.ones(3), (2,))


def test_binomial_is_drawn_in_the_dtype_of_its_probability():
    half, single = (random.binomial(KEY, 10, 0.3, (3,), dtype) for dtype in ("float16", "float32"))
    assert half.dtype == np.float16 and half.tolist() == single.tolist()


DTYPES = {
    "binomial of half-precision p": (lambda: random.binomial(KEY, 1000, np.float16(0.3), (2,)), "float32"),
    "multinomial of half-precision p": (lambda: random.multinomial(KEY, 6, np.float16([0.5, 0.5])), "float32"),
    "multinomial of integers": (lambda: random.multinomial(KEY, 6, jnp.array([1, 1])), "float32"),
    "large counts": (lambda: random.poisson(KEY, jnp.array([1e5, 1e6]), dtype="int16"), "int16"),
}


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(name):
    draw, dtype = DTYPES[name]
    assert str(draw().dtype) == dtype


def test_large_counts_saturate():
    assert random.poisson(KEY, jnp.array([1e5, 1e6]), dtype="int16").tolist() == [32767, 32767]
