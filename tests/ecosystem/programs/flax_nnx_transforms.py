"""Flax NNX: vmapped construction, scanned layers, an LSTM and state that is carried along."""

import jax.numpy as jnp
from flax import nnx


class Counter(nnx.Variable):
    pass


class Layer(nnx.Module):
    def __init__(self, rngs):
        self.linear = nnx.Linear(6, 6, rngs=rngs)
        self.norm = nnx.LayerNorm(6, rngs=rngs)
        self.calls = Counter(jnp.array(0))

    def __call__(self, x):
        self.calls[...] += 1
        return x + nnx.tanh(self.linear(self.norm(x)))


def main():
    @nnx.split_rngs(splits=3)
    @nnx.vmap(in_axes=0, out_axes=0)
    def stack(rngs):
        return Layer(rngs)

    layers = stack(nnx.Rngs(0))
    x = jnp.linspace(-1, 1, 12).reshape(2, 6)

    @nnx.scan(in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)
    def through(x, layer):
        return layer(x)

    @nnx.jit
    def forward(layers, x):
        return through(x, layers)

    y = forward(layers, x)
    gradient = nnx.grad(lambda layers: jnp.sum(through(x, layers) ** 2), argnums=nnx.DiffState(0, nnx.Param))(layers)
    cell = nnx.LSTMCell(6, 5, rngs=nnx.Rngs(1))
    sequence = jnp.sin(jnp.arange(24.0)).reshape(1, 4, 6)
    recurrent = nnx.RNN(cell)(sequence)
    return {
        "y": y,
        "calls": layers.calls[...],
        "gradient": gradient["linear"]["kernel"][...][:, 0],
        "recurrent": recurrent,
    }
