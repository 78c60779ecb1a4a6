"""Convolutions with batch norm, whose running statistics are Equinox state; checks at run time."""

import equinox as eqx
import jax
import jax.numpy as jnp


class Net(eqx.Module):
    conv: eqx.nn.Conv2d
    norm: eqx.nn.BatchNorm
    pool: eqx.nn.MaxPool2d
    head: eqx.nn.Linear

    def __init__(self, key):
        a, b = jax.random.split(key)
        self.conv = eqx.nn.Conv2d(1, 4, 3, padding=1, key=a)
        self.norm = eqx.nn.BatchNorm(4, "batch", mode="ema")
        self.pool = eqx.nn.MaxPool2d(2, 2)
        self.head = eqx.nn.Linear(4 * 16, 3, key=b)

    def __call__(self, x, state):
        x, state = self.norm(self.conv(x), state)
        return self.head(self.pool(jax.nn.relu(x)).reshape(-1)), state


def main():
    model, state = eqx.nn.make_with_state(Net)(jax.random.key(0))
    x = jax.random.normal(jax.random.key(1), (8, 1, 8, 8))
    labels = jnp.arange(8) % 3

    def loss(model, state):
        call = jax.vmap(model, axis_name="batch", in_axes=(0, None), out_axes=(0, None))
        logits, state = call(x, state)
        return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(8), labels]), state

    @eqx.filter_jit
    def step(model, state):
        (value, state), gradient = eqx.filter_value_and_grad(loss, has_aux=True)(model, state)
        return eqx.apply_updates(model, jax.tree.map(lambda g: -0.1 * g, gradient)), state, value

    losses = []
    for _ in range(15):
        model, state, value = step(model, state)
        losses.append(value)

    @eqx.filter_jit
    def checked(x):
        return jnp.sqrt(eqx.error_if(x, x < 0, "x must not be negative"))

    refused = False
    try:
        checked(jnp.array(-1.0))
    except RuntimeError:
        refused = True
    still = eqx.nn.inference_mode(model)
    logits, _ = jax.vmap(still, axis_name="batch", in_axes=(0, None), out_axes=(0, None))(x, state)
    return {"losses": jnp.stack(losses), "logits": logits, "root": checked(jnp.array(4.0)), "refused": refused}
