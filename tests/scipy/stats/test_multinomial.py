"""The multinomial distribution, against SciPy."""

import numpy as np
import pytest
import scipy.special
import scipy.stats

import onax as jax
from agreement import assert_agrees
from onax import numpy as jnp
from onax.scipy import stats

COUNTS, P = np.array([[1, 2, 3], [6, 0, 0], [1, 1, 1]]), np.array([0.2, 0.3, 0.5])


@pytest.mark.parametrize("name", ["logpmf", "pmf"])
def test_counts_along_the_last_axis(name):
    assert_agrees(getattr(stats.multinomial, name), getattr(scipy.stats.multinomial, name), COUNTS, 6, P)


def test_probabilities_of_0():
    assert stats.multinomial.pmf(np.array([2, 0]), 2, np.array([1.0, 0.0])) == 1
    assert stats.multinomial.pmf(np.array([1, 1]), 2, np.array([1.0, 0.0])) == 0


def test_slopes():
    slope = jax.jit(jax.grad(lambda p: stats.multinomial.logpmf(COUNTS[0], 6, p)))(jnp.asarray(P))
    np.testing.assert_allclose(slope, COUNTS[0] / P, rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.int32, np.uint8])
def test_counts_narrower_than_their_sum_need_no_promotion(dtype):
    with jax.enable_x64(True), jax.numpy_dtype_promotion("strict"):
        value = stats.multinomial.logpmf(dtype([1, 2]), dtype(3), np.float32([0.25, 0.75]))
    np.testing.assert_allclose(value, -0.863046, 1e-5)
