"""Flax NNX: modules are objects that are updated in place; the forward pass and a training step are exported."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class MLP(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(3, 24, rngs=rngs)
        self.second = nnx.Linear(24, 1, rngs=rngs)

    def __call__(self, x):
        return self.second(nnx.swish(self.first(x)))


def setting():
    x = jax.random.uniform(jax.random.key(0), (48, 3), minval=-1, maxval=1)
    return MLP(nnx.Rngs(0)), x, (x[:, :1] * x[:, 1:2] + x[:, 2:])


def loss(model, x, y):
    return jnp.mean((model(x) - y) ** 2)


@nnx.jit
def step(model, optimizer, x, y):
    value, gradient = nnx.value_and_grad(loss)(model, x, y)
    optimizer.update(model, gradient)
    return value


def main():
    model, x, y = setting()
    optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)
    losses = [step(model, optimizer, x, y) for _ in range(60)]
    return {"losses": jnp.stack(losses)[::6], "prediction": model(x)[:6, 0], "kernel": model.first.kernel[...]}


def exports():
    model, x, y = setting()
    graph, state = nnx.split(model)

    def forward(state, x):
        return nnx.merge(graph, state)(x)

    def train(state, x, y):
        value, gradient = nnx.value_and_grad(loss)(nnx.merge(graph, state), x, y)
        return jax.tree.map(lambda p, g: p - 0.1 * g, state, gradient), value

    return {"forward": (forward, (state, x)), "train": (train, (state, x, y))}
