"""Minimisation: Rosenbrock's function, limits of steps, functions without a minimum."""

import numpy as np
import pytest
import scipy.optimize
import scipy.signal
import scipy.stats

import onax as jax
import onax.numpy as jnp
from onax.scipy import optimize

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def double_precision():
    """SciPy computes in it."""
    with jax.enable_x64(True):
        yield


def close(got, want, atol=1e-12):
    np.testing.assert_allclose(got, want, 1e-9, atol)


def rosenbrock(x):
    return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


@pytest.mark.parametrize("method", ["BFGS", "l-bfgs-experimental-do-not-rely-on-this"])
def test_minimisation(method):
    found = optimize.minimize(rosenbrock, np.zeros(6), method=method)
    assert found.success and found.status == 0 and found.nfev >= found.nit
    close(found.x, np.ones(6), 1e-5)
    assert np.abs(found.jac).max() < 1e-5
    if found.hess_inv is not None:
        want = scipy.optimize.minimize(lambda x: float(rosenbrock(x)), np.zeros(6), method="BFGS").hess_inv
        np.testing.assert_allclose(found.hess_inv, want, 0.3, 0.3)
    one = optimize.minimize(rosenbrock, np.zeros(6), method=method, options={"maxiter": 1})
    assert not one.success and one.status == 1 and one.nit == 1
    mapped = jax.jit(jax.vmap(lambda x: optimize.minimize(lambda y: ((y - 1) ** 4).sum(), x, method=method).x))
    close(mapped(np.array([[0.0, 3.0], [2.0, 2.0]])), np.ones((2, 2)), 0.05)


def test_minimisation_ends_without_a_minimum():
    falling = optimize.minimize(lambda x: -(x**2).sum(), np.ones(2), method="BFGS")
    assert not falling.success and falling.status == 5 and falling.nfev == 11
    nothing = optimize.minimize(lambda x: x.sum() * np.nan, np.ones(2), method="BFGS")
    assert not nothing.success and nothing.status == 5 and nothing.nit == 1


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: optimize.minimize(rosenbrock, np.zeros(2), method="newton"), ValueError, "newton"),
        (lambda: optimize.minimize(rosenbrock, np.zeros((2, 2)), method="BFGS"), TypeError, "one axis"),
        (lambda: optimize.minimize(lambda x: x, np.zeros(2), method="BFGS"), (TypeError, ValueError), "scalar"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()
