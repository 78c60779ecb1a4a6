"""Gaussian processes of tinygp: hyperparameters are fitted, a quasiseparable kernel scales linearly."""

import jax
import jax.numpy as jnp
import optax
from tinygp import GaussianProcess, kernels, transforms

TOLERANCE = 2e-3  # float32 Cholesky of a matrix whose condition is some thousands


def main():
    x = jnp.sort(jax.random.uniform(jax.random.key(0), (30,), maxval=5.0))
    y = jnp.sin(2 * x) + 0.1 * jax.random.normal(jax.random.key(1), (30,))

    def process(params):
        kernel = jnp.exp(params["amplitude"]) * kernels.Matern52(jnp.exp(params["scale"]))
        return GaussianProcess(kernel, x, diag=jnp.exp(params["noise"]))

    params = {"amplitude": jnp.array(0.0), "scale": jnp.array(0.0), "noise": jnp.array(-2.0)}
    optimizer = optax.adam(0.05)
    state = optimizer.init(params)

    @jax.jit
    def step(params, state):
        value, gradient = jax.value_and_grad(lambda p: -process(p).log_probability(y))(params)
        updates, state = optimizer.update(gradient, state)
        return optax.apply_updates(params, updates), state, value

    losses = []
    for _ in range(40):
        params, state, value = step(params, state)
        losses.append(value)
    _, conditioned = process(params).condition(y, jnp.linspace(0, 5, 7))
    fast = GaussianProcess(
        kernels.quasisep.Matern32(scale=0.7) + kernels.quasisep.Celerite(1.0, 0.5, 0.2, 0.1), x, diag=0.05
    )
    grid = GaussianProcess(
        transforms.Cholesky(jnp.eye(2) + 0.3, kernels.ExpSquared()),
        jax.random.normal(jax.random.key(2), (8, 2)),
        diag=0.1,
    )
    return {
        "losses": jnp.stack(losses)[::4],
        "mean": conditioned.mean,
        "variance": conditioned.variance,
        "fast": fast.log_probability(y),
        "grid": grid.log_probability(jnp.ones(8)),
    }
