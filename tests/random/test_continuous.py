"""Continuous distributions: against SciPy's; types, shapes and refusals."""

import numpy as np
import pytest
from scipy import stats

import onax as jax
from onax import numpy as jnp
from onax import random
from onax._ground.errors import TypePromotionError
from random_statistics import KEY, N, assert_distribution, assert_mean_and_variance

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
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distribution(name):
    assert_distribution(*DISTRIBUTIONS[name])


@pytest.mark.parametrize("name", [n for n in DISTRIBUTIONS if n != "cauchy"])
def test_mean_and_variance(name):
    assert_mean_and_variance(*DISTRIBUTIONS[name])


NAMES = "uniform normal exponential gumbel laplace logistic cauchy maxwell".split()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("name", NAMES)
def test_types_and_shapes(name, dtype):
    with jax.enable_x64(True):
        draw = lambda: getattr(random, name)(KEY, (3, 2), jnp.dtype(dtype))
        for run in (draw, jax.jit(draw)):
            x = run()
            assert (x.shape, str(x.dtype), x.weak_type) == ((3, 2), dtype, False) and np.isfinite(x.astype(float)).all()
    assert getattr(random, name)(KEY, (0, 3)).shape == (0, 3) and getattr(random, name)(KEY).shape == ()


def test_bounds():
    x = np.asarray(random.uniform(KEY, (N,), minval=-0.5, maxval=0.25))
    assert x.min() >= -0.5 and x.max() < 0.25
    x = np.asarray(random.truncated_normal(KEY, -0.3, 0.1, (N,)))
    assert x.min() > -0.3 and x.max() < 0.1
    assert (np.asarray(random.triangular(KEY, 1.0, 2.0, 4.0, (N,))) >= 1).all()


def test_complex_normal_numbers_have_unit_variance():
    z = np.asarray(random.normal(KEY, (N,), np.complex64))
    assert abs(np.mean(np.abs(z) ** 2) - 1) < 0.05 and abs(np.mean(z.real * z.imag)) < 0.02


def test_slopes_in_parameters():
    slope = jax.grad(lambda b: random.uniform(KEY, (), minval=0.0, maxval=b))(3.0)
    assert float(slope) == pytest.approx(float(random.uniform(KEY)))
    slope = jax.jit(jax.grad(lambda s: random.lognormal(KEY, s)))(0.5)
    z = float(random.normal(KEY))
    assert float(slope) == pytest.approx(z * np.exp(0.5 * z), rel=1e-5)


REFUSED = [
    (lambda: random.uniform(KEY, dtype=int), ValueError, "must be a float dtype"),
    (lambda: random.gumbel(KEY, mode="middle"), ValueError, "middle|mode"),
    (lambda: random.pareto(KEY, jnp.ones(3), (2,)), ValueError, "broadcasting"),
    (lambda: random.normal(KEY, (-1,)), (TypeError, ValueError), "negative|shape"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()


WIDE = jnp.float32(2.0)
UNSAFE = {
    "beta": lambda: random.beta(KEY, WIDE, 1.0, dtype="float16"),
    "pareto": lambda: random.pareto(KEY, WIDE, dtype="bfloat16"),
    "t": lambda: random.t(KEY, WIDE, dtype="float16"),
    "chisquare": lambda: random.chisquare(KEY, WIDE, dtype="float16"),
    "f": lambda: random.f(KEY, 1.0, WIDE, dtype="float16"),
    "rayleigh": lambda: random.rayleigh(KEY, jnp.complex64(1)),
    "wald": lambda: random.wald(KEY, WIDE, dtype="float16"),
    "triangular": lambda: random.triangular(KEY, 0.0, 1.0, WIDE, dtype="float16"),
    "lognormal": lambda: random.lognormal(KEY, WIDE, dtype="float16"),
}


@pytest.mark.parametrize("name", UNSAFE)
def test_parameters_that_lose_digits_are_refused(name):
    with pytest.raises(TypePromotionError, match=f"In arguments to {name}, cannot safely cast argument of type "):
        UNSAFE[name]()


PROMOTED = {
    "weibull_min": lambda a: random.weibull_min(KEY, a, 2.0, dtype="float16"),
    "double_sided_maxwell": lambda a: random.double_sided_maxwell(KEY, a, 1.0, dtype="float16"),
    "generalized_normal": lambda a: random.generalized_normal(KEY, a, dtype="float16"),
    "ball": lambda a: random.ball(KEY, 2, a, dtype="float16"),
    "multivariate_normal": lambda a: random.multivariate_normal(KEY, a * jnp.ones(2), a * jnp.eye(2), dtype="float16"),
}


@pytest.mark.parametrize("name", PROMOTED)
def test_results_promote_with_wider_parameters(name):
    assert PROMOTED[name](WIDE).dtype == np.float32


def test_complex_lognormal():
    x = random.lognormal(KEY, 0.5, (2,), jnp.complex64)
    np.testing.assert_allclose(x, jnp.exp(random.normal(KEY, (2,), jnp.complex64) * 0.5), rtol=1e-6)
    with pytest.raises(ValueError, match="must be a float or complex dtype, got int32"):
        random.lognormal(KEY, 0.5, dtype=jnp.int32)


def test_multivariate_normal_has_the_dtype_of_its_mean():
    with jax.enable_x64(True):
        draw = lambda dtype: random.multivariate_normal(KEY, jnp.zeros(2, dtype), jnp.eye(2, dtype=dtype))
        assert draw(jnp.float32).dtype == np.float32 and draw(jnp.float64).dtype == np.float64
