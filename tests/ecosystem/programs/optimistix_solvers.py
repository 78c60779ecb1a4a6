"""Roots, least squares, minima and fixed points, with gradients through the solutions."""

import jax
import jax.numpy as jnp
import optimistix as optx

TOLERANCE = 1e-3  # solvers stop at 1e-5


def main():
    root = lambda a: optx.root_find(lambda y, a: y**3 + a * y - 1.0, optx.Newton(1e-6, 1e-6), jnp.array(0.5), a).value
    t = jnp.linspace(0, 2, 20)
    observed = 2.5 * jnp.exp(-1.3 * t) + 0.5

    def residual(y, _):
        return y[0] * jnp.exp(-y[1] * t) + y[2] - observed

    rosenbrock = lambda y, _: 100 * (y[1] - y[0] ** 2) ** 2 + (1 - y[0]) ** 2
    levenberg = optx.least_squares(residual, optx.LevenbergMarquardt(1e-5, 1e-5), jnp.ones(3))
    dogleg = optx.least_squares(residual, optx.Dogleg(1e-5, 1e-5), jnp.ones(3))
    bfgs = optx.minimise(rosenbrock, optx.BFGS(1e-5, 1e-6), jnp.array([-0.5, 1.0]), max_steps=400)
    simplex = optx.minimise(rosenbrock, optx.NelderMead(1e-5, 1e-6), jnp.array([-0.5, 1.0]), max_steps=1000)
    fixed = jax.jit(
        lambda a: (
            optx.fixed_point(lambda y, a: jnp.cos(a * y), optx.FixedPointIteration(1e-6, 1e-6), jnp.array(0.4), a).value
        )
    )
    bisection = optx.root_find(
        lambda y, _: y**2 - 2, optx.Bisection(1e-6, 1e-6), jnp.array(1.0), options={"lower": 0.0, "upper": 2.0}
    )
    return {
        "root": root(2.0),
        "slope": jax.grad(root)(2.0),
        "levenberg": levenberg.value,
        "dogleg": dogleg.value,
        "bfgs": bfgs.value,
        "simplex": simplex.value,
        "fixed": fixed(1.1),
        "fixed_slope": jax.grad(fixed)(1.1),
        "bisection": bisection.value,
    }
