"""
Hamiltonian Monte Carlo
=======================

Samples from a curved density: leapfrog steps in a `fori_loop`, the chain in a `scan`, many chains by `vmap`.
"""

import matplotlib.pyplot as plt
import numpy as np

import onax as jax
import onax.numpy as jnp
from onax import lax


def log_density(z):
    return -0.5 * (z[0] ** 2 + 4 * (z[1] - 0.5 * z[0] ** 2) ** 2)


def transition(z, key, size=0.15, steps=12):
    key_p, key_u = jax.random.split(key)
    force = jax.grad(log_density)
    p = jax.random.normal(key_p, (2,))

    def leapfrog(_, state):
        z, p = state
        p = p + 0.5 * size * force(z)
        z = z + size * p
        return z, p + 0.5 * size * force(z)

    proposal, q = lax.fori_loop(0, steps, leapfrog, (z, p))
    gain = log_density(proposal) - 0.5 * q @ q - log_density(z) + 0.5 * p @ p
    accept = jnp.log(jax.random.uniform(key_u)) < gain
    return jnp.where(accept, proposal, z), accept


@jax.jit
@jax.vmap
def chain(key):
    def move(z, key):
        z, accept = transition(z, key)
        return z, (z, accept)

    return lax.scan(move, jnp.zeros(2), jax.random.split(key, 400))[1]


samples, accepted = chain(jax.random.split(jax.random.key(0), 50))
samples = np.asarray(samples[:, 50:]).reshape(-1, 2)
print(f"{len(samples)} samples, {float(accepted.mean()):.0%} accepted; mean {samples.mean(axis=0).round(2)}")

grid = jnp.stack(jnp.meshgrid(jnp.linspace(-3.5, 3.5, 120), jnp.linspace(-1.5, 6, 120)), axis=-1)
density = jnp.exp(jax.vmap(jax.vmap(log_density))(grid))
fig, axes = plt.subplots(figsize=(6, 4.5))
axes.plot(*samples[::4].T, ".", ms=1.5, alpha=0.5)
axes.contour(grid[..., 0], grid[..., 1], density, levels=[0.05, 0.2, 0.5, 0.8], colors="k", linewidths=0.7)
plt.show()
assert abs(samples[:, 0].mean()) < 0.1 and abs(samples[:, 1].mean() - 0.5) < 0.1  # the exact means are 0 and 1/2
