"""
Diffusion on two-dimensional data
=================================

A small network learns to remove noise from points on two moons; running it backward turns noise into moons.
"""

import matplotlib.pyplot as plt
import numpy as np

import onax as jax
import onax.numpy as jnp
from onax import lax

levels = 40
betas = jnp.linspace(1e-3, 0.2, levels)
signal = jnp.cumprod(1 - betas)


def moons(key, count):
    key_a, key_b, key_c = jax.random.split(key, 3)
    angle = jnp.pi * jax.random.uniform(key_a, (count,))
    upper = jax.random.bernoulli(key_b, shape=(count,))
    arc = jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=1)
    points = jnp.where(upper[:, None], arc, jnp.array([1.0, 0.5]) - arc)
    return points + 0.06 * jax.random.normal(key_c, (count, 2)) - jnp.array([0.5, 0.25])


def network(params, x, level):
    phase = level[:, None] / levels * jnp.array([1.0, 2.0, 4.0, 8.0])
    h = jnp.concatenate([x, jnp.sin(jnp.pi * phase), jnp.cos(jnp.pi * phase)], axis=1)
    for w, b in params[:-1]:
        h = jax.nn.silu(h @ w + b)
    return h @ params[-1][0] + params[-1][1]


def loss(params, key):
    key_x, key_l, key_n = jax.random.split(key, 3)
    x, level = moons(key_x, 512), jax.random.randint(key_l, (512,), 0, levels)
    noise, s = jax.random.normal(key_n, (512, 2)), signal[level][:, None]
    return jnp.mean((network(params, jnp.sqrt(s) * x + jnp.sqrt(1 - s) * noise, level) - noise) ** 2)


@jax.jit
def train(params, key):
    def adam(carry, key):
        params, m, v, i = carry
        value, g = jax.value_and_grad(loss)(params, key)
        m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, m, g)
        v = jax.tree.map(lambda a, b: 0.99 * a + 0.01 * b * b, v, g)
        change = lambda p, a, b: p - 3e-3 * (a / (1 - 0.9**i)) / (jnp.sqrt(b / (1 - 0.99**i)) + 1e-8)
        return (jax.tree.map(change, params, m, v), m, v, i + 1), value

    zeros = jax.tree.map(jnp.zeros_like, params)
    (params, *_), values = lax.scan(adam, (params, zeros, zeros, 1.0), jax.random.split(key, 1500))
    return params, values


@jax.jit
def sample(params, key):
    def denoise(x, inputs):
        level, key = inputs
        guess = network(params, x, jnp.full((1500,), level))
        mean = (x - betas[level] / jnp.sqrt(1 - signal[level]) * guess) / jnp.sqrt(1 - betas[level])
        x = mean + jnp.where(level > 0, jnp.sqrt(betas[level]), 0) * jax.random.normal(key, x.shape)
        return x, x

    start = jax.random.normal(key, (1500, 2))
    order = jnp.arange(levels)[::-1]
    return start, lax.scan(denoise, start, (order, jax.random.split(key, levels)))[1]


keys = jax.random.split(jax.random.key(0), 5)
sizes = [(10, 64), (64, 64), (64, 2)]
params = [(jax.random.normal(k, s) / jnp.sqrt(s[0]), jnp.zeros(s[1])) for k, s in zip(keys, sizes)]
params, values = train(params, keys[3])
start, path = sample(params, keys[4])
data = moons(keys[0], 4000)
nearest = jnp.sqrt(jnp.min(jnp.sum((path[-1][:, None] - data) ** 2, axis=-1), axis=1))
print(f"loss {values[:20].mean():.2f} -> {values[-200:].mean():.2f}")
print(f"median distance to the data {jnp.median(nearest):.3f}")

fig, axes = plt.subplots(1, 4, figsize=(9, 2.6), sharex=True, sharey=True)
for axis, points, title in zip(axes, [start, path[25], path[34], path[-1]], ["noise", "step 26", "step 35", "step 40"]):
    axis.plot(*np.asarray(points).T, ".", ms=1.5)
    axis.set(title=title, xlim=(-2.5, 2.5), ylim=(-2.5, 2.5))
plt.show()
assert jnp.median(nearest) < 0.1
