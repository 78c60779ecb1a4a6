"""ragged_all_to_all against loops over senders, receivers and rows."""

import re

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax

OPERAND = np.array([[[1.0], [2], [3]], [[4], [5], [6]]], np.float32)
OUTPUT = -np.ones((2, 4, 1), np.float32)
STARTS, SIZES, TARGETS = np.array([[0, 1], [0, 1]]), np.array([[1, 2], [2, 1]]), np.array([[0, 0], [1, 2]])


def expected(groups=((0, 1),)):
    out = OUTPUT.copy()
    for group in groups:
        for sender in group:
            for r, receiver in enumerate(group):
                size, start, target = SIZES[sender, r], STARTS[sender, r], TARGETS[sender, r]
                out[receiver, target : target + size] = OPERAND[sender, start : start + size]
    return out


def exchange(operand, output, *vectors, **options):
    return lax.ragged_all_to_all(operand, output, *vectors, axis_name="i", **options)


@pytest.mark.parametrize("call", [lambda f: f, jax.jit])
@pytest.mark.parametrize("groups", [None, [[1, 0]]])
def test_values(call, groups):
    mapped = call(jax.vmap(lambda *args: exchange(*args, axis_index_groups=groups), axis_name="i"))
    result = mapped(OPERAND, OUTPUT, STARTS, SIZES, TARGETS, SIZES.T)
    np.testing.assert_array_equal(result, expected(groups or ((0, 1),)))


def test_gradient():
    weights = np.arange(8, dtype=np.float32).reshape(2, 4, 1)
    mapped = jax.vmap(exchange, axis_name="i")
    total = lambda x, y: (mapped(x, y, STARTS, SIZES, TARGETS, SIZES.T) * weights).sum()
    of_operand, of_output = jax.grad(total, (0, 1))(OPERAND, OUTPUT)
    assert of_operand.ravel().tolist() == [0, 4, 5, 1, 2 + 6, 0]
    assert of_output.ravel().tolist() == [0, 0, 0, 3, 0, 0, 0, 7]


VECTORS = ("input_offsets", "send_sizes", "output_offsets", "recv_sizes")


@pytest.mark.parametrize("position", range(4))
@pytest.mark.parametrize(
    ("vector", "message"),
    [
        (jnp.zeros(2), "ragged_all_to_all {} must be integer type."),
        (
            jnp.zeros((1, 2), "int32"),
            "ragged_all_to_all {} must be rank 1 with positive dimension size, but got shape (1, 2)",
        ),
        (
            jnp.zeros(0, "int32"),
            "ragged_all_to_all {} must be rank 1 with positive dimension size, but got shape (0,)",
        ),
    ],
)
def test_vectors_that_are_refused(position, vector, message):
    rows = jnp.zeros((2, 1))
    vectors = [jnp.zeros(2, "int32")] * 4
    vectors[position] = vector
    with pytest.raises(ValueError, match=re.escape(message.format(VECTORS[position]))):
        exchange(rows, rows, *vectors)


def test_rows_and_lengths_that_do_not_fit_are_refused():
    rows = jnp.zeros((2, 1))
    sizes = jnp.zeros(2, "int32")
    with pytest.raises(ValueError, match="does not fit"):
        exchange(rows, jnp.zeros((2, 2)), sizes, sizes, sizes, sizes)
    with pytest.raises(ValueError, match="output_offsets must have the shape of input_offsets"):
        exchange(rows, rows, sizes, sizes, jnp.zeros(3, "int32"), sizes)
