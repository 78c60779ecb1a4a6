"""Operators that say what two or three others say: norms, repetitions, maxima of many values."""

import numpy as np
import pytest

import onax.numpy as jnp
from onax import nn
from onax._transforms.abstract import ShapeDtypeStruct
from onax.export import export, symbolic_shape
from recognition import assert_close, assert_recognized, model_of

X = np.random.default_rng(0).normal(size=(3, 5)).astype(np.float32)
SPECIAL = X.copy()
SPECIAL[0, 1], SPECIAL[1, 2], SPECIAL[2, 3] = np.nan, np.inf, -np.inf
LARGE = np.ones((40, 40), np.float32)


@pytest.mark.parametrize("fun, operators", [
    (lambda x: jnp.sqrt(jnp.sum(x * x, axis=1)), "ReduceL2"),
    (lambda x: jnp.linalg.norm(x, axis=0, keepdims=True), "ReduceL2"),
    (lambda x: jnp.linalg.norm(x), "ReduceL2"),
    (lambda x: jnp.sum(jnp.square(x)), "ReduceSumSquare"),
    (lambda x: jnp.sum(jnp.abs(x), 1), "ReduceL1"),
    (lambda x: jnp.sum(x * (x + 1), 1), "Add Mul ReduceSum"),
])  # fmt: skip
def test_norms(fun, operators):
    assert_recognized(fun, (X,), operators, scale=16.0)
    assert_recognized(fun, (SPECIAL,), operators, scale=16.0)


def test_norms_of_many_elements_stay_sums():
    assert_recognized(lambda x: jnp.sqrt(jnp.sum(x * x, 1)), (LARGE,), "Mul ReduceSum Sqrt")


def test_a_square_that_something_else_reads_is_kept():
    def fun(x):
        square = x * x
        return jnp.sqrt(jnp.sum(square, 1)), square

    assert_recognized(fun, (X,), "Mul ReduceSum Sqrt")


@pytest.mark.parametrize("fun, operators", [
    (lambda x: jnp.maximum(jnp.maximum(x, x[::-1]), x[:1]), "Slice Slice Max"),
    (lambda x: jnp.minimum(x[2:], jnp.minimum(x[:1], x[1:2])), "Slice Slice Slice Min"),
])  # fmt: skip
def test_extremes_of_three(fun, operators):
    assert_recognized(fun, (SPECIAL,), operators)


def test_an_extreme_that_something_else_reads_is_kept():
    def fun(x):
        larger = jnp.maximum(x, x[::-1])
        return jnp.maximum(larger, x[:1]), larger

    assert_recognized(fun, (SPECIAL,), "Slice Slice Max Max")


@pytest.mark.parametrize("repeats, operators", [
    ((2, 3), "Tile"),
    ((1, 3), "Tile"),
    ((4, 1), "Tile"),
    ((2, 2, 3), "Unsqueeze Tile"),
    ((3,), "Tile"),
])  # fmt: skip
def test_tiles(repeats, operators):
    assert_recognized(lambda x: jnp.tile(x, repeats), (SPECIAL,), operators)


def test_tiles_of_unit_axes_and_integers():
    for x in (X[:1].copy(), X[:, :1].copy(), np.arange(6, dtype=np.int32).reshape(2, 3)):
        _, exported = model_of(lambda x: jnp.tile(x, (2, 3)), x)
        np.testing.assert_array_equal(exported.call(x), np.tile(x, (2, 3)))


def test_tiles_of_symbolic_sizes():
    (n,) = symbolic_shape("n")
    exported = export(lambda x: jnp.tile(x, (2, 3)))(ShapeDtypeStruct((n, 5), np.float32))
    assert [node.op_type for node in exported.onnx_model.graph.node] == ["Tile"]
    assert_close(exported, lambda x: jnp.tile(x, (2, 3)), (X,))


def test_repeated_elements_are_no_tiles():
    operators, exported = model_of(lambda x: jnp.repeat(x, 2, axis=1), X)
    assert "Tile" not in operators
    np.testing.assert_array_equal(exported.call(X), np.repeat(X, 2, 1))


def test_operators_on_reshaped_operands():
    fun = lambda x: (x[:2].reshape(10) * x[1:].reshape(10) + np.arange(10, dtype=np.float32)).reshape(2, 5)
    assert_recognized(fun, (X,), "Slice Slice Mul Add", scale=4.0)
    fun = lambda x: nn.relu(x.reshape(15) + x.T.reshape(15))
    _, exported = model_of(fun, X)
    assert_close(exported, fun, (X,))
