"""Networks and their updates, which several groups time."""

import numpy as np


def mlp(jax):
    """(training step, parameters, images, labels) of the 784-512-512-10 network."""
    jnp = jax.numpy
    rng = np.random.default_rng(0)
    sizes = (784, 512, 512, 10)
    params = [
        (jnp.asarray(rng.normal(size=(n, m), scale=n**-0.5).astype(np.float32)), jnp.zeros(m, jnp.float32))
        for n, m in zip(sizes[:-1], sizes[1:])
    ]
    images = jnp.asarray(rng.uniform(size=(128, 784)).astype(np.float32))
    labels = jnp.asarray(np.eye(10, dtype=np.float32)[rng.integers(0, 10, 128)])

    def loss(p, images, labels):
        h = images
        for w, b in p[:-1]:
            h = jax.nn.relu(h @ w + b)
        w, b = p[-1]
        return -jnp.mean(jnp.sum(jax.nn.log_softmax(h @ w + b) * labels, axis=1))

    def step(p, images, labels):
        grads = jax.grad(loss)(p, images, labels)
        return [(w - 0.1 * gw, b - 0.1 * gb) for (w, b), (gw, gb) in zip(p, grads)]

    return step, params, images, labels


def adam_update(params, means, squares):
    """(parameter, mean, square) of each leaf of each layer after a step of Adam with the parameters as gradients."""

    def update(p, m, v):
        m, v = 0.9 * m + 0.1 * p, 0.999 * v + 0.001 * p * p
        return p - 1e-3 * (m / 0.1) / ((v / 0.001 + 1e-8) ** 0.5 + 1.0), m, v

    return [tuple(update(*leaf) for leaf in zip(*layer)) for layer in zip(params, means, squares)]


def transformer(jax, blocks=12, width=128, heads=4):
    """(gradient of the summed output, parameters, input) of pre-norm blocks with a causal mask."""
    jnp = jax.numpy
    rng = np.random.default_rng(0)

    def weight(n, m):
        return jnp.asarray(rng.normal(size=(n, m), scale=n**-0.5).astype(np.float32))

    params = [
        {"qkv": weight(width, 3 * width), "out": weight(width, width), "up": weight(width, 4 * width)}
        | {"down": weight(4 * width, width), "scale": jnp.ones((2, width), jnp.float32)}
        for _ in range(blocks)
    ]
    x = jnp.asarray(rng.normal(size=(8, 64, width)).astype(np.float32))
    mask = jnp.asarray(np.tril(np.ones((64, 64), bool)))

    def norm(h, scale):
        mean = jnp.mean(h, axis=-1, keepdims=True)
        var = jnp.mean((h - mean) ** 2, axis=-1, keepdims=True)
        return (h - mean) / jnp.sqrt(var + 1e-5) * scale

    def attention(p, h):
        q, k, v = jnp.split(h @ p["qkv"], 3, axis=-1)
        split = lambda t: jnp.transpose(t.reshape(8, 64, heads, width // heads), (0, 2, 1, 3))
        scores = split(q) @ jnp.swapaxes(split(k), -1, -2) / (width // heads) ** 0.5
        weights = jax.nn.softmax(jnp.where(mask, scores, -1e9), axis=-1)
        return jnp.transpose(weights @ split(v), (0, 2, 1, 3)).reshape(8, 64, width) @ p["out"]

    def apply(params, x):
        for p in params:
            x = x + attention(p, norm(x, p["scale"][0]))
            x = x + jax.nn.gelu(norm(x, p["scale"][1]) @ p["up"]) @ p["down"]
        return jnp.sum(x**2)

    return jax.grad(apply), params, x
