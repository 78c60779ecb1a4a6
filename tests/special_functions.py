"""Points at which special functions are compared with SciPy, and how: values, and slopes against differences."""

import numpy as np
import pytest

import onax as jax
import onax.scipy.special as ours

X = np.concatenate([np.linspace(-9, 9, 73), [20.0, 35.5, 45.0, 0.0, np.inf, -np.inf, np.nan, 1e-5]])
RNG = np.random.default_rng(0)
A, B, C = RNG.uniform(0.2, 4, (3, 60))
Z = RNG.normal(size=60) * 3 + 1j * RNG.normal(size=60) * 3


def without_branch_cut(f):
    """SciPy's function, NaN for negative numbers, where JAX has no branch cut."""
    return lambda x: np.where(x < 0, np.nan, f(np.abs(x)))


def assert_close(got, want, atol):
    for g, w in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(g, np.real(w) if np.isrealobj(np.asarray(g)) else w, 5e-13, atol)


def assert_as_scipy(function, args, want, atol):
    """Eagerly and under jit."""
    assert_close(function(*args), want, atol)
    assert_close(jax.jit(function)(*args), want, atol)


def assert_slopes(function, args):
    """Derivatives in all arguments are differences."""
    got = jax.grad(function, tuple(range(len(args))))(*args)
    for i, g in enumerate(got):
        moved = [[x + (h if j == i else 0) for j, x in enumerate(args)] for h in (1e-6, -1e-6)]
        np.testing.assert_allclose(g, (function(*moved[0]) - function(*moved[1])) / 2e-6, 1e-7, 1e-8)


@pytest.fixture(autouse=True)
def double_precision():
    """SciPy computes in it: the tests of a module that imports this do, too."""
    with jax.enable_x64(True):
        yield


def scipy_tests(real, slopes):
    """A class of tests.

    real: name of a function -> (arguments, SciPy's function, absolute error)
    slopes: name of a function -> arguments, all differentiated
    """

    class Tests:
        @pytest.mark.parametrize("name", real)
        def test_same_as_scipy(self, name):
            args, scipys, atol = real[name]
            assert_as_scipy(getattr(ours, name), args, scipys(*args), atol)

        @pytest.mark.parametrize("name", slopes)
        def test_slopes(self, name):
            assert_slopes(getattr(ours, name), slopes[name])

    return Tests
