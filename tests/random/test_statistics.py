"""Distributions against SciPy's by the Kolmogorov-Smirnov distance; independence of split and folded keys."""

import numpy as np
import pytest
from scipy import stats

from onax import numpy as jnp
from onax import random, vmap

KEY = random.key(20)
N = 20_000
# Exceeded by chance once in 10^4 keys; this key is fixed.
LARGEST_DISTANCE = 2.2 / N**0.5

DISTRIBUTIONS = {
    "uniform": (lambda key: random.uniform(key, (N,), minval=-1, maxval=3), stats.uniform(-1, 4)),
    "normal": (lambda key: random.normal(key, (N,)), stats.norm()),
    "truncated_normal": (lambda key: random.truncated_normal(key, -1, 2, (N,)), stats.truncnorm(-1, 2)),
    "lognormal": (lambda key: random.lognormal(key, 0.5, (N,)), stats.lognorm(0.5)),
    "exponential": (lambda key: random.exponential(key, (N,)), stats.expon()),
    "gumbel": (lambda key: random.gumbel(key, (N,)), stats.gumbel_r()),
    "gumbel, mode high": (lambda key: random.gumbel(key, (N,), mode="high"), stats.gumbel_r()),
    "laplace": (lambda key: random.laplace(key, (N,)), stats.laplace()),
    "logistic": (lambda key: random.logistic(key, (N,)), stats.logistic()),
    "cauchy": (lambda key: random.cauchy(key, (N,)), stats.cauchy()),
    "maxwell": (lambda key: random.maxwell(key, (N,)), stats.maxwell()),
    "rayleigh": (lambda key: random.rayleigh(key, 2.0, (N,)), stats.rayleigh(scale=2.0)),
    "pareto": (lambda key: random.pareto(key, 3.0, (N,)), stats.pareto(3.0)),
    "weibull_min": (lambda key: random.weibull_min(key, 2.0, 1.5, (N,)), stats.weibull_min(1.5, scale=2.0)),
    "triangular": (lambda key: random.triangular(key, 0.0, 1.0, 4.0, (N,)), stats.triang(0.25, scale=4.0)),
    "wald": (lambda key: random.wald(key, 2.0, (N,)), stats.invgauss(2.0)),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distribution(name):
    draw, expected = DISTRIBUTIONS[name]
    drawn = np.asarray(draw(KEY), np.float64)
    assert stats.kstest(drawn, expected.cdf).statistic < LARGEST_DISTANCE


COUNTS = {
    "randint": (lambda key: random.randint(key, (N,), 0, 7), np.full(7, 1 / 7)),
    "bernoulli": (lambda key: random.bernoulli(key, 0.3, (N,)), [0.7, 0.3]),
    "rademacher": (lambda key: random.rademacher(key, (N,)) > 0, [0.5, 0.5]),
    "categorical": (
        lambda key: random.categorical(key, jnp.log(jnp.array([0.2, 0.5, 0.3])), shape=(N,)),
        [0.2, 0.5, 0.3],
    ),
    "choice": (lambda key: random.choice(key, 3, (N,), p=jnp.array([0.2, 0.5, 0.3])), [0.2, 0.5, 0.3]),
    "permutation": (lambda key: vmap(lambda k: random.permutation(k, 5)[0])(random.split(key, 4000)), np.full(5, 0.2)),
}


@pytest.mark.parametrize("name", COUNTS)
def test_frequencies(name):
    draw, expected = COUNTS[name]
    found = np.bincount(np.asarray(draw(KEY)).astype(int), minlength=len(expected))
    assert stats.chisquare(found, np.asarray(expected) * found.sum()).pvalue > 1e-4


def test_geometric_mean():
    assert abs(float(jnp.mean(random.geometric(KEY, 0.25, (N,)))) - 4) < 4 * 12**0.5 / N**0.5


@pytest.mark.parametrize(
    "keys", [lambda: random.split(KEY, 40), lambda: vmap(random.fold_in, (None, 0))(KEY, jnp.arange(40))]
)
def test_keys_are_independent(keys):
    drawn = np.asarray(vmap(lambda key: random.normal(key, (2000,)))(keys()), np.float64)
    correlations = np.corrcoef(drawn)[np.triu_indices(40, 1)]
    assert np.max(np.abs(correlations)) < 5 / 2000**0.5
