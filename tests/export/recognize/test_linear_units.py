"""Relatives of the rectified linear unit in exported models, with NaN and infinities."""

import numpy as np
import pytest

import onax.numpy as jnp
from onax import lax, nn
from recognition import assert_close, assert_recognized, model_of

LINE = np.array(
    [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-30, 1e-8, -1e-8, 1e30, -1e30, 100, -100, 20, -20, -3, 3, 1, -1, 0.5, -0.5],
    np.float32,
)
SLOPES = np.linspace(-1, 2, LINE.size, dtype=np.float32)


@pytest.mark.parametrize("fun, operator", [
    (nn.leaky_relu, "LeakyRelu"),
    (lambda x: jnp.where(x > 0, x, 3 * x), "LeakyRelu"),
    (lambda x: jnp.where(x >= 0, x, x * SLOPES), "PRelu"),
    (lambda x: jnp.where(x > 0.5, x, 0), "ThresholdedRelu"),
    (nn.elu, "Elu"),
    (lambda x: nn.elu(x, 0.5), "Elu"),
    (lambda x: jnp.where(x > 0, x, jnp.expm1(x)), "Elu"),
    (nn.selu, "Selu"),
    (lambda x: 3 * nn.elu(x, 2.0), "Selu"),
    (nn.celu, "Celu"),
    (lambda x: nn.celu(x, 2.0), "Celu"),
])  # fmt: skip
def test_one_operator(fun, operator):
    assert_recognized(fun, (LINE,), operator, scale=2.0)


def test_operators_take_the_place_of_formulas_that_lose_digits_only_near_zero():
    x = np.linspace(-12, 2, 1000, dtype=np.float32)
    for fun in (nn.elu, nn.selu, nn.celu):
        _, exported = model_of(fun, x)
        assert_close(exported, fun, (x,), scale=2.0, ulps=2)


@pytest.mark.parametrize("fun, absent", [
    (lambda x: jnp.where(x >= 0, x, x * np.where(SLOPES > 1, np.inf, 1).astype(np.float32)), "PRelu"),
    (lambda x: jnp.where(x > 1, x, jnp.expm1(x)), "Elu"),
    (lambda x: jnp.where(x > 0, x, jnp.expm1(2 * x)), "Elu"),
    (lambda x: jnp.maximum(x, 0) + 2 * jnp.expm1(jnp.minimum(x, 0) / 3), "Celu"),
    (lambda x: -2 * nn.elu(x), "Selu"),
    (lambda x: jnp.where(x > -1, x, 0), "ThresholdedRelu"),
])  # fmt: skip
def test_what_only_looks_like_an_operator(fun, absent):
    operators, exported = model_of(fun, LINE)
    assert absent not in operators
    with np.errstate(invalid="ignore", over="ignore"):
        assert_close(exported, fun, (LINE,), scale=2.0)


def test_expm1_alone_keeps_its_digits():
    x = np.array([1e-8, -1e-8, 1e-3, -1e-3], np.float32)
    operators, exported = model_of(lax.expm1, x)
    assert "Exp" in operators
    np.testing.assert_allclose(exported.call(x), np.expm1(x), rtol=5e-7)
