"""Softmax and log_softmax in exported models."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax import lax, nn
from recognition import assert_close, assert_recognized, model_of

NAN, INF = np.nan, np.inf
ROWS = np.array(
    [[1, 2, 3], [NAN, 1, 2], [1, NAN, 3], [INF, 1, 2], [-INF, -INF, -INF], [-INF, 0, 1],
     [3e38, -3e38, 0], [INF, -INF, 0], [1000, 999, -1000]], np.float32,
)  # fmt: skip


def own_softmax(x, axis=-1):
    power = jnp.exp(x - jnp.max(x, axis, keepdims=True))
    return power / jnp.sum(power, axis, keepdims=True)


@pytest.mark.parametrize("opset", [18, 21, 23, 26])
@pytest.mark.parametrize("fun, operator", [
    (nn.softmax, "Softmax"),
    (own_softmax, "Softmax"),
    (nn.log_softmax, "LogSoftmax"),
])  # fmt: skip
def test_one_operator(fun, operator, opset):
    assert_recognized(fun, (ROWS,), operator, opset=opset)


@pytest.mark.parametrize("axis", [0, 1, 2, -2])
def test_axes(axis):
    x = np.random.default_rng(0).standard_normal((3, 4, 5), np.float32)
    for fun, name in ((nn.softmax, "Softmax"), (nn.log_softmax, "LogSoftmax"), (own_softmax, "Softmax")):
        assert_recognized(lambda x, f=fun: f(x, axis), (x,), name)


def test_masked():
    mask = np.tril(np.ones((4, 4), bool))
    fun = lambda x: nn.softmax(jnp.where(mask, x, -jnp.inf), -1)
    assert_recognized(fun, (np.random.default_rng(0).standard_normal((2, 4, 4), np.float32),), "Where Softmax")


@pytest.mark.parametrize("fun", [
    lambda x: nn.softmax(x, (0, 1)),  # two axes
    lambda x: jnp.exp(x) / jnp.exp(x).sum(-1, keepdims=True),  # overflows where Softmax does not
    lambda x: jnp.exp(x - x.max(0)) / jnp.exp(x - x.max(0)).sum(-1, keepdims=True),  # the maximum over another axis
    lambda x: nn.logsumexp(jnp.tile(x, (50, 1)), -1),  # ReduceLogSumExp takes longer
])  # fmt: skip
def test_what_only_looks_alike(fun):
    x = np.array([[1, 2, 100], [3, 4, -2]], np.float32)
    found, exported = model_of(fun, x)
    assert not set(found) & {"Softmax", "LogSoftmax", "ReduceLogSumExp"}
    with np.errstate(over="ignore", invalid="ignore"):
        assert_close(exported, fun, (x,))


def test_an_exponential_that_something_else_reads_is_computed_once():
    def fun(x):
        power = jnp.exp(x - x.max(-1, keepdims=True))
        return power / power.sum(-1, keepdims=True), power

    found, exported = model_of(fun, ROWS)
    assert "Softmax" not in found and found.count("Exp") == 1
    assert_close(exported, fun, (ROWS,))


def test_gradients():
    x = np.random.default_rng(0).standard_normal((4, 10), np.float32)
    labels = np.eye(10, dtype=np.float32)[[1, 2, 3, 9]]
    for fun in (nn.softmax, nn.log_softmax, lambda x: nn.logsumexp(x, -1, keepdims=True)):
        gradient = onax.grad(lambda x, f=fun: (f(x) * labels).sum())
        assert_close(model_of(gradient, x)[1], gradient, (x,))


def test_symbolic_sizes():
    (n,) = onax.export.symbolic_shape("n")
    found, exported = model_of(nn.softmax, onax.ShapeDtypeStruct((n, 3), np.float32))
    assert found == ["Softmax"]
    assert_close(exported, nn.softmax, (ROWS,))


def test_in_a_loop():
    fun = lambda x: lax.fori_loop(0, 2, lambda _, x: nn.softmax(x), x)
    assert_close(model_of(fun, ROWS)[1], fun, (ROWS,))


LSE_ROWS = np.array([
    [1, 2, 3], [np.nan, 1, 2], [1, np.nan, np.inf], [np.inf, 1, 2], [-np.inf, 1, 2], [-np.inf] * 3,
    [np.inf, -np.inf, 0], [1e30, 1e30, 1e30], [-1e38, -2e38, -3e38], [-100, -100.5, -1000], [0, 0, 0],
], np.float32)  # fmt: skip


@pytest.mark.parametrize("fun, operators", [
    (lambda x: nn.logsumexp(x, -1), "ReduceMax Clip Sub Exp ReduceSum Log Add Squeeze"),
    (lambda x: nn.logsumexp(x, -1, keepdims=True), "ReduceMax Clip Sub Exp ReduceSum Log Add"),
    (lambda x: nn.logsumexp(x[:99]), "Slice ReduceMax Clip Sub Exp ReduceSum Log Add Squeeze"),
])  # fmt: skip
def test_logsumexp(fun, operators):
    rows = np.tile(LSE_ROWS, (10, 1))
    with np.errstate(all="ignore"):
        assert_recognized(fun, (rows,), operators)


@pytest.mark.parametrize("fun", [
    lambda x: nn.logsumexp(x, -1), lambda x: nn.logsumexp(x, -1, keepdims=True), lambda x: nn.logsumexp(x, 0),
])  # fmt: skip
def test_logsumexp_of_few_elements(fun):
    with np.errstate(all="ignore"):
        assert_recognized(fun, (LSE_ROWS,), "ReduceLogSumExp ReduceL1 Neg Max")
