"""An Equinox MLP learns two interleaved spirals; the forward pass and a training step are exported."""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


def data():
    t = jnp.linspace(0.2, 2.5, 32)
    spiral = jnp.stack([t * jnp.cos(3 * t), t * jnp.sin(3 * t)], 1)
    return jnp.concatenate([spiral, -spiral]), jnp.concatenate([jnp.zeros(32), jnp.ones(32)])


def loss(model, x, y):
    logits = jax.vmap(model)(x)[:, 0]
    return jnp.mean(optax.sigmoid_binary_cross_entropy(logits, y))


optimizer = optax.adam(5e-3)


@eqx.filter_jit
def step(model, state, x, y):
    value, gradient = eqx.filter_value_and_grad(loss)(model, x, y)
    updates, state = optimizer.update(gradient, state, eqx.filter(model, eqx.is_array))
    return eqx.apply_updates(model, updates), state, value


def fresh():
    model = eqx.nn.MLP(2, 1, 32, 2, activation=jax.nn.tanh, key=jax.random.key(1))
    return model, optimizer.init(eqx.filter(model, eqx.is_array))


def main():
    x, y = data()
    model, state = fresh()
    losses = []
    for _ in range(100):
        model, state, value = step(model, state, x, y)
        losses.append(value)
    return {"losses": jnp.stack(losses)[::10], "logits": jax.vmap(model)(x)[::8, 0]}


def exports():
    x, y = data()
    model, state = fresh()
    arrays, static = eqx.partition(model, eqx.is_array)

    def forward(arrays, x):
        return jax.vmap(eqx.combine(arrays, static))(x)

    def train(arrays, state, x, y):
        value, gradient = jax.value_and_grad(lambda a: loss(eqx.combine(a, static), x, y))(arrays)
        updates, state = optimizer.update(gradient, state, arrays)
        return eqx.apply_updates(arrays, updates), state, value

    return {"forward": (forward, (arrays, x)), "train": (train, (arrays, state, x, y))}
