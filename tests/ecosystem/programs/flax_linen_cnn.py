"""Flax linen: convolutions with batch norm and dropout, whose statistics are mutable variables."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class CNN(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.Conv(8, (3, 3))(x)
        x = nn.BatchNorm(use_running_average=not train, momentum=0.9)(x)
        x = nn.avg_pool(nn.relu(x), (2, 2), (2, 2))
        x = nn.Conv(8, (3, 3), strides=2)(x)
        x = nn.relu(nn.GroupNorm(num_groups=2)(x)).reshape(x.shape[0], -1)
        x = nn.Dropout(0.2, deterministic=not train)(x)
        return nn.Dense(3)(x)


def setting():
    x = jax.random.normal(jax.random.key(0), (8, 12, 12, 1))
    labels = jnp.arange(8) % 3
    model = CNN()
    return model, model.init(jax.random.key(1), x, False), x, labels


optimizer = optax.sgd(0.05, momentum=0.9)


def step(variables, state, x, labels, key):
    def loss(params):
        logits, changed = CNN().apply(
            {"params": params, "batch_stats": variables["batch_stats"]},
            x,
            True,
            mutable=["batch_stats"],
            rngs={"dropout": key},
        )
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean(), changed

    (value, changed), gradient = jax.value_and_grad(loss, has_aux=True)(variables["params"])
    updates, state = optimizer.update(gradient, state)
    return {"params": optax.apply_updates(variables["params"], updates), **changed}, state, value


def main():
    model, variables, x, labels = setting()
    state, compiled, losses = optimizer.init(variables["params"]), jax.jit(step), []
    for i in range(20):
        variables, state, value = compiled(variables, state, x, labels, jax.random.key(i))
        losses.append(value)
    return {
        "losses": jnp.stack(losses)[::2],
        "logits": model.apply(variables, x, False),
        "mean": variables["batch_stats"]["BatchNorm_0"]["mean"],
    }


def exports():
    model, variables, x, labels = setting()
    forward = lambda variables, x: model.apply(variables, x, False)
    train = lambda variables, state, x, labels: step(variables, state, x, labels, jax.random.key(3))
    return {
        "forward": (forward, (variables, x)),
        "train": (train, (variables, optimizer.init(variables["params"]), x, labels)),
    }
