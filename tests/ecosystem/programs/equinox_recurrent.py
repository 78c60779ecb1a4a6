"""A GRU that is scanned over a sequence, with layer norm and dropout, learns to sum."""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class Summer(eqx.Module):
    cell: eqx.nn.GRUCell
    norm: eqx.nn.LayerNorm
    dropout: eqx.nn.Dropout
    head: eqx.nn.Linear

    def __init__(self, key):
        a, b = jax.random.split(key)
        self.cell = eqx.nn.GRUCell(1, 16, key=a)
        self.norm = eqx.nn.LayerNorm(16)
        self.dropout = eqx.nn.Dropout(0.1)
        self.head = eqx.nn.Linear(16, "scalar", key=b)

    def __call__(self, xs, key=None, inference=None):
        state, _ = jax.lax.scan(lambda h, x: (self.cell(x, h), None), jnp.zeros(16), xs)
        return self.head(self.dropout(self.norm(state), key=key, inference=inference))


def main():
    x = jax.random.uniform(jax.random.key(0), (32, 10, 1), minval=-1, maxval=1)
    y = x.sum((1, 2))
    model = Summer(jax.random.key(1))
    optimizer = optax.adam(1e-2)
    state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))

    @eqx.filter_value_and_grad
    def loss(model, key):
        keys = jax.random.split(key, len(x))
        return jnp.mean((jax.vmap(model)(x, keys) - y) ** 2)

    @eqx.filter_jit
    def step(model, state, key):
        value, gradient = loss(model, key)
        updates, state = optimizer.update(gradient, state)
        return eqx.apply_updates(model, updates), state, value

    losses = []
    for i in range(40):
        model, state, value = step(model, state, jax.random.key(i))
        losses.append(value)
    still = eqx.nn.inference_mode(model)
    return {"losses": jnp.stack(losses)[::5], "sums": jax.vmap(lambda v: still(v, inference=True))(x)[:8]}


def exports():
    model = eqx.nn.inference_mode(Summer(jax.random.key(1)))
    arrays, static = eqx.partition(model, eqx.is_array)
    x = jax.random.uniform(jax.random.key(0), (4, 10, 1), minval=-1, maxval=1)
    forward = lambda arrays, x: jax.vmap(lambda v: eqx.combine(arrays, static)(v))(x)
    train = lambda arrays, x: jax.tree.map(
        lambda p, g: p - 0.1 * g, arrays, jax.grad(lambda a: jnp.mean((forward(a, x) - x.sum((1, 2))) ** 2))(arrays)
    )
    return {"forward": (forward, (arrays, x)), "train": (train, (arrays, x))}
