"""
Balancing a pole
================

The physics is a `scan`, so whole episodes compile; an evolution strategy runs 64 of them at once with `vmap`.
"""

import matplotlib.pyplot as plt
import numpy as np

import onax as jax
import onax.numpy as jnp
from onax import lax

gravity, mass, pole_mass, length, dt = 9.8, 1.0, 0.1, 0.5, 0.02


def physics(state, force):
    x, speed, angle, spin = state
    sin, cos = jnp.sin(angle), jnp.cos(angle)
    total = mass + pole_mass
    push = (force + pole_mass * length * spin**2 * sin) / total
    turn = (gravity * sin - cos * push) / (length * (4 / 3 - pole_mass * cos**2 / total))
    slide = push - pole_mass * length * turn * cos / total
    return jnp.stack([x + dt * speed, speed + dt * slide, angle + dt * spin, spin + dt * turn])


def episode(policy, key, steps=500):
    def step(carry, _):
        state, alive = carry
        state = physics(state, 10 * jnp.tanh(policy[:4] @ state + policy[4]))
        alive = alive & (jnp.abs(state[2]) < 0.21) & (jnp.abs(state[0]) < 2.4)
        return (state, alive), (state, alive)

    start = jax.random.uniform(key, (4,), minval=-0.1, maxval=0.1)
    _, (states, alive) = lax.scan(step, (start, True), length=steps)
    return states, alive.sum()


@jax.jit
def improve(policy, key):
    key_n, key_e = jax.random.split(key)
    noise = jax.random.normal(key_n, (32, 5))
    noise = jnp.concatenate([noise, -noise])
    scores = jax.vmap(lambda n: episode(policy + 0.3 * n, key_e)[1])(noise).astype(float)
    ranks = jnp.argsort(jnp.argsort(scores)) / 63 - 0.5
    return policy + 0.4 * ranks @ noise / 8, scores.mean()


policy, means = jnp.zeros(5), []
for key in jax.random.split(jax.random.key(0), 40):
    policy, mean = improve(policy, key)
    means.append(float(mean))
states, balanced = jax.jit(jax.vmap(episode, (None, 0)))(policy, jax.random.split(jax.random.key(9), 50))
print(f"balanced for {float(means[0]):.0f} steps at first; in 50 new episodes for {float(balanced.mean()):.0f} of 500")

fig, axes = plt.subplots(1, 2, figsize=(8, 3))
axes[0].plot(means)
axes[0].set(xlabel="generation", ylabel="steps balanced")
axes[1].plot(np.degrees(np.asarray(states[:10, :, 2])).T, lw=0.8)
axes[1].set(xlabel="step", ylabel="angle in degrees")
plt.tight_layout()
plt.show()
assert balanced.mean() > 450
