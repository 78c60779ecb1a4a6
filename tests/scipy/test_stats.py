"""onax.scipy.stats and special functions against SciPy, in double precision."""

import numpy as np
import pytest
import scipy.special
import scipy.stats

import onax as jax
import onax.scipy.special
import onax.scipy.stats as ours

CONTINUOUS = {
    "norm": (), "expon": (), "uniform": (), "laplace": (), "logistic": (), "cauchy": (), "gamma": (2.3,),
    "chi2": (3.1,), "beta": (1.5, 2.5), "t": (2.5,), "pareto": (1.7,), "gumbel_r": (), "gumbel_l": (),
}  # fmt: skip
DISCRETE = {
    "poisson": (2.2,), "bernoulli": (0.3,), "binom": (5, 0.3), "geom": (0.3,), "nbinom": (4, 0.3),
    "betabinom": (5, 1.2, 2.1),
}  # fmt: skip
FUNCTIONS = "logpdf pdf cdf logcdf sf logsf ppf isf logpmf pmf".split()
X = np.array([-2.5, -0.5, 0.3, 1.0, 2.7, 6.0])
SPECIAL = {
    "gamma": (X,), "gammasgn": (X,), "i0": (X,), "i1": (X,), "i0e": (X,), "i1e": (X,), "beta": (np.abs(X), 1.3),
    "betaln": (np.abs(X), 1.3), "factorial": (np.arange(5.0),), "polygamma": (2, np.abs(X)), "multigammaln": (3.3, 2),
    "gammainc": (1.2, np.abs(X)), "gammaincc": (1.2, np.abs(X)), "betainc": (1.2, 0.5, np.abs(X) / 10),
    "ndtri": (np.array([0.0, 1e-300, 1e-20, 1e-5, 0.01, 0.3, 0.5, 0.99, 1.0]),),
    "log_ndtr": (np.array([-40.0, -15, -3, 0, 4, 9]),),
}  # fmt: skip


@pytest.fixture(autouse=True)
def double_precision():
    """SciPy computes in it."""
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("name", [*CONTINUOUS, *DISCRETE])
def test_distribution(name):
    mine, theirs = getattr(ours, name), getattr(scipy.stats, name)
    functions = [f for f in FUNCTIONS if hasattr(mine, f)]
    assert functions
    for f in functions:
        if f in ("ppf", "isf"):
            x = np.array([0.01, 0.2, 0.5, 0.9])
        else:
            x = np.arange(-1.0, 7.0) if name in DISCRETE else np.array([-1.3, 0.0, 0.2, 0.5, 0.99, 1.5, 3.0])
        args = DISCRETE[name] if name in DISCRETE else (*CONTINUOUS[name], 0.2, 1.7)
        np.testing.assert_allclose(getattr(mine, f)(x, *args), getattr(theirs, f)(x, *args), 1e-8, 1e-12, err_msg=f)


def test_distributions_of_vectors():
    x, alpha = np.array([0.2, 0.3, 0.5]), np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(ours.dirichlet.logpdf(x, alpha), scipy.stats.dirichlet.logpdf(x, alpha))
    args = X[:2], np.zeros(2), np.array([[2.0, 0.5], [0.5, 1.0]])
    np.testing.assert_allclose(
        ours.multivariate_normal.logpdf(*args), scipy.stats.multivariate_normal.logpdf(*args), 1e-12
    )


@pytest.mark.parametrize("name", sorted(SPECIAL))
def test_special(name):
    want = getattr(scipy.special, name)(*SPECIAL[name])
    np.testing.assert_allclose(getattr(onax.scipy.special, name)(*SPECIAL[name]), want, 1e-8)


def test_log_ndtr_is_differentiable_far_out():
    slope = jax.grad(jax.scipy.special.log_ndtr)(-15.0)
    assert abs(slope - 15.0662) < 1e-3
