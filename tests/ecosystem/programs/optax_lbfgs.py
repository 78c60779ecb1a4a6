"""L-BFGS with a zoom line search on Rosenbrock's function."""

import jax
import jax.numpy as jnp
import optax

TOLERANCE = 2e-2  # the path through the valley amplifies rounding; the minimum itself is compared absolutely


def rosenbrock(x):
    return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def main():
    solver = optax.lbfgs()
    value_and_grad = optax.value_and_grad_from_state(rosenbrock)

    def step(carry):
        params, state = carry
        value, grad = value_and_grad(params, state=state)
        updates, state = solver.update(grad, state, params, value=value, grad=grad, value_fn=rosenbrock)
        return optax.apply_updates(params, updates), state

    def unfinished(carry):
        _, state = carry
        count = optax.tree.get(state, "count")
        gradient = optax.tree.get(state, "grad")
        return (count == 0) | ((count < 100) & (optax.tree.norm(gradient) >= 1e-3))

    params = jnp.zeros(6)
    params, _ = jax.jit(lambda c: jax.lax.while_loop(unfinished, step, c))((params, solver.init(params)))
    return {"minimum": params, "value": rosenbrock(params) < 1e-5}
