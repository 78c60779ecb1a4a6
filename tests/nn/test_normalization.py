"""softmax, log_softmax and logsumexp: large numbers, masks, signs, complex numbers, axes."""

import numpy as np
import pytest
from scipy import special

import onax as jax
from agreement import assert_agrees
from onax import nn
from onax import numpy as jnp


def test_softmax_and_logsumexp_do_not_overflow():
    x = jnp.array([1e4, 1e4, -1e4])
    np.testing.assert_allclose(np.asarray(nn.softmax(x)), [0.5, 0.5, 0.0])
    assert float(nn.logsumexp(x)) == pytest.approx(1e4 + np.log(2))
    assert np.isneginf(float(nn.logsumexp(jnp.full((3,), -jnp.inf))))


def test_masked_softmax():
    x, mask = jnp.array([1.0, 2.0, 3.0]), jnp.array([True, False, True])
    out = np.asarray(nn.softmax(x, where=mask))
    assert out[1] == 0.0
    np.testing.assert_allclose(out[[0, 2]], np.exp([1, 3]) / np.exp([1, 3]).sum(), rtol=1e-6)


X = np.random.default_rng(0).normal(size=(3, 4)) * 3
CASES = [
    (nn.softmax, special.softmax, {"axis": -1}),
    (nn.softmax, special.softmax, {"axis": 0}),
    (nn.softmax, special.softmax, {"axis": (0, 1)}),
    (nn.log_softmax, special.log_softmax, {"axis": 1}),
    (nn.logsumexp, special.logsumexp, {"axis": None}),
    (nn.logsumexp, special.logsumexp, {"axis": (0,), "keepdims": True}),
    (nn.logsumexp, special.logsumexp, {"axis": 1, "b": np.array([1.0, 0, 2, 0.5])}),
    (nn.logsumexp, special.logsumexp, {"axis": 1, "b": np.array([1.0, 0, -9, 0.5]), "return_sign": True}),
]


@pytest.mark.parametrize(("function", "meaning", "options"), CASES)
def test_as_in_scipy(function, meaning, options):
    assert_agrees(function, meaning, X, **options)


def test_complex_sums():
    z = X + 1j * X[::-1]
    assert_agrees(nn.logsumexp, lambda z: np.log(np.exp(z).sum()), z)


def test_masked_logarithms():
    x, mask = jnp.array([1.0, 2.0, 3.0]), jnp.array([True, False, True])
    np.testing.assert_allclose(nn.logsumexp(x, where=mask), np.log(np.exp(1) + np.exp(3)), rtol=1e-6)
    out = np.asarray(jax.jit(nn.log_softmax)(x, where=mask))
    assert np.isneginf(out[1]) and np.exp(out[[0, 2]]).sum() == pytest.approx(1)


def test_negative_sums_are_nan_without_their_sign():
    assert np.isnan(nn.logsumexp(jnp.zeros(2), b=jnp.array([1.0, -2.0])))


def test_dtypes():
    assert nn.softmax(jnp.ones(2, jnp.bfloat16)).dtype == nn.log_softmax(jnp.ones(2, jnp.bfloat16)).dtype == "bfloat16"
    assert nn.logsumexp(jnp.arange(3)).dtype == np.float32 and not nn.logsumexp(2.0).weak_type
    with pytest.raises(TypeError, match="axis must be an integer"):
        nn.logsumexp(jnp.ones((2, 2)), axis=jnp.array([0, 1]))
