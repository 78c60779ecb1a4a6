"""Results run as early as that frees memory."""

import numpy as np

import onax as jax
import onax.numpy as jnp
from onax._tape.result_order import make_results_early


def _order(function, *arguments):
    return [eqn.primitive.name for eqn in make_results_early(jax.make_jaxpr(function)(*arguments)).eqns]


def test_a_result_comes_after_the_last_other_reader_of_its_operands():
    def steps(x, w):
        a = jnp.sin(x)
        b = jnp.cos(a)
        c = jnp.exp(b)
        return jnp.add(a, w), c

    x = np.ones(3, np.float32)
    assert _order(steps, x, x) == ["sin", "cos", "add", "exp"]


def test_operands_do_not_live_longer():
    def steps(x, w):
        a = jnp.sin(x)
        b = jnp.cos(x)
        return jnp.exp(jnp.tanh(b * w)), jnp.add(a, w)

    x = np.ones(3, np.float32)
    assert _order(steps, x, x) == ["sin", "cos", "mul", "add", "tanh", "exp"]


def test_updates_of_a_training_step_do_not_wait_for_all_gradients():
    weights = [np.ones((64, 64), np.float32)] * 4

    def loss(weights, x):
        for w in weights:
            x = jnp.tanh(x @ w)
        return jnp.sum(x)

    def step(weights, x):
        return [w - 0.1 * g for w, g in zip(weights, jax.grad(loss)(weights, x))]

    x = np.ones((2, 64), np.float32)
    analysis = jax.jit(step).lower(weights, x).compile().memory_analysis()
    assert analysis.output_size_in_bytes == 4 * 64 * 64 * 4
    assert analysis.temp_size_in_bytes < 2 * 64 * 64 * 4
    for new, old in zip(jax.jit(step)(weights, x), step(weights, x)):
        np.testing.assert_allclose(new, old, rtol=1e-5, atol=1e-6)
