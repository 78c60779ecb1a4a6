"""The Dirichlet distribution, against SciPy."""

import numpy as np
import pytest
import scipy.special
import scipy.stats

import onax as jax
from agreement import assert_agrees
from onax import numpy as jnp
from onax.scipy import stats

X, ALPHA = np.array([0.2, 0.3, 0.5]), np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize("name", ["logpdf", "pdf"])
def test_functions(name):
    ours, theirs = getattr(stats.dirichlet, name), getattr(scipy.stats.dirichlet, name)
    assert_agrees(ours, theirs, X, ALPHA)
    columns = np.stack([X, X[::-1]], 1)
    assert_agrees(ours, lambda x, a: np.array([theirs(c, a) for c in x.T]), columns, ALPHA)


def test_outside_the_simplex():
    assert stats.dirichlet.logpdf(np.array([0.5, 0.6, 0.2]), ALPHA) == -np.inf
    assert stats.dirichlet.pdf(np.array([1.5, -0.5, 0.0]), ALPHA) == 0


def test_the_last_component_may_be_left_out():
    np.testing.assert_allclose(stats.dirichlet.pdf(X[:2], ALPHA), stats.dirichlet.pdf(X, ALPHA), rtol=1e-5)


def test_slopes():
    slope = jax.jit(jax.grad(stats.dirichlet.logpdf, 1))(jnp.asarray(X), jnp.asarray(ALPHA))
    want = scipy.special.digamma(6.0) - scipy.special.digamma(ALPHA) + np.log(X)
    np.testing.assert_allclose(slope, want, rtol=1e-5)
