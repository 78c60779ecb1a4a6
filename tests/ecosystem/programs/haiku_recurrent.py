"""Haiku: an LSTM, batch norm with state, attention, dropout and scanned layers."""

import haiku as hk
import jax
import jax.numpy as jnp


@hk.transform_with_state
def network(x, train):
    batch = x.shape[0]
    x = hk.BatchNorm(True, True, 0.9)(x, train)
    core = hk.LSTM(8)
    y, _ = hk.dynamic_unroll(core, x, core.initial_state(batch), time_major=False)
    y = hk.MultiHeadAttention(2, 4, w_init=hk.initializers.VarianceScaling())(y, y, y)
    if train:
        y = hk.dropout(hk.next_rng_key(), 0.1, y)
    y = hk.experimental.layer_stack(3)(lambda h: jax.nn.relu(hk.Linear(8)(h)) + h)(y)
    calls = hk.get_state("calls", (), init=jnp.zeros)
    hk.set_state("calls", calls + 1)
    return hk.Conv1D(2, 3)(y).mean((1, 2))


def setting():
    x = jax.random.normal(jax.random.PRNGKey(0), (4, 7, 5))
    params, state = network.init(jax.random.PRNGKey(1), x, True)
    return params, state, x, x.sum((1, 2)) / 10


def step(params, state, key, x, y):
    def loss(params):
        out, changed = network.apply(params, state, key, x, True)
        return jnp.mean((out - y) ** 2), changed

    (value, state), gradient = jax.value_and_grad(loss, has_aux=True)(params)
    return jax.tree.map(lambda p, g: p - 0.02 * g, params, gradient), state, value


def main():
    params, state, x, y = setting()
    compiled, losses = jax.jit(step), []
    for i in range(20):
        params, state, value = compiled(params, state, jax.random.PRNGKey(i), x, y)
        losses.append(value)
    out, _ = network.apply(params, state, None, x, False)
    return {"losses": jnp.stack(losses), "out": out, "calls": state["~"]["calls"]}


def exports():
    params, state, x, y = setting()
    forward = lambda params, state, x: network.apply(params, state, None, x, False)[0]
    train = lambda params, state, x, y: step(params, state, jax.random.PRNGKey(5), x, y)
    return {"forward": (forward, (params, state, x)), "train": (train, (params, state, x, y))}
