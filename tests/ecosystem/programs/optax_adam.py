"""A small network learns a sine with Adam."""

import jax
import jax.numpy as jnp
import optax


def initial(key):
    k1, k2 = jax.random.split(key)
    return {
        "w1": jax.random.normal(k1, (1, 16)),
        "b1": jnp.zeros(16),
        "w2": jax.random.normal(k2, (16, 1)) / 4,
        "b2": jnp.zeros(1),
    }


def predict(params, x):
    return jnp.tanh(x @ params["w1"] + params["b1"]) @ params["w2"] + params["b2"]


def main():
    x = jnp.linspace(-2, 2, 64)[:, None]
    y = jnp.sin(2 * x) + 0.3  # an odd function would leave gradients of zero, whose rounding Adam amplifies
    params = initial(jax.random.key(0))
    optimizer = optax.adam(1e-2)
    state = optimizer.init(params)

    def loss(params):
        return jnp.mean((predict(params, x) - y) ** 2)

    @jax.jit
    def step(params, state):
        value, gradient = jax.value_and_grad(loss)(params)
        updates, state = optimizer.update(gradient, state, params)
        return optax.apply_updates(params, updates), state, value

    losses = []
    for _ in range(200):
        params, state, value = step(params, state)
        losses.append(value)
    return {"losses": jnp.stack(losses)[::20], "prediction": predict(params, x)[::8, 0]}
