"""TensorFlow Probability's JAX substrate: Hamiltonian Monte Carlo, optimizers, a state space model."""

import jax
import jax.numpy as jnp
from tensorflow_probability.substrates import jax as tfp

TOLERANCE = 1e-2  # optimizers stop at their own tolerances; short chains of leapfrog steps

tfd = tfp.distributions


def main():
    target = tfd.MultivariateNormalDiag(jnp.array([1.0, -2.0]), jnp.array([0.5, 1.5]))
    kernel = tfp.mcmc.HamiltonianMonteCarlo(target.log_prob, step_size=0.2, num_leapfrog_steps=4)
    states, accepted = jax.jit(
        lambda key: tfp.mcmc.sample_chain(
            20, current_state=jnp.zeros(2), kernel=kernel, seed=key, trace_fn=lambda _, r: r.is_accepted
        )
    )(jax.random.PRNGKey(0))

    def quadratic(x):
        return jnp.sum((x - jnp.array([1.0, 2.0, 3.0])) ** 2 * jnp.array([1.0, 5.0, 0.5]))

    lbfgs = tfp.optimizer.lbfgs_minimize(jax.value_and_grad(quadratic), jnp.zeros(3))
    root = tfp.math.find_root_chandrupatla(lambda x: x**3 - 2.0, 0.0, 2.0)
    model = tfp.sts.LocalLinearTrend(observed_time_series=None)
    series = jnp.arange(12.0) * 0.3 + jnp.sin(jnp.arange(12.0))
    ssm = model.make_state_space_model(
        12, [jnp.array(0.1), jnp.array(0.05)], initial_state_prior=tfd.MultivariateNormalDiag(jnp.zeros(2), jnp.ones(2))
    )
    ode = tfp.math.ode.BDF(rtol=1e-4, atol=1e-5).solve(
        lambda t, y: -2.0 * y, 0.0, jnp.array([1.0]), solution_times=jnp.array([0.5, 1.0])
    )
    return {
        "states": states,
        "accepted": accepted,
        "lbfgs": lbfgs.position,
        "root": root.estimated_root,
        "series": ssm.log_prob(series[:, None]),
        "ode": ode.states,
    }
