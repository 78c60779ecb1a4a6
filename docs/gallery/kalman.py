"""
Tracking with a Kalman filter
=============================

A filter is a `lax.scan` over measurements; `vmap` runs it on many tracks at once, and `grad` of the
likelihood finds the noise of the sensor.
"""

import matplotlib.pyplot as plt
import numpy as np

import onax as jax
import onax.numpy as jnp
from onax import lax

dt, steps = 0.1, 150
A = jnp.array([[1, 0, dt, 0], [0, 1, 0, dt], [0, 0, 1, 0], [0, 0, 0, 1]], jnp.float32)
H = jnp.eye(2, 4)
Q = 0.02 * jnp.diag(jnp.array([dt**2, dt**2, 1.0, 1.0]))


def simulate(key, sensor=0.5):
    def move(state, keys):
        state = A @ state + jnp.sqrt(jnp.diag(Q)) * jax.random.normal(keys[0], (4,))
        return state, (state, H @ state + sensor * jax.random.normal(keys[1], (2,)))

    keys = jax.random.split(key, (steps, 2))
    return lax.scan(move, jnp.array([0.0, 0.0, 1.0, 0.5]), keys)[1]


def kalman(sensor, measured):
    R = sensor**2 * jnp.eye(2)

    def update(carry, z):
        mean, cov = A @ carry[0], A @ carry[1] @ A.T + Q
        S = H @ cov @ H.T + R
        gain = jnp.linalg.solve(S, H @ cov).T
        innovation = z - H @ mean
        log_p = -0.5 * (innovation @ jnp.linalg.solve(S, innovation) + jnp.linalg.slogdet(2 * jnp.pi * S)[1])
        mean, cov = mean + gain @ innovation, cov - gain @ H @ cov
        return (mean, cov), (mean, log_p)

    _, (means, log_p) = lax.scan(update, (jnp.zeros(4), jnp.eye(4)), measured)
    return means, log_p.sum()


states, measured = jax.vmap(simulate)(jax.random.split(jax.random.key(1), 8))


@jax.jit
def step(log_sensor):
    total = lambda s: -jnp.mean(jax.vmap(kalman, in_axes=(None, 0))(jnp.exp(s), measured)[1])
    return log_sensor - 0.002 * jax.grad(total)(log_sensor)


log_sensor = jnp.log(1.5)
for _ in range(60):
    log_sensor = step(log_sensor)
sensor = float(jnp.exp(log_sensor))
means, _ = jax.jit(kalman)(sensor, measured[0])
error = lambda positions: float(jnp.sqrt(jnp.mean((positions - states[0, :, :2]) ** 2)))
print(f"noise of the sensor: {sensor:.2f} (true 0.50); error {error(measured[0]):.2f} -> {error(means[:, :2]):.2f}")

fig, axes = plt.subplots(figsize=(6, 4.5))
axes.plot(*np.asarray(states[0, :, :2]).T, label="true path")
axes.plot(*np.asarray(measured[0]).T, ".", ms=3, label="measured")
axes.plot(*np.asarray(means[:, :2]).T, label="filtered")
axes.legend()
plt.show()
assert abs(sensor - 0.5) < 0.1 and error(means[:, :2]) < 0.7 * error(measured[0])
