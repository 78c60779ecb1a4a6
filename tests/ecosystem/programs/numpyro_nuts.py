"""Bayesian regression with NUTS."""

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS, Predictive

TOLERANCE = 0.08  # chains part after some hundred steps in float32: means and deviations of the posterior are compared


def model(x, y=None):
    slope = numpyro.sample("slope", dist.Normal(0.0, 2.0))
    offset = numpyro.sample("offset", dist.Normal(0.0, 2.0))
    noise = numpyro.sample("noise", dist.HalfNormal(1.0))
    with numpyro.plate("data", len(x)):
        numpyro.sample("y", dist.Normal(slope * x + offset, noise), obs=y)


def main():
    x = jnp.linspace(-1, 1, 40)
    y = 1.5 * x + 0.5 + 0.3 * jax.random.normal(jax.random.key(0), (40,))
    mcmc = MCMC(NUTS(model), num_warmup=300, num_samples=700, progress_bar=False)
    mcmc.run(jax.random.PRNGKey(1), x, y)
    samples = mcmc.get_samples()
    predicted = Predictive(model, samples)(jax.random.PRNGKey(2), x)["y"]
    return {
        "means": jnp.stack([v.mean() for v in samples.values()]),
        "scale": jnp.stack([v.std() for v in samples.values()]),
        "predicted": predicted.mean(0),
    }
