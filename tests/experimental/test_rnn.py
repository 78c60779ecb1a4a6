"""LSTMs: flat weights, lengths, derivatives (values are compared with JAX's in tests/golden)."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax.experimental import rnn

SIZES = (3, 2, 2)


def arguments(bidirectional):
    weights = rnn.init_lstm_weight(jax.random.key(1), *SIZES, bidirectional)
    states = jnp.full((4 if bidirectional else 2, 2, 2), 0.25)
    x = jnp.sin(jnp.arange(30.0)).reshape(2, 5, 3)
    return x, states, states, weights, jnp.array([5, 3], "int32")


@pytest.mark.parametrize("bidirectional", [False, True])
def test_flat_and_unpacked_weights_give_the_same(bidirectional):
    x, h, c, weights, lengths = arguments(bidirectional)
    with jax.numpy_rank_promotion("raise"):
        flat = rnn.lstm(x, h, c, weights, lengths, *SIZES, 0.0, bidirectional)
    unpacked = rnn.unpack_lstm_weights(weights, *SIZES, bidirectional)
    for got, want in zip(flat, rnn.lstm_ref(x, h, c, *unpacked, lengths, *SIZES, 0.0, bidirectional)):
        np.testing.assert_array_equal(got, want)
    assert weights.size == rnn.get_num_params_in_lstm(*SIZES, bidirectional)
    np.testing.assert_array_equal(flat[0][1, 3:], 0)


@pytest.mark.parametrize("bidirectional", [False, True])
def test_padding_changes_nothing(bidirectional):
    x, h, c, weights, lengths = arguments(bidirectional)
    run = lambda x: rnn.lstm(x, h, c, weights, lengths, *SIZES, 0.0, bidirectional)
    padding = jnp.arange(5)[None, :, None] >= lengths[:, None, None]
    for got, want in zip(run(jnp.where(padding, 100.0, x)), run(x)):
        np.testing.assert_array_equal(got, want)


def test_derivatives():
    x, h, c, weights, lengths = arguments(True)
    loss = lambda w: jnp.sum(rnn.lstm(x, h, c, w, lengths, *SIZES, 0.0, True)[0] ** 2)
    direction = jnp.cos(jnp.arange(weights.size, dtype=jnp.float32))
    step = 1e-2 * direction / jnp.linalg.norm(direction)
    difference = loss(weights + step) - loss(weights - step)
    np.testing.assert_allclose(2 * jnp.vdot(jax.grad(loss)(weights), step), difference, rtol=1e-2)


def test_gates_are_exchanged_twice():
    weights = jnp.arange(104.0)
    swapped = rnn.swap_lstm_gates(weights, *SIZES, False)
    assert swapped[:24].tolist() == [*range(12), *range(18, 24), *range(12, 18)]
    np.testing.assert_array_equal(rnn.swap_lstm_gates(swapped, *SIZES, False), weights)


def test_refusals():
    x, h, c, weights, lengths = arguments(False)
    with pytest.raises(NotImplementedError, match="dropout other than 0"):
        rnn.lstm(x, h, c, weights, lengths, *SIZES, 0.5, False)
    with pytest.raises(NotImplementedError, match="can only be int32"):
        rnn.lstm(x, h, c, weights, lengths.astype("int16"), *SIZES, 0.0, False)
