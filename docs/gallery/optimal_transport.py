"""
Optimal transport
=================

Sinkhorn's iteration in a `fori_loop`; the gradient of the cost moves one cloud of points onto another.
"""

import matplotlib.pyplot as plt
import numpy as np

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax.scipy.special import logsumexp


def transport_cost(a, b, epsilon=0.02, steps=60):
    cost = jnp.sum((a[:, None] - b) ** 2, axis=-1)
    size = jnp.log(len(a))

    def update(_, fg):
        g = -epsilon * logsumexp((fg[0][:, None] - cost) / epsilon - size, axis=0)
        return -epsilon * logsumexp((g - cost) / epsilon - size, axis=1), g

    f, g = lax.fori_loop(0, steps, update, (jnp.zeros(len(a)), jnp.zeros(len(b))))
    plan = jnp.exp((f[:, None] + g - cost) / epsilon - 2 * size)
    return jnp.sum(plan * cost), plan


angles = jnp.linspace(0, 2 * jnp.pi, 80, endpoint=False)
circle = jnp.stack([jnp.cos(angles), jnp.sin(angles)], axis=1)
star = (0.75 + 0.35 * jnp.cos(5 * angles))[:, None] * circle
cloud = 0.25 * jax.random.normal(jax.random.key(0), (80, 2))
gradient = jax.jit(jax.value_and_grad(lambda points: transport_cost(points, star)[0]))

path = [cloud]
for _ in range(40):
    value, g = gradient(path[-1])
    path.append(path[-1] - 0.25 * len(cloud) * g)
print(f"cost {float(gradient(cloud)[0]):.3f} -> {float(value):.5f}")

fig, axes = plt.subplots(figsize=(5, 5))
lines = np.asarray(jnp.stack(path))
axes.plot(lines[:, :, 0], lines[:, :, 1], color="0.8", lw=0.7)
axes.plot(*lines[0].T, ".", label="at first")
axes.plot(*lines[-1].T, ".", label="at the end")
axes.plot(*np.asarray(star).T, "k+", ms=4, label="target")
axes.set_aspect("equal")
axes.legend()
plt.show()
assert value < 0.02
