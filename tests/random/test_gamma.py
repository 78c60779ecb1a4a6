"""Slopes of gamma-distributed numbers in their shape: against differences of quantiles, and in every mode."""

import numpy as np
import pytest
from scipy import special, stats

import onax as jax
import onax.numpy as jnp
from onax import lax, random
from random_statistics import N, assert_distribution, assert_mean_and_variance

KEY = random.key(5)


@pytest.mark.parametrize("a", [1e-2, 0.3, 1.0, 2.5, 40.0, 1e3, 1e5])
def test_slope_is_that_of_the_quantile(a):
    """Near the mean and in both tails; the quantile's own error over the step bounds what can be told."""
    p = np.array([0.01, 0.2, 0.5, 0.8, 0.99])
    step = (1e-5 if a < 1 else 1e-4) * a
    x = special.gammaincinv(a, p)
    want = (special.gammaincinv(a + step, p) - special.gammaincinv(a - step, p)) / (2 * step)
    with jax.enable_x64(True):
        got = lax.random_gamma_grad(jnp.full(5, a), jnp.asarray(x))
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-290)


def test_slope_of_the_distribution_function():
    a, x, step = np.array([0.5, 2.0, 30.0]), np.array([0.1, 3.0, 25.0]), 1e-6
    want = (special.gammainc(a + step, x) - special.gammainc(a - step, x)) / (2 * step)
    with jax.enable_x64(True):
        np.testing.assert_allclose(lax.igamma_grad_a(jnp.asarray(a), jnp.asarray(x)), want, rtol=1e-7)


def test_outside_the_domain():
    got = lax.random_gamma_grad(jnp.array([0.0, -1.0, np.nan, 1.0, np.inf]), jnp.array([1.0, 1.0, 1.0, -1.0, 1.0]))
    assert np.isnan(got).all()
    assert float(lax.random_gamma_grad(jnp.float32(1), jnp.float32(0))) == 0


def test_gradients_in_every_mode():
    f = lambda a: jnp.sum(random.gamma(KEY, a, (4,)) + random.loggamma(KEY, a, (4,)))
    want = jax.grad(f)(2.5)
    np.testing.assert_allclose(jax.jit(jax.grad(f))(2.5), want, rtol=1e-6)
    np.testing.assert_allclose(jax.jvp(f, (2.5,), (1.0,))[1], want, rtol=1e-6)
    np.testing.assert_allclose(jax.vmap(jax.grad(f))(jnp.array([2.5, 1.0]))[0], want, rtol=1e-6)
    np.testing.assert_allclose(jax.linearize(f, 2.5)[1](1.0), want, rtol=1e-6)
    scanned = lambda a: lax.scan(lambda s, key: (s + random.gamma(key, a), None), 0.0, random.split(KEY, 3))[0]
    apart = sum(float(jax.grad(lambda a, key=key: random.gamma(key, a))(2.5)) for key in random.split(KEY, 3))
    np.testing.assert_allclose(jax.grad(scanned)(2.5), apart, rtol=1e-6)


def test_small_shapes_have_slopes_of_logarithms():
    """The number itself is 0 in float32; its logarithm is about log(u) / a."""
    drawn, slope = jax.value_and_grad(lambda a: random.loggamma(KEY, a))(1e-4)
    assert float(random.gamma(KEY, 1e-4)) == 0 and np.isfinite(drawn) and np.isfinite(slope)


DISTRIBUTIONS = {
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
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distribution(name):
    assert_distribution(*DISTRIBUTIONS[name])


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_mean_and_variance(name):
    assert_mean_and_variance(*DISTRIBUTIONS[name])
