"""Variational inference of a hierarchical model with an automatic guide; handlers and effects."""

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro import handlers
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal

TOLERANCE = 1e-2  # 300 stochastic steps


def model(y=None):
    mean = numpyro.sample("mean", dist.Normal(0, 5))
    spread = numpyro.sample("spread", dist.LogNormal(0, 0.5))
    with numpyro.plate("groups", 6):
        theta = numpyro.sample("theta", dist.Normal(mean, spread))
        numpyro.sample("y", dist.StudentT(5.0, theta, 0.7), obs=y)


def main():
    y = jnp.array([1.2, 0.3, 2.5, 1.9, 0.8, 1.4])
    svi = SVI(model, AutoNormal(model), numpyro.optim.Adam(0.03), Trace_ELBO())
    result = svi.run(jax.random.PRNGKey(0), 300, y, progress_bar=False)
    trace = handlers.trace(handlers.seed(model, 3)).get_trace()
    conditioned = handlers.condition(model, {"mean": 1.0, "spread": 0.5})
    log_density, _ = numpyro.infer.util.log_density(conditioned, (y,), {}, {"theta": y})
    return {
        "losses": result.losses[::30],
        "guide": result.params["theta_auto_loc"],
        "draw": trace["theta"]["value"],
        "log_density": log_density,
    }
