"""Flax linen: an MLP with a TrainState; the forward pass and a training step are exported."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState


class MLP(nn.Module):
    features: tuple

    @nn.compact
    def __call__(self, x):
        for width in self.features[:-1]:
            x = nn.gelu(nn.Dense(width)(x))
        return nn.Dense(self.features[-1])(x)


def setting():
    x = jax.random.normal(jax.random.key(0), (32, 4))
    y = jnp.stack([jnp.sin(x[:, 0]) * x[:, 1], x[:, 2] ** 2], 1)
    model = MLP((16, 16, 2))
    params = model.init(jax.random.key(1), x)
    return x, y, TrainState.create(apply_fn=model.apply, params=params, tx=optax.adamw(3e-3))


def step(state, x, y):
    def loss(params):
        return jnp.mean((state.apply_fn(params, x) - y) ** 2)

    value, gradient = jax.value_and_grad(loss)(state.params)
    return state.apply_gradients(grads=gradient), value


def main():
    x, y, state = setting()
    compiled, losses = jax.jit(step), []
    for _ in range(60):
        state, value = compiled(state, x, y)
        losses.append(value)
    return {"losses": jnp.stack(losses)[::6], "prediction": state.apply_fn(state.params, x)[:4]}


def exports():
    x, y, state = setting()
    return {"forward": (state.apply_fn, (state.params, x)), "train": (step, (state, x, y))}
