"""Schedules, clipping, masks, accumulation and different optimizers for different parameters."""

import jax
import jax.numpy as jnp
import optax

TOLERANCE = 1e-3  # 60 steps, of which some divide by small second moments


def main():
    target = jnp.arange(6.0).reshape(2, 3)
    params = {"fast": jnp.ones((2, 3)), "slow": jnp.zeros(3)}
    schedule = optax.warmup_cosine_decay_schedule(0.0, 0.3, 10, 60, 0.01)
    optimizers = {
        "chain": optax.chain(
            optax.clip_by_global_norm(1.0), optax.scale_by_adam(), optax.scale_by_schedule(lambda i: -schedule(i))
        ),
        "multi": optax.multi_transform(
            {"a": optax.adamw(0.1, weight_decay=0.01), "b": optax.sgd(0.05, momentum=0.9, nesterov=True)},
            {"fast": "a", "slow": "b"},
        ),
        "lion": optax.lion(0.05),
        "rmsprop": optax.masked(optax.rmsprop(0.05), {"fast": True, "slow": False}),
        "steps": optax.MultiSteps(optax.adagrad(0.3), every_k_schedule=2),
        "injected": optax.inject_hyperparams(optax.adam)(learning_rate=schedule),
        "lookahead": optax.adafactor(0.1),
    }

    def loss(params):
        return jnp.sum(optax.huber_loss(params["fast"] + params["slow"], target))

    results = {"schedule": jnp.array([schedule(i) for i in range(0, 60, 10)])}
    for name, optimizer in optimizers.items():

        @jax.jit
        def step(carry, _, optimizer=optimizer):
            params, state = carry
            value, gradient = jax.value_and_grad(loss)(params)
            updates, state = optimizer.update(gradient, state, params)
            return (optax.apply_updates(params, updates), state), value

        _, losses = jax.lax.scan(step, (params, optimizer.init(params)), None, length=60)
        results[name] = losses[::12]
    return results
