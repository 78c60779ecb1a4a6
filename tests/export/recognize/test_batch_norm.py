"""Batch normalization at inference in exported models."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax import lax
from recognition import assert_close, assert_recognized, model_of

NAN, INF = np.nan, np.inf
RNG = np.random.default_rng(0)
X = RNG.standard_normal((2, 3, 4, 5)).astype(np.float32)
LAST = RNG.standard_normal((2, 4, 5, 3)).astype(np.float32)
MEAN, SCALE, BIAS = (RNG.standard_normal(3).astype(np.float32) for _ in range(3))
VARIANCE = RNG.uniform(0.1, 2, 3).astype(np.float32)
STATE = MEAN, VARIANCE, SCALE, BIAS
SPECIAL = X.copy()
SPECIAL[0, 0, 0, 0], SPECIAL[0, 1, 2, 0], SPECIAL[1, 2, 3, 1] = NAN, INF, -INF
SECOND = lambda v: v[:, None, None]


def by_root(x, mean, variance, scale, bias):
    """(x - mean) / sqrt(variance + epsilon) * scale + bias, as equinox and torch's documentation write it."""
    return (x - mean) / jnp.sqrt(variance + 1e-5) * scale + bias


def by_factor(x, mean, variance, scale, bias):
    """The factor is computed first, as flax and haiku do."""
    return (x - mean) * (lax.rsqrt(variance + 1e-5) * scale) + bias


def one_after_another(x, mean, variance, scale, bias):
    return bias + scale * ((x - mean) * lax.rsqrt(variance + 1e-5))


FORMS = by_root, by_factor, one_after_another


def assert_normalized(fun, args, operators, opset=21):
    with np.errstate(invalid="ignore"):
        assert_recognized(fun, args, operators, opset=opset, scale=8.0)


@pytest.mark.parametrize("opset", [21, 23])
@pytest.mark.parametrize("fun", FORMS)
def test_channels_in_the_second_axis(fun, opset):
    for x in (X, SPECIAL):
        assert_normalized(lambda x, f=fun: f(x, *map(SECOND, STATE)), (x,), "BatchNormalization", opset)
        with_arguments = lambda x, *state, f=fun: f(x, *map(SECOND, state))
        assert_normalized(with_arguments, (x, *STATE), "BatchNormalization", opset)


@pytest.mark.parametrize("fun", FORMS)
def test_channels_in_the_last_axis(fun):
    assert_normalized(fun, (LAST, *STATE), "Reshape BatchNormalization Reshape")
    assert_normalized(lambda x: fun(x, *STATE), (LAST,), "Reshape BatchNormalization Reshape")
    assert_normalized(fun, (LAST[0, 0], *STATE), "BatchNormalization")
    wide = lambda x, *state: fun(x, *(v.reshape(1, 1, 1, 3) for v in state))  # as flax broadcasts them
    found, exported = model_of(wide, LAST, *STATE)
    assert "BatchNormalization" in found
    assert_close(exported, wide, (LAST, *STATE), scale=8.0)


def test_under_vmap():
    per_channel = onax.vmap(by_root)
    fun = onax.vmap(per_channel, in_axes=(0, None, None, None, None))
    assert_normalized(fun, (X, *STATE), "BatchNormalization")


def test_behind_a_convolution_it_comes_before_the_transpose():
    kernel = RNG.standard_normal((1, 1, 3, 3)).astype(np.float32)

    def fun(x, *state):
        return by_factor(lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=NHWC), *state)

    assert_normalized(fun, (LAST, *STATE), "Transpose Conv BatchNormalization Transpose")


NHWC = ("NHWC", "HWIO", "NHWC")


@pytest.mark.parametrize("fun, operators", [
    (lambda x: (x - SECOND(MEAN)) * lax.rsqrt(SECOND(VARIANCE) + 1e-5), "Sub Mul"),  # constants without a bias
    (lambda x, v: (x - SECOND(MEAN)) * lax.rsqrt(SECOND(v) + 1e-5), "BatchNormalization"),
    (lambda x, v: (x - SECOND(MEAN)) / jnp.sqrt(SECOND(v)) + SECOND(BIAS), None),
    (lambda x, v: (x - np.float32(0.5)) / jnp.sqrt(SECOND(v) + 1) * SECOND(SCALE), None),
    (lambda x, v: (x - SECOND(MEAN)) / jnp.sqrt(SECOND(v) + 1) * np.arange(5, dtype=np.float32), None),
    (lambda x, v: (x - SECOND(MEAN)) / (jnp.sqrt(SECOND(v) + 1) + 1e-3), None),
    (lambda x, v: (x - SECOND(MEAN)) / jnp.sqrt(SECOND(v) + 1) * SECOND(SCALE) * SECOND(v), None),
])  # fmt: skip
def test_parts_and_what_only_looks_alike(fun, operators):
    args = (X, VARIANCE)[: fun.__code__.co_argcount]
    found, exported = model_of(fun, *args)
    assert operators is None or found == operators.split()
    assert operators is not None or "BatchNormalization" not in found or found[-1] in ("Mul", "Add")
    assert_close(exported, fun, args, scale=8.0)


def test_a_scale_that_is_not_finite_keeps_the_formula():
    fun = lambda x: (x - SECOND(MEAN)) / SECOND(VARIANCE * np.float32([1, 0, 1])) * SECOND(SCALE) + SECOND(BIAS)
    found, exported = model_of(fun, X)
    assert "BatchNormalization" not in found
    with np.errstate(divide="ignore", invalid="ignore"):
        assert_close(exported, fun, (X,))


def test_special_numbers_of_channels():
    for position, number in [(1, INF), (1, NAN), (1, -1.0), (2, 0.0), (3, INF), (0, INF), (0, -INF)]:
        state = [v.copy() for v in STATE]
        state[position][1] = number
        fun = lambda x, *state: by_factor(x, *map(SECOND, state))
        with np.errstate(invalid="ignore"):
            assert_close(model_of(fun, X, *state)[1], fun, (X, *state), scale=8.0)


def test_statistics_of_the_batch_and_gradients():
    def training(x):
        mean, variance = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
        return by_root(x, mean, variance, SECOND(SCALE), SECOND(BIAS))

    assert_close(model_of(training, X)[1], training, (X,), scale=8.0)
    gradient = onax.grad(lambda x: (training(x) ** 3).sum())
    assert_close(model_of(gradient, X)[1], gradient, (X,), ulps=128, scale=20)


def test_exact_keeps_the_formula():
    found, _ = model_of(lambda x: by_root(x, *map(SECOND, STATE)), X, exact=True)
    assert found == ["Sub", "Div", "Mul", "Add"]


def test_symbolic_sizes():
    (n,) = onax.export.symbolic_shape("n")
    fun = lambda x: by_root(x, *map(SECOND, STATE))
    found, exported = model_of(fun, onax.ShapeDtypeStruct((n, 3, 4, 5), np.float32))
    assert found == ["BatchNormalization"]
    assert_close(exported, fun, (X,), scale=8.0)
