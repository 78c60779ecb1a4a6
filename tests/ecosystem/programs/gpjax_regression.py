"""A Gaussian process of GPJax is fitted by the marginal likelihood, and predicts."""

import gpjax as gpx
import jax
import jax.numpy as jnp
import optax
from jax import config

config.update("jax_enable_x64", True)


def main():
    x = jnp.linspace(-2, 2, 25)[:, None]
    y = jnp.sin(3 * x) + 0.1 * jax.random.normal(jax.random.key(0), x.shape)
    data = gpx.Dataset(X=x, y=y)
    prior = gpx.gps.Prior(mean_function=gpx.mean_functions.Constant(), kernel=gpx.kernels.Matern52())
    posterior = prior * gpx.likelihoods.Gaussian()
    objective = lambda p, d: -gpx.objectives.conjugate_mll(p, d)
    fitted, history = gpx.fit(
        model=posterior,
        objective=objective,
        train_data=data,
        optim=optax.adam(0.05),
        num_iters=50,
        verbose=False,
        key=jax.random.key(1),
    )
    latent = fitted.predict(jnp.linspace(-2, 2, 6)[:, None], train_data=data)
    return {"history": history[::10], "mean": latent.mean, "deviation": jnp.sqrt(jnp.diag(latent.covariance()))}
