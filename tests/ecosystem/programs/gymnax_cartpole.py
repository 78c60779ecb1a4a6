"""A linear policy balances Gymnax's pole; environments are vmapped and scanned."""

import gymnax
import jax
import jax.numpy as jnp


def main():
    env, params = gymnax.make("CartPole-v1")

    def rollout(key, weights):
        reset, run = jax.random.split(key)
        observation, state = env.reset(reset, params)

        def step(carry, key):
            observation, state = carry
            action = jnp.int32(observation @ weights > 0)
            observation, state, reward, done, _, _ = env.step(key, state, action, params)
            return (observation, state), (reward, done, observation)

        _, (rewards, dones, observations) = jax.lax.scan(step, (observation, state), jax.random.split(run, 50))
        return rewards.sum(), dones.sum(), observations[-1]

    many = jax.jit(jax.vmap(rollout, (0, None)))
    rewards, dones, last = many(jax.random.split(jax.random.key(0), 8), jnp.array([0.1, 0.2, 1.0, 0.5]))
    pendulum, constants = gymnax.make("Pendulum-v1")
    _, state = pendulum.reset(jax.random.key(1), constants)
    path = []
    for i in range(10):
        _, state, reward, _, _, _ = pendulum.step(jax.random.key(i), state, jnp.array([0.5]), constants)
        path.append(reward)
    return {"rewards": rewards, "dones": dones, "last": last, "pendulum": jnp.stack(path).reshape(-1)}
