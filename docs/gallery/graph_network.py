"""
A graph network finds communities
=================================

Two rounds of messages along edges, summed by `segment_sum`; only two nodes of each community have a label.
"""

import matplotlib.pyplot as plt
import numpy as np

import onax as jax
import onax.numpy as jnp

rng = np.random.default_rng(0)
size, groups = 90, 3
truth = np.arange(size) % groups
chance = np.where(truth[:, None] == truth, 0.22, 0.015)
senders, receivers = np.nonzero(rng.random((size, size)) < chance)
labelled = np.array([np.flatnonzero(truth == g)[:2] for g in range(groups)]).ravel()


def messages(h):
    degree = jax.ops.segment_sum(jnp.ones(len(receivers)), receivers, size)
    return jax.ops.segment_sum(h[senders], receivers, size) / jnp.maximum(degree, 1)[:, None]


def network(params, h):
    h = jnp.tanh((h + messages(h)) @ params[0])
    return (h + messages(h)) @ params[1]


def loss(params, h):
    log_p = jax.nn.log_softmax(network(params, h))
    fit = -log_p[labelled, truth[labelled]].mean()
    return fit + 0.5 * jnp.mean((log_p[senders] - log_p[receivers]) ** 2)


@jax.jit
def step(params, h):
    return jax.tree.map(lambda p, g: p - 0.5 * g, params, jax.grad(loss)(params, h))


keys = jax.random.split(jax.random.key(0), 3)
h = jax.random.normal(keys[0], (size, 16))
params = [0.3 * jax.random.normal(keys[1], (16, 16)), 0.3 * jax.random.normal(keys[2], (16, groups))]
for _ in range(400):
    params = step(params, h)
guesses = np.asarray(network(params, h).argmax(axis=1))
right = (guesses == truth).mean()
print(f"{len(labelled)} labels, {len(senders)} edges: {right:.0%} of the nodes are right")

angles = 2 * np.pi * truth / groups
places = np.stack([np.cos(angles), np.sin(angles)], axis=1) + 0.28 * rng.normal(size=(size, 2))
fig, axes = plt.subplots(figsize=(5.5, 5))
for a, b in zip(senders, receivers):
    axes.plot(*places[[a, b]].T, color="0.85", lw=0.4, zorder=0)
axes.scatter(*places.T, c=guesses, cmap="viridis", s=35)
axes.scatter(*places[labelled].T, facecolors="none", edgecolors="r", s=120, label="labelled")
axes.legend()
axes.axis("off")
plt.show()
assert right > 0.85
