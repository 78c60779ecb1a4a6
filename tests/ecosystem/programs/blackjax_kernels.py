"""A few steps each of HMC, MALA, random walk, elliptical slice and tempered SMC."""

import blackjax
import jax
import jax.numpy as jnp

TOLERANCE = 1e-3  # some hundred leapfrog steps


def log_density(x):
    return -0.5 * jnp.sum((x - jnp.array([1.0, -1.0])) ** 2 / jnp.array([1.0, 0.5]))


def main():
    algorithms = {
        "hmc": blackjax.hmc(log_density, 0.1, jnp.ones(2), 5),
        "mala": blackjax.mala(log_density, 0.05),
        "walk": blackjax.additive_step_random_walk(log_density, blackjax.mcmc.random_walk.normal(jnp.full(2, 0.3))),
        "slice": blackjax.elliptical_slice(log_density, mean=jnp.zeros(2), cov=jnp.eye(2)),
    }
    results = {}
    for name, algorithm in algorithms.items():
        step = jax.jit(lambda s, k, a=algorithm: (lambda r: (r[0], r[0].position))(a.step(k, s)))
        _, positions = jax.lax.scan(step, algorithm.init(jnp.zeros(2)), jax.random.split(jax.random.key(0), 10))
        results[name] = positions
    smc = blackjax.adaptive_tempered_smc(
        lambda x: -0.5 * jnp.sum(x**2) / 4,
        log_density,
        blackjax.hmc.build_kernel(),
        blackjax.hmc.init,
        blackjax.smc.extend_params({"step_size": 0.2, "inverse_mass_matrix": jnp.eye(2), "num_integration_steps": 4}),
        blackjax.smc.resampling.systematic,
        0.5,
        num_mcmc_steps=3,
    )
    state = smc.init(2 * jax.random.normal(jax.random.key(1), (64, 2)))
    state, info = jax.jit(smc.step)(jax.random.key(2), state)
    return {**results, "smc": state.particles.mean(0), "increment": info.log_likelihood_increment}
