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
    "double_sided_maxwell": (
        lambda key: jnp.abs(random.double_sided_maxwell(key, 0.0, 2.0, (N,))),
        stats.maxwell(scale=2.0),
    ),
    "gamma": (lambda key: random.gamma(key, 2.5, (N,)), stats.gamma(2.5)),
    "gamma of a small shape": (lambda key: random.gamma(key, 0.3, (N,)), stats.gamma(0.3)),
    "gamma of a large shape": (lambda key: random.gamma(key, 1e4, (N,)), stats.gamma(1e4)),
    "loggamma": (lambda key: random.loggamma(key, 0.7, (N,)), stats.loggamma(0.7)),
    "beta": (lambda key: random.beta(key, 0.5, 2.0, (N,)), stats.beta(0.5, 2.0)),
    "dirichlet": (lambda key: random.dirichlet(key, jnp.array([1.0, 2.0, 0.5]), (N,))[:, 1], stats.beta(2.0, 1.5)),
    "chisquare": (lambda key: random.chisquare(key, 3.0, (N,)), stats.chi2(3.0)),
    "t": (lambda key: random.t(key, 5.0, (N,)), stats.t(5.0)),
    "f": (lambda key: random.f(key, 4.0, 9.0, (N,)), stats.f(4.0, 9.0)),
    "generalized_normal": (lambda key: random.generalized_normal(key, 1.5, (N,)), stats.gennorm(1.5)),
    "ball": (lambda key: jnp.linalg.norm(random.ball(key, 3, 2, (N,)), axis=-1), stats.beta(3.0, 1.0)),
    "ball, one coordinate": (lambda key: random.ball(key, 3, 2, (N,))[:, 0], stats.beta(2.0, 2.0, -1, 2)),
    "multivariate_normal": (
        lambda key: random.multivariate_normal(key, MEAN, SPREAD, (N,)) @ jnp.array([1.0, 2.0]),
        stats.norm(5.0, (1 + 2 * 2 * 0.5 + 4 * 2) ** 0.5),
    ),
    "orthogonal": (lambda key: random.orthogonal(key, 3, (N,))[:, 1, 2], stats.uniform(-1, 2)),
}
MEAN, SPREAD = jnp.array([1.0, 2.0]), jnp.array([[1.0, 0.5], [0.5, 2.0]])


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distribution(name):
    draw, expected = DISTRIBUTIONS[name]
    drawn = np.asarray(draw(KEY), np.float64)
    assert stats.kstest(drawn, expected.cdf).statistic < LARGEST_DISTANCE


@pytest.mark.parametrize("name", [n for n in DISTRIBUTIONS if n != "cauchy"])
def test_mean_and_variance(name):
    """Five standard errors; that of the variance from the numbers' own fourth moment."""
    draw, expected = DISTRIBUTIONS[name]
    drawn = np.asarray(draw(KEY), np.float64)
    mean, variance = expected.stats("mv")
    assert abs(drawn.mean() - mean) < 5 * (variance / N) ** 0.5
    assert abs(drawn.var() - variance) < 5 * np.std((drawn - mean) ** 2) / N**0.5


def _frequencies(distribution, count):
    """Probabilities of 0 ... count - 2, and of what is beyond."""
    inside = distribution.pmf(np.arange(count - 1))
    return np.append(inside, 1 - inside.sum())


COUNTS = {
    "poisson": (lambda key: jnp.minimum(random.poisson(key, 3.0, (N,)), 11), _frequencies(stats.poisson(3), 12)),
    "poisson by rejection": (
        lambda key: jnp.clip(random.poisson(key, 20.0, (N,)) - 8, 0, 24),
        np.diff(stats.poisson(20).cdf([-1, *range(8, 32), 1000])),
    ),
    "binomial": (lambda key: random.binomial(key, 9, 0.3, (N,)), _frequencies(stats.binom(9, 0.3), 10)),
    "binomial by rejection": (
        lambda key: jnp.clip(random.binomial(key, 100, 0.6, (N,)) - 48, 0, 24),
        np.diff(stats.binom(100, 0.6).cdf([-1, *range(48, 72), 1000])),
    ),
    "multinomial": (
        lambda key: random.multinomial(key, 6, jnp.array([0.2, 0.5, 0.3]), shape=(N, 3))[:, 1],
        _frequencies(stats.binom(6, 0.5), 7),
    ),
    "geometric": (
        lambda key: jnp.minimum(random.geometric(key, 0.4, (N,)), 9) - 1,
        _frequencies(stats.geom(0.4, -1), 9),
    ),
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
