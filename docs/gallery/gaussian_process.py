"""
Gaussian process regression
===========================

The length scale and the noise come from the gradient of the marginal likelihood, through a Cholesky
factorization.
"""

import matplotlib.pyplot as plt
import numpy as np

import onax as jax
import onax.numpy as jnp
from onax.scipy.linalg import cho_solve

key_x, key_y = jax.random.split(jax.random.key(3))
x = jnp.sort(jax.random.uniform(key_x, (30,), minval=-4, maxval=4))
y = jnp.sin(1.5 * x) + 0.15 * jax.random.normal(key_y, (30,))


def kernel(params, a, b):
    return jnp.exp(2 * params["amplitude"] - 0.5 * ((a[:, None] - b) / jnp.exp(params["length"])) ** 2)


def factor(params):
    return jnp.linalg.cholesky(kernel(params, x, x) + (jnp.exp(2 * params["noise"]) + 1e-6) * jnp.eye(30))


def negative_log_likelihood(params):
    L = factor(params)
    return 0.5 * y @ cho_solve((L, True), y) + jnp.log(jnp.diag(L)).sum()


@jax.jit
def step(params):
    gradient = jax.grad(negative_log_likelihood)(params)
    return jax.tree.map(lambda p, g: p - 0.02 * jnp.clip(g, -5, 5), params, gradient)


params = {"amplitude": jnp.float32(0), "length": jnp.float32(0), "noise": jnp.float32(-1)}
for _ in range(200):
    params = step(params)
print({name: round(float(jnp.exp(value)), 3) for name, value in params.items()})

grid = jnp.linspace(-5, 5, 200)
L, cross = factor(params), kernel(params, x, grid)
mean = cross.T @ cho_solve((L, True), y)
variance = jnp.exp(2 * params["amplitude"]) - jnp.sum(cross * cho_solve((L, True), cross), axis=0)
low, high = (np.asarray(mean + s * 2 * jnp.sqrt(variance)) for s in (-1, 1))

fig, axes = plt.subplots(figsize=(7, 3.6))
axes.fill_between(grid, low, high, alpha=0.2)
axes.plot(grid, mean, label="mean and two standard deviations")
axes.plot(x, y, "k.", label="data")
axes.plot(grid, np.sin(1.5 * grid), "--", lw=1, label="truth")
axes.legend()
plt.show()
assert 0.08 < float(jnp.exp(params["noise"])) < 0.3
