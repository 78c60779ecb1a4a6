"""Optimizers: their steps against the formulas in NumPy, trees of parameters, step sizes, states that are stored."""

import numpy as np
import pytest

import onax as jax
from onax import numpy as jnp
from onax.example_libraries import optimizers

X0 = np.array([1.0, -2.0, 0.5], np.float32)
GRADIENTS = [np.array(g, np.float32) for g in ([0.5, 1, -1], [0.0, -2, 3], [1.0, 1, 1])]


def _inverse_root(x):
    return np.where(x > 0, 1 / np.sqrt(np.where(x > 0, x, 1)), 0)


def sgd(x, gradients):
    for g in gradients:
        x = x - 0.1 * g
    return x


def momentum(x, gradients, nesterov=False):
    v = 0
    for g in gradients:
        v = 0.8 * v + g
        x = x - 0.1 * (0.8 * v + g if nesterov else v)
    return x


def adagrad(x, gradients):
    squares = m = 0
    for g in gradients:
        squares = squares + g * g
        m = 0.1 * g * _inverse_root(squares) + 0.9 * m
        x = x - 0.1 * m
    return x


def rmsprop(x, gradients, mass=0.0):
    mean = m = 0
    for g in gradients:
        mean = 0.9 * mean + 0.1 * g * g
        m = mass * m + 0.1 * g / np.sqrt(mean + 1e-8)
        x = x - m
    return x


def adam(x, gradients):
    m = v = 0
    for i, g in enumerate(gradients, 1):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        x = x - 0.1 * (m / (1 - 0.9**i)) / (np.sqrt(v / (1 - 0.999**i)) + 1e-8)
    return x


def adamax(x, gradients):
    m = u = 0
    for i, g in enumerate(gradients, 1):
        m, u = 0.9 * m + 0.1 * g, np.maximum(0.999 * u, np.abs(g))
        x = x - 0.1 / (1 - 0.9**i) * m / (u + 1e-8)
    return x


STEPS = {
    "sgd": (optimizers.sgd(0.1), sgd),
    "momentum": (optimizers.momentum(0.1, 0.8), momentum),
    "nesterov": (optimizers.nesterov(0.1, 0.8), lambda x, g: momentum(x, g, nesterov=True)),
    "adagrad": (optimizers.adagrad(0.1), adagrad),
    "rmsprop": (optimizers.rmsprop(0.1), rmsprop),
    "rmsprop_momentum": (optimizers.rmsprop_momentum(0.1), lambda x, g: rmsprop(x, g, mass=0.9)),
    "adam": (optimizers.adam(0.1), adam),
    "adamax": (optimizers.adamax(0.1), adamax),
    "sm3": (optimizers.sm3(0.1), adagrad),  # of a vector it keeps every square
}


@pytest.mark.parametrize("name", STEPS)
def test_steps(name):
    (init, update, params), meaning = STEPS[name]
    for run in (update, jax.jit(update)):
        state = init({"a": X0, "b": [2 * X0]})
        for i, g in enumerate(GRADIENTS):
            state = run(i, {"a": g, "b": [g]}, state)
        found = params(state)
        gradients = [g.astype(np.float64) for g in GRADIENTS]
        np.testing.assert_allclose(found["a"], meaning(X0, gradients), rtol=1e-5)
        np.testing.assert_allclose(found["b"][0], meaning(2 * X0, gradients), rtol=1e-5)


def test_sm3_of_matrices_keeps_the_smaller_of_row_and_column():
    init, update, params = optimizers.sm3(1.0, momentum=0.0)
    g = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    state = update(0, g, init(np.zeros((2, 2), np.float32)))
    np.testing.assert_allclose(params(state), -np.sign(g), rtol=1e-6)
    state = update(1, g, state)
    squares = np.minimum([[4.0], [16.0]], [9.0, 16.0]) + g**2
    np.testing.assert_allclose(params(state), -np.sign(g) - g / np.sqrt(squares), rtol=1e-6)


@pytest.mark.parametrize(
    ("schedule", "values"),
    [
        (optimizers.constant(0.5), [0.5, 0.5, 0.5]),
        (optimizers.make_schedule(0.25), [0.25] * 3),
        (optimizers.exponential_decay(1.0, 2, 0.25), [1, 0.5, 0.25]),
        (optimizers.inverse_time_decay(1.0, 1, 1.0), [1, 1 / 2, 1 / 3]),
        (optimizers.inverse_time_decay(1.0, 2, 1.0, staircase=True), [1, 1, 1 / 2]),
        (optimizers.polynomial_decay(1.0, 2, 0.0, power=2.0), [1, 0.25, 0]),
        (optimizers.piecewise_constant([0, 1], [3.0, 2.0, 1.0]), [3, 2, 1]),
    ],
)
def test_step_sizes(schedule, values):
    np.testing.assert_allclose([schedule(i) for i in range(3)], values, rtol=1e-6)
    np.testing.assert_allclose(jax.jit(jax.vmap(schedule))(jnp.arange(3)), values, rtol=1e-6)


def test_states_are_stored_as_trees():
    init, update, params = optimizers.adam(0.1)
    state = update(0, {"a": GRADIENTS[0]}, init({"a": X0}))
    stored = optimizers.unpack_optimizer_state(state)
    assert set(stored) == {"a"} and len(next(iter(stored["a"]))) == 3
    again = optimizers.pack_optimizer_state(stored)
    np.testing.assert_array_equal(params(again)["a"], params(state)["a"])
    assert jax.tree.structure(again) == jax.tree.structure(state)


def test_states_are_named_tuples():
    state = optimizers.momentum(0.1, 0.9).init_fn(1.0)
    packed, tree, subtrees = state
    assert state._fields == ("packed_state", "tree_def", "subtree_defs") and state == (packed, tree, subtrees)
    assert packed == ([1.0, 0.0],) and tree.num_leaves == 1 and subtrees[0].num_leaves == 2
    assert str(jax.tree.structure(state)).endswith("[([*, *],)]))")


def test_updates_that_change_the_state_are_refused():
    @optimizers.optimizer
    def made():
        return (lambda x: {"x": x}), (lambda i, g, s: {"x": s["x"], "v": g}), (lambda s: s["x"])

    init, update, _ = made()
    with pytest.raises(TypeError, match="output structure that did not match its input structure: input PyTreeDef"):
        update(0, X0, init(X0))


def test_norms_and_clipping():
    tree = {"a": np.float32([3.0, 0]), "b": np.float32([[4.0]])}
    assert float(optimizers.l2_norm(tree)) == 5
    clipped = optimizers.clip_grads(tree, 1.0)
    np.testing.assert_allclose(clipped["a"], [0.6, 0], rtol=1e-6)
    np.testing.assert_allclose(optimizers.clip_grads(tree, 9.0)["b"], [[4]])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: optimizers.make_schedule(np.ones(2)), TypeError, "ndarray"),
        (lambda: optimizers.piecewise_constant([1], [1.0]), ValueError, "one shorter"),
        (lambda: optimizers.piecewise_constant(1, [1.0, 2]), ValueError, "sequences"),
        (lambda: optimizers.pack_optimizer_state([1]), TypeError, "JoinPoints"),
        (lambda: optimizers.sgd(0.1).update_fn(0, [X0], optimizers.sgd(0.1).init_fn(X0)), TypeError, "gradient tree"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()
