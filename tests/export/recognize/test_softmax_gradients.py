"""Gradients of softmax in exported models: they read Softmax itself."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax import nn
from recognition import assert_close, assert_recognized, model_of

NAN, INF = np.nan, np.inf
RNG = np.random.default_rng(0)
X, Y = (RNG.standard_normal((4, 10)).astype(np.float32) for _ in range(2))
SPECIAL = X.copy()
SPECIAL[0, 0], SPECIAL[1, 3], SPECIAL[2, 5], SPECIAL[3] = NAN, INF, -INF, -INF
LABELS = np.int32([1, 9, 0, 3])


def weighted(x, y, axis=-1):
    return (nn.softmax(x, axis) * y).sum()


def cross_entropy(x, y, axis=-1):
    return -(nn.log_softmax(x, axis) * y).sum()


def by_labels(x):
    return -jnp.take_along_axis(nn.log_softmax(x), LABELS[:, None], 1).mean()


def by_hand(x, y):
    power = jnp.exp(x - onax.lax.stop_gradient(x.max(-1, keepdims=True)))
    return (power / power.sum(-1, keepdims=True) * y).sum()


@pytest.mark.parametrize("opset", [21, 23])
@pytest.mark.parametrize("fun, operators", [
    (weighted, "Softmax Mul ReduceSum Sub Mul"),
    (by_hand, "Softmax Mul ReduceSum Sub Mul"),
    (lambda x, y: weighted(x, y, 0), "Softmax Mul ReduceSum Sub Mul"),
    (cross_entropy, "Mul Neg ReduceSum Softmax Mul Add"),
    (lambda x, y: cross_entropy(x, y, 0), "Mul Neg ReduceSum Reshape Softmax Mul Add"),
])  # fmt: skip
def test_gradients(fun, operators, opset):
    gradient = onax.grad(fun)
    with np.errstate(invalid="ignore"):
        for x in (X, SPECIAL):
            assert_recognized(gradient, (x, Y), operators, opset=opset, ulps=16, scale=4)


@pytest.mark.parametrize("fun", [weighted, cross_entropy])
def test_values_and_gradients_share_the_operators(fun):
    both = onax.value_and_grad(fun)
    found, exported = model_of(both, X, Y)
    assert found.count("Softmax") == 1 and not {"Exp", "ReduceMax"} & set(found)
    assert found.count("LogSoftmax") == (fun is cross_entropy)
    assert_close(exported, both, (X, Y), ulps=32, scale=10)


def test_labels():
    gradient = onax.grad(by_labels)
    found, exported = model_of(gradient, X)
    assert found.count("Softmax") == 1 and "Exp" not in found
    assert_close(exported, gradient, (X,), ulps=16)


def test_second_arguments_and_large_numbers():
    for fun in (weighted, cross_entropy):
        gradient = onax.grad(fun, (0, 1))
        for x in (X * 100, X * 1e-3, X + 1e4):
            assert_close(model_of(gradient, x, Y)[1], gradient, (x, Y), ulps=16, scale=400)


def test_attention_and_a_training_step():
    q, k, v = (RNG.standard_normal((2, 6, 3, 4)).astype(np.float32) for _ in range(3))
    gradient = onax.grad(lambda *a: (nn.dot_product_attention(*a) ** 2).sum(), (0, 1, 2))
    found, exported = model_of(gradient, q, k, v)
    assert found.count("Softmax") == 1 and "Exp" not in found
    assert_close(exported, gradient, (q, k, v), ulps=32, scale=10)

    def step(w, x, y):
        loss, change = onax.value_and_grad(lambda w: cross_entropy(x @ w, y))(w)
        return loss, w - 0.1 * change

    w = RNG.standard_normal((10, 10)).astype(np.float32)
    found, exported = model_of(step, w, X, Y)
    assert found.count("Softmax") == found.count("LogSoftmax") == 1
    assert_close(exported, step, (w, X, Y), ulps=64, scale=10)


@pytest.mark.parametrize("fun", [
    lambda x, y: jnp.exp(x - x.max(-1, keepdims=True)) * (y / jnp.exp(x - x.max(-1, keepdims=True)).sum(0)),
    lambda x, y: jnp.exp(x - x.max(0)) * (y / jnp.exp(x - x.max(0)).sum(-1, keepdims=True)),
    lambda x, y: jnp.exp(x) * (y / jnp.exp(x).sum(-1, keepdims=True)),
])  # fmt: skip
def test_what_only_looks_alike(fun):
    found, exported = model_of(fun, X, Y)
    assert "Softmax" not in found
    assert_close(exported, fun, (X, Y), ulps=16, scale=4)


def test_exact_keeps_the_formula():
    found, _ = model_of(onax.grad(weighted), X, Y, exact=True)
    assert "Softmax" not in found and "Exp" in found
