"""A normalizing flow of FlowJAX is fitted to two moons."""

import jax
import jax.numpy as jnp
from flowjax.distributions import Normal, StandardNormal
from flowjax.flows import coupling_flow, masked_autoregressive_flow
from flowjax.train import fit_to_data

TOLERANCE = 5e-3  # three epochs of training


def main():
    t = jnp.linspace(0, jnp.pi, 64)
    moons = jnp.concatenate([jnp.stack([jnp.cos(t), jnp.sin(t)], 1), jnp.stack([1 - jnp.cos(t), 0.5 - jnp.sin(t)], 1)])
    data = moons + 0.05 * jax.random.normal(jax.random.key(0), moons.shape)
    flow = coupling_flow(jax.random.key(1), base_dist=Normal(jnp.zeros(2)), flow_layers=3, nn_width=16)
    fitted, losses = fit_to_data(
        jax.random.key(2), flow, data, learning_rate=5e-3, max_epochs=3, batch_size=32, show_progress=False
    )
    autoregressive = masked_autoregressive_flow(
        jax.random.key(3), base_dist=StandardNormal((2,)), flow_layers=2, nn_width=8
    )
    return {
        "train": jnp.array(losses["train"]),
        "validation": jnp.array(losses["val"]),
        "density": fitted.log_prob(data[:5]),
        "draws": fitted.sample(jax.random.key(4), (3,)),
        "autoregressive": autoregressive.log_prob(data[:5]),
    }
