"""
How a chaotic system forgets
============================

The derivative of Lorenz's trajectory with respect to its start, by `jacfwd` through a `scan`, beside what two
nearby trajectories do.
"""

import matplotlib.pyplot as plt
import numpy as np

import onax as jax
import onax.numpy as jnp
from onax import lax


def lorenz(p):
    x, y, z = p
    return jnp.stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])


def runge_kutta(p, _, dt=0.01):
    a = lorenz(p)
    b = lorenz(p + 0.5 * dt * a)
    c = lorenz(p + 0.5 * dt * b)
    d = lorenz(p + dt * c)
    p = p + dt / 6 * (a + 2 * b + 2 * c + d)
    return p, p


@jax.jit
def trajectory(start):
    return lax.scan(runge_kutta, start, length=1500)[1]


with jax.enable_x64(True):
    start = jnp.array([1.0, 1.0, 20.0])
    path = trajectory(start)
    growth = jnp.linalg.norm(jax.jit(jax.jacfwd(trajectory))(start), axis=(1, 2))
    apart = jnp.linalg.norm(trajectory(start + 1e-9) - path, axis=1) / 1e-9
    rate = float(jnp.polyfit(jnp.arange(500, 1500) * 0.01, jnp.log(growth[500:]), 1)[0])
print(f"the derivative grows like exp({rate:.2f} t): the greatest Lyapunov exponent is about 0.9")

fig = plt.figure(figsize=(8.5, 3.6))
axes = fig.add_subplot(1, 2, 1, projection="3d")
axes.plot(*np.asarray(path).T, lw=0.5)
axes = fig.add_subplot(1, 2, 2)
axes.semilogy(np.arange(1500) * 0.01, growth, label="norm of the derivative")
axes.semilogy(np.arange(1500) * 0.01, apart, "--", lw=0.8, label="distance of two trajectories / 1e-9")
axes.set_xlabel("time")
axes.legend()
plt.show()
assert 0.5 < rate < 1.4
