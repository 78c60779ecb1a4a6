"""JAXopt: L-BFGS, projected gradient, proximal gradient, Gauss-Newton and implicit differentiation."""

import jax
import jax.numpy as jnp
import jaxopt
from jaxopt import projection, prox

TOLERANCE = 2e-3  # solvers stop at their own tolerances


def main():
    x = jax.random.normal(jax.random.PRNGKey(0), (30, 5))
    w = jnp.array([1.0, 0.0, -2.0, 0.0, 0.5])
    y = x @ w + 0.1 * jax.random.normal(jax.random.PRNGKey(1), (30,))

    def ridge(w, strength):
        return jnp.mean((x @ w - y) ** 2) + strength * jnp.sum(w**2)

    lbfgs = jaxopt.LBFGS(ridge, maxiter=50, tol=1e-4)
    simplex = jaxopt.ProjectedGradient(ridge, projection.projection_simplex, maxiter=200)
    lasso = jaxopt.ProximalGradient(lambda w: jnp.mean((x @ w - y) ** 2), prox.prox_lasso, maxiter=200)
    levenberg = jaxopt.LevenbergMarquardt(lambda p: jnp.exp(p[0] * jnp.linspace(0, 1, 9)) * p[1] - 2.0, maxiter=50)
    start = jnp.zeros(5)
    slope = jax.jacobian(lambda s: lbfgs.run(start, s).params)(0.1)
    quadratic = jaxopt.BoxCDQP(maxiter=50).run(
        start, params_obj=(x.T @ x, -x.T @ y), params_ineq=(-jnp.ones(5), jnp.ones(5))
    )
    root = jaxopt.Bisection(lambda v, a: v**3 - a, 0.0, 3.0, maxiter=40).run(None, 5.0)
    return {
        "lbfgs": lbfgs.run(start, 0.1).params,
        "simplex": simplex.run(jnp.ones(5) / 5, hyperparams_proj=1.0, strength=0.0).params,
        "lasso": lasso.run(start, hyperparams_prox=0.2).params,
        "levenberg": levenberg.run(jnp.array([0.5, 1.0])).params,
        "slope": slope,
        "quadratic": quadratic.params,
        "root": root.params,
        "losses": jaxopt.objective.multiclass_logreg(jnp.ones((5, 3)) * jnp.arange(3.0), (x, jnp.arange(30) % 3)),
    }
