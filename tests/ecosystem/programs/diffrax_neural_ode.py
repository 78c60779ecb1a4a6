"""A neural ODE: gradients through the solver by recursive checkpoints, training with Optax."""

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import optax

TOLERANCE = 1e-3  # 15 steps of training through an adaptive solver


class Field(eqx.Module):
    mlp: eqx.nn.MLP

    def __call__(self, t, y, args):
        return self.mlp(y)


def main():
    ts = jnp.linspace(0, 3, 10)
    truth = jnp.stack([jnp.cos(ts), -jnp.sin(ts)], 1)
    model = Field(eqx.nn.MLP(2, 2, 16, 1, activation=jax.nn.softplus, key=jax.random.key(0)))
    optimizer = optax.adam(2e-2)
    state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))

    def loss(model, adjoint):
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(model),
            diffrax.Heun(),
            0.0,
            3.0,
            0.1,
            truth[0],
            saveat=diffrax.SaveAt(ts=ts),
            stepsize_controller=diffrax.PIDController(1e-3, 1e-4),
            adjoint=adjoint,
            max_steps=64,
        )
        return jnp.mean((solution.ys - truth) ** 2)

    @eqx.filter_jit
    def step(model, state):
        value, gradient = eqx.filter_value_and_grad(loss)(model, diffrax.RecursiveCheckpointAdjoint())
        updates, state = optimizer.update(gradient, state)
        return eqx.apply_updates(model, updates), state, value

    losses = []
    for _ in range(15):
        model, state, value = step(model, state)
        losses.append(value)
    return {"losses": jnp.stack(losses)}
