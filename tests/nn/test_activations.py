"""Derivatives and edge cases of activation functions; tests/golden/test_numpy_calls.py compares values and jaxprs."""

import numpy as np
import pytest

import onax as jax
from onax import nn
from onax import numpy as jnp

SMOOTH = [
    nn.sigmoid, nn.silu, nn.softplus, nn.log_sigmoid, nn.soft_sign, nn.gelu, nn.mish, nn.squareplus, nn.celu, nn.selu,
    nn.elu, nn.tanh, nn.leaky_relu, nn.relu, nn.relu6, nn.hard_tanh, nn.hard_sigmoid, nn.hard_silu, nn.sparse_plus,
    nn.sparse_sigmoid, nn.softmax, nn.log_softmax, nn.logsumexp, nn.standardize, nn.log1mexp, nn.logmeanexp,
    lambda x: nn.gelu(x, approximate=False),
]  # fmt: skip
POINTS = np.array([0.3, 0.7, 1.4, 2.6], np.float32)


@pytest.mark.parametrize("function", SMOOTH)
def test_gradient_agrees_with_differences(function):
    weights = np.array([1.0, -0.5, 0.25, 2.0], np.float32)

    def total(x):
        return jnp.sum(function(x) * weights)

    got = np.asarray(jax.grad(total)(POINTS))
    step = 1e-2
    for i in range(len(POINTS)):
        d = np.zeros_like(POINTS)
        d[i] = step
        numeric = (float(total(POINTS + d)) - float(total(POINTS - d))) / (2 * step)
        assert abs(got[i] - numeric) < 5e-3 + 1e-2 * abs(numeric)


@pytest.mark.parametrize("function", SMOOTH)
def test_jit_and_vmap_agree_with_eager(function):
    x = np.stack([POINTS, -POINTS[::-1] if function is not nn.log1mexp else POINTS[::-1]])
    want = np.stack([np.asarray(function(row)) for row in x])
    np.testing.assert_allclose(np.asarray(jax.vmap(function)(x)), want, rtol=2e-6, atol=2e-6)
    np.testing.assert_allclose(np.asarray(jax.jit(jax.vmap(function))(x)), want, rtol=2e-6, atol=2e-6)


def test_relu_has_derivative_zero_at_zero():
    assert jax.grad(nn.relu)(0.0) == 0.0
    assert jax.grad(nn.relu6)(6.0) == 0.0
    assert jax.jit(jax.grad(nn.relu))(0.0) == 0.0


def test_derivatives_at_awkward_points():
    assert float(jax.grad(jnp.sinc)(0.0)) == 0.0
    assert float(jax.grad(jax.grad(jnp.sinc))(0.0)) == pytest.approx(-(np.pi**2) / 3, rel=1e-5)
    assert float(jax.grad(jnp.logaddexp)(jnp.inf, 0.0)) == 1.0
    assert np.isfinite(float(jax.grad(lambda x: jnp.where(x > 0, jnp.sqrt(x), 0.0))(1.0)))


def test_standardize_takes_a_traced_epsilon():
    """As in JAX, where it is no static argument."""
    x = np.arange(5.0, dtype=np.float32)
    expected = (x - x.mean()) / np.sqrt(x.var() + 0.5)
    np.testing.assert_allclose(jax.jit(lambda x, e: nn.standardize(x, epsilon=e))(x, 0.5), expected, rtol=1e-5)


def test_wrong_arguments():
    with pytest.raises(ValueError, match="Unknown algorithm"):
        nn.standardize(POINTS, algorithm="x")
    with pytest.raises(TypeError, match="relu requires ndarray or scalar arguments"):
        nn.relu([1.0])


def test_one_hot_along_a_named_axis():
    x = jnp.array([0, 2, 1, 5])
    along = lambda count: jax.vmap(
        lambda x: nn.one_hot(x, count, axis="i"), axis_name="i", axis_size=3, in_axes=None, out_axes=1
    )
    for f in (along(3), jax.jit(along(3))):
        assert f(x).tolist() == nn.one_hot(x, 3).tolist() and f(x).dtype == jnp.float32
    with pytest.raises(ValueError, match="Expected num_classes to match the size of axis i, but 4 != 3"):
        along(4)(x)
    with pytest.raises(NameError, match="unbound axis name: i"):
        nn.one_hot(x, 3, axis="i")
