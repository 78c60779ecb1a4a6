"""
Fitting an ordinary differential equation
=========================================

The parameters of a predator-prey model, from noisy observations: the gradient goes through the solver.
"""

import matplotlib.pyplot as plt
import numpy as np

import onax as jax
import onax.numpy as jnp
from onax.experimental.ode import odeint

times = jnp.linspace(0.0, 10.0, 60)
true = jnp.array([1.1, 0.4, 0.1, 0.4])


def flow(state, t, p):
    prey, predators = state
    return jnp.stack([p[0] * prey - p[1] * prey * predators, p[2] * prey * predators - p[3] * predators])


def solve(p):
    return odeint(flow, jnp.array([10.0, 5.0]), times, p)


noise = 0.3 * jax.random.normal(jax.random.key(0), (60, 2))
observed = solve(true) + noise


@jax.jit
def step(log_p, momentum):
    value, gradient = jax.value_and_grad(lambda q: jnp.mean((solve(jnp.exp(q)) - observed) ** 2))(log_p)
    momentum = 0.9 * momentum + gradient / (1.0 + jnp.linalg.norm(gradient))
    return log_p - 0.01 * momentum, momentum, value


log_p, momentum = jnp.log(jnp.array([0.9, 0.3, 0.12, 0.5])), jnp.zeros(4)
for _ in range(300):
    log_p, momentum, value = step(log_p, momentum)

fitted = np.asarray(jnp.exp(log_p))
print("true  ", np.asarray(true))
print("fitted", fitted.round(3))

fig, axes = plt.subplots(figsize=(7, 4))
axes.plot(times, observed, ".", alpha=0.6)
axes.plot(times, solve(jnp.exp(log_p)))
axes.set(xlabel="time", ylabel="population", title="Observations and the fitted model")
plt.show()
assert np.abs(fitted - true).max() < 0.05
