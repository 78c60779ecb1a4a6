"""Minimisation: Rosenbrock's function, limits of steps, functions without a minimum."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax.scipy import optimize


@pytest.fixture(autouse=True)
def double_precision():
    """SciPy computes in it."""
    with jax.enable_x64(True):
        yield


def close(got, want, atol=1e-12):
    np.testing.assert_allclose(got, want, 1e-9, atol)


def rosenbrock(x):
    return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


LIMITED = "l-bfgs-experimental-do-not-rely-on-this"
FUNCTIONS = {
    "six numbers": (rosenbrock, np.zeros(6)),
    "two numbers": (rosenbrock, np.zeros(2)),
    "fourth powers": (lambda x: ((x - 1) ** 4).sum(), np.array([0.0, 3.0])),
    "no minimum": (lambda x: -(x**2).sum(), np.ones(2)),
    "NaN": (lambda x: x.sum() * np.nan, np.ones(2)),
}
ENDS = {  # JAX's: whether it succeeded, status, iterations, evaluations, the first number of the point
    ("six numbers", "BFGS", None): (False, 3, 24, 36, 0.9540),
    ("six numbers", "BFGS", 1): (False, 1, 1, 5, 0.0156),
    ("two numbers", "BFGS", None): (False, 3, 1, 5, 0.1788),
    ("fourth powers", "BFGS", None): (True, 0, 31, 34, 0.9870),
    ("fourth powers", "BFGS", 1): (False, 1, 1, 2, 0.1253),
    ("no minimum", "BFGS", None): (False, 5, 1, 11, 1.0),
    ("NaN", "BFGS", None): (False, 5, 1, 11, np.nan),
    ("six numbers", LIMITED, None): (False, 5, 10, 20, 0.7028),
    ("six numbers", LIMITED, 1): (False, 1, 2, 8, 0.0263),
    ("fourth powers", LIMITED, None): (True, 0, 16, 21, 0.9892),
    ("fourth powers", LIMITED, 1): (False, 1, 2, 7, 0.4284),
    ("no minimum", LIMITED, None): (False, 5, 1, 21, 1.0),
    ("NaN", LIMITED, None): (False, 5, 1, 21, np.nan),
}


@pytest.mark.parametrize("case", ENDS)
def test_ends_as_jax_does(case):
    name, method, maxiter = case
    function, start = FUNCTIONS[name]
    options = {} if maxiter is None else {"maxiter": maxiter}
    found = optimize.minimize(function, start, method=method, options=options)
    got = bool(found.success), int(found.status), int(found.nit), int(found.nfev), round(float(found.x[0]), 4)
    np.testing.assert_equal(got, ENDS[case])


@pytest.mark.parametrize("method", ["BFGS", LIMITED])
def test_minimisation(method):
    bowl = lambda x: ((x - jnp.arange(1.0, 5.0)) ** 2 * jnp.array([1.0, 2.0, 5.0, 9.0])).sum()
    found = optimize.minimize(bowl, np.zeros(4), method=method)
    assert found.success and found.status == 0 and found.nfev >= found.nit
    close(found.x, np.arange(1.0, 5.0), 1e-5)
    assert np.abs(found.jac).max() < 1e-5
    mapped = jax.jit(jax.vmap(lambda x: optimize.minimize(lambda y: ((y - 1) ** 4).sum(), x, method=method).x))
    close(mapped(np.array([[0.0, 3.0], [2.0, 2.0]])), np.ones((2, 2)), 0.05)


def test_complex_numbers_with_limited_memory():
    goal = np.array([1 + 2j, -3j, 0.5])
    found = optimize.minimize(lambda x: jnp.sum(jnp.abs(x - goal) ** 2), np.zeros(3, complex), method=LIMITED)
    assert found.success
    close(found.x, goal, 1e-5)


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
