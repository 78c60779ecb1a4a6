"""Flax NNX: convolution, batch norm and dropout with training and evaluation modes, and metrics."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class CNN(nnx.Module):
    def __init__(self, rngs):
        self.conv = nnx.Conv(1, 6, kernel_size=(3, 3), use_bias=False, rngs=rngs)
        self.norm = nnx.BatchNorm(6, rngs=rngs)
        self.dropout = nnx.Dropout(0.1, rngs=rngs)
        self.head = nnx.Linear(6 * 16, 4, rngs=rngs)

    def __call__(self, x):
        x = nnx.max_pool(nnx.relu(self.norm(self.conv(x))), (2, 2), (2, 2))
        return self.head(self.dropout(x.reshape(x.shape[0], -1)))


def setting():
    x = jax.random.normal(jax.random.key(0), (12, 8, 8, 1))
    return CNN(nnx.Rngs(0)), x, jnp.arange(12) % 4


def main():
    model, x, labels = setting()
    optimizer = nnx.Optimizer(model, optax.adamw(5e-3), wrt=nnx.Param)
    metrics = nnx.MultiMetric(accuracy=nnx.metrics.Accuracy(), loss=nnx.metrics.Average("loss"))

    @nnx.jit
    def step(model, optimizer, metrics, x, labels):
        def loss(model):
            logits = model(x)
            return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean(), logits

        (value, logits), gradient = nnx.value_and_grad(loss, has_aux=True)(model)
        metrics.update(loss=value, logits=logits, labels=labels)
        optimizer.update(model, gradient)
        return value

    losses = [step(model, optimizer, metrics, x, labels) for _ in range(20)]
    model.eval()
    return {"losses": jnp.stack(losses)[::2], "logits": model(x)[:3], "mean": model.norm.mean[...], **metrics.compute()}


def exports():
    model, x, labels = setting()
    model.eval()
    graph, params, rest = nnx.split(model, nnx.Param, ...)
    forward = lambda params, rest, x: nnx.merge(graph, params, rest)(x)

    def train(params, rest, x, labels):
        def loss(params):
            logits = nnx.merge(graph, params, rest)(x)
            return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

        return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params))

    return {"forward": (forward, (params, rest, x)), "train": (train, (params, rest, x, labels))}
