"""Random vectors and matrices: against SciPy's distributions; shapes and refusals."""

import numpy as np
import pytest
from scipy import stats

import onax as jax
from onax import numpy as jnp
from onax import random
from random_statistics import KEY, N, assert_distribution, assert_mean_and_variance

MEAN, SPREAD = jnp.array([1.0, 2.0]), jnp.array([[1.0, 0.5], [0.5, 2.0]])
DISTRIBUTIONS = {
    "multivariate_normal": (
        lambda key: random.multivariate_normal(key, MEAN, SPREAD, (N,)) @ jnp.array([1.0, 2.0]),
        stats.norm(5.0, (1 + 2 * 2 * 0.5 + 4 * 2) ** 0.5),
    ),
    "orthogonal": (lambda key: random.orthogonal(key, 3, (N,))[:, 1, 2], stats.uniform(-1, 2)),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distribution(name):
    assert_distribution(*DISTRIBUTIONS[name])


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_mean_and_variance(name):
    assert_mean_and_variance(*DISTRIBUTIONS[name])


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_orthogonal_matrices(dtype):
    for run in (random.orthogonal, jax.jit(random.orthogonal, static_argnums=(1, 2, 3))):
        q = np.asarray(run(KEY, 4, (3,), dtype))
        assert q.shape == (3, 4, 4) and q.dtype == dtype
        np.testing.assert_allclose(q @ q.conj().swapaxes(-1, -2), np.broadcast_to(np.eye(4), q.shape), atol=1e-5)
    wide = np.asarray(random.orthogonal(KEY, 2, (), np.float32, 5))
    np.testing.assert_allclose(wide @ wide.T, np.eye(2), atol=1e-5)


@pytest.mark.parametrize("method", ["cholesky", "eigh", "svd"])
def test_covariances(method):
    x = np.asarray(random.multivariate_normal(KEY, MEAN, SPREAD, (N,), method=method))
    np.testing.assert_allclose(np.cov(x.T), SPREAD, atol=0.1)
    np.testing.assert_allclose(x.mean(0), MEAN, atol=0.05)


REFUSED = [
    (lambda: random.multivariate_normal(KEY, MEAN, jnp.ones((3, 3))), ValueError, "cov|shape"),
    (lambda: random.multivariate_normal(KEY, MEAN, SPREAD, method="guess"), ValueError, "method|guess"),
    (lambda: random.multivariate_normal(KEY, 1.0, SPREAD), ValueError, "mean"),
    (lambda: random.orthogonal(KEY, 2.5), TypeError, "integer|n|float"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()
