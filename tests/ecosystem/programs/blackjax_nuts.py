"""NUTS with window adaptation on a correlated Gaussian."""

import blackjax
import jax
import jax.numpy as jnp

TOLERANCE = 0.12  # chains part in float32: moments of the posterior are compared

precision = jnp.array([[2.0, 0.8], [0.8, 1.0]])


def log_density(x):
    return -0.5 * x @ precision @ x


def main():
    warmup = blackjax.window_adaptation(blackjax.nuts, log_density)
    (state, parameters), _ = warmup.run(jax.random.key(0), jnp.ones(2), num_steps=300)
    kernel = blackjax.nuts(log_density, **parameters)

    @jax.jit
    def sample(state, keys):
        def step(state, key):
            state, info = kernel.step(key, state)
            return state, (state.position, info.acceptance_rate)

        return jax.lax.scan(step, state, keys)

    _, (positions, acceptance) = sample(state, jax.random.split(jax.random.key(1), 2000))
    return {"covariance": jnp.cov(positions.T), "acceptance": acceptance.mean()}
