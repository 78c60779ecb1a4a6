"""Activation functions in exported models: the operators, and their results with NaN and infinities."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax import lax, nn
from recognition import assert_close, assert_recognized, model_of

LINE = np.array(
    [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-30, 1e30, -1e30, 100, -100, 20, -20, -5, 5, 3, -3, 1, -1, 0.5, -0.5],
    np.float32,
)
SIZE = np.where(np.isfinite(LINE), np.abs(LINE), 0)


def tanh_gelu(x):
    return x * (0.5 * (1 + jnp.tanh(0.7978845608 * (x + 0.044715 * x**3))))


def erf_gelu(x):
    return 0.5 * x * (1 + lax.erf(x / np.sqrt(2).astype(np.float32)))


@pytest.mark.parametrize("fun, operators", [
    (nn.relu, "Relu"),
    (lambda x: jnp.maximum(0, x), "Relu"),
    (nn.relu6, "Clip"),
    (lambda x: jnp.clip(x, -1, 2), "Clip"),
    (lambda x: jnp.maximum(jnp.minimum(x, 2), -1), "Clip"),
    (nn.hard_tanh, "Clip"),
    (lambda x: jnp.where(x < -1, np.float32(-1), jnp.where(x >= 2, np.float32(2), x)), "Clip"),
    (nn.sigmoid, "Sigmoid"),
    (lambda x: 1 / (1 + jnp.exp(-x)), "Sigmoid"),
    (nn.softplus, "Softplus"),
    (nn.hard_sigmoid, "HardSigmoid"),
    (nn.hard_swish, "HardSwish"),
])  # fmt: skip
def test_one_operator(fun, operators):
    assert_recognized(fun, (LINE,), operators)


def test_bounds_that_are_not_those_of_the_comparisons_stay():
    fun = lambda x: jnp.where(x > 1, np.float32(1), jnp.where(x < -1, np.float32(1), x))
    found, exported = model_of(fun, LINE)
    assert "Clip" not in found
    assert_close(exported, fun, (LINE,))


@pytest.mark.parametrize("fun", [
    lambda x: nn.gelu(x, approximate=False),
    erf_gelu,
    lambda x: x * 0.5 * lax.erfc(-x * np.float32(0.70710678)),
    lambda x: x * (lax.erfc(-x / np.float32(1.41421356)) / 2),
    nn.gelu,
    tanh_gelu,
])  # fmt: skip
def test_gelu(fun):
    with np.errstate(over="ignore", invalid="ignore"):
        assert_recognized(fun, (LINE,), "Gelu", scale=SIZE)


def test_mish_and_softsign():
    assert_recognized(nn.mish, (LINE,), "Mish", scale=SIZE)
    assert_recognized(nn.soft_sign, (LINE,), "Softsign")


def test_silu_shares_its_operand():
    assert_recognized(nn.silu, (LINE,), "Sigmoid Mul", scale=SIZE)


def test_gelu_below_opset_20_is_the_form_that_optimizers_find():
    exact = lambda x: nn.gelu(x, approximate=False)
    assert_recognized(exact, (LINE,), "Div Erf Add Mul Mul", opset=19, scale=SIZE)


@pytest.mark.parametrize("fun", [
    lambda x: jnp.maximum(x, 1),
    lambda x: jnp.maximum(jnp.minimum(x, -1), 2),  # not a range
    lambda x: x * 0.4 * lax.erfc(-x * np.float32(0.70710678)),
    lambda x: x * 0.5 * lax.erfc(x * np.float32(0.70710678)),
    lambda x: 0.5 * x * (1 + lax.erf(x * np.float32(0.7))),
    lambda x: 0.5 * x * (1 + jnp.tanh(0.7 * (x + 0.044715 * x**3))),
    lambda x: 1 / (2 + jnp.exp(-x)),
    lambda x: 1 / (1 + jnp.exp(x)),
    lambda x: jnp.where(x > 1, x, 0.1 * x),
])  # fmt: skip
def test_what_only_looks_alike(fun):
    found, exported = model_of(fun, LINE)
    assert not set(found) & {"Relu", "Clip", "Gelu", "Sigmoid", "LeakyRelu"}
    with np.errstate(over="ignore", invalid="ignore"):
        assert_close(exported, fun, (LINE,), scale=SIZE)


@pytest.mark.parametrize("fun", [
    lambda x: jnp.log(nn.sigmoid(x)),
    lambda x: 1 / nn.sigmoid(x),
    lambda x: jnp.log(0.5 * nn.sigmoid(x)),
])  # fmt: skip
def test_a_sigmoid_whose_digits_matter_stays_a_formula(fun):
    x = np.linspace(-40, 10, 101, dtype=np.float32)
    found, exported = model_of(fun, x)
    assert "Sigmoid" not in found
    assert_close(exported, fun, (x,), scale=0)


def test_exact_keeps_formulas():
    functions = (nn.sigmoid, lambda x: nn.gelu(x, approximate=False), nn.softplus)
    tail = np.linspace(-12, -2, 101, dtype=np.float32)
    for fun in functions:
        found, exported = model_of(fun, tail, exact=True)
        assert not set(found) & {"Sigmoid", "Gelu", "Softplus"}
        assert_close(exported, fun, (tail,), scale=0, ulps=16)


def test_gradients():
    x = np.linspace(-6, 6, 49, dtype=np.float32)
    for fun, operator in ((lambda x: nn.gelu(x, approximate=False), "Erf"), (nn.silu, "Sigmoid"), (nn.relu, "Where")):
        gradient = onax.grad(lambda x, f=fun: (f(x) ** 2).sum())
        found, exported = model_of(gradient, x)
        assert operator in found
        assert len(found) < 30
        assert_close(exported, gradient, (x,))


def test_inside_a_loop():
    def fun(x):
        return lax.fori_loop(0, 3, lambda _, x: nn.gelu(x, approximate=False) + nn.relu(x - 1), x)

    _, exported = model_of(fun, np.ones(4, np.float32))
    (loop,) = [n for n in exported.onnx_model.graph.node if n.op_type in ("Loop", "Scan")]
    (body,) = [a.g for a in loop.attribute if a.name == "body"]
    assert {"Gelu", "Relu"} <= {n.op_type for n in body.node}
    assert_close(exported, fun, (np.linspace(-2, 2, 4, dtype=np.float32),))
