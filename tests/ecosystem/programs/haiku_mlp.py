"""Haiku: an MLP classifies; the forward pass and a training step are exported."""

import haiku as hk
import jax
import jax.numpy as jnp
import optax


@hk.without_apply_rng
@hk.transform
def network(x):
    x = hk.nets.MLP([16, 16], activation=jnp.tanh)(x)
    return hk.Linear(3)(hk.LayerNorm(-1, True, True)(x))


optimizer = optax.adam(1e-2)


def setting():
    x = jax.random.normal(jax.random.PRNGKey(0), (30, 4))
    return network.init(jax.random.PRNGKey(1), x), x, jnp.argmax(x[:, :3], 1)


def step(params, state, x, labels):
    def loss(params):
        return optax.softmax_cross_entropy_with_integer_labels(network.apply(params, x), labels).mean()

    value, gradient = jax.value_and_grad(loss)(params)
    updates, state = optimizer.update(gradient, state)
    return optax.apply_updates(params, updates), state, value


def main():
    params, x, labels = setting()
    state, compiled, losses = optimizer.init(params), jax.jit(step), []
    for _ in range(50):
        params, state, value = compiled(params, state, x, labels)
        losses.append(value)
    return {"losses": jnp.stack(losses)[::5], "logits": network.apply(params, x)[:4]}


def exports():
    params, x, labels = setting()
    return {"forward": (network.apply, (params, x)), "train": (step, (params, optimizer.init(params), x, labels))}
