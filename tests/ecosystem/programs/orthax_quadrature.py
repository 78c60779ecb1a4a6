"""Orthogonal polynomials of Orthax: Gauss rules, Clenshaw sums, recurrences, a fit and its gradient."""

import jax
import jax.numpy as jnp
import orthax

TOLERANCE = 1e-3  # nodes are eigenvalues in float32


def main():
    x, w = orthax.legendre.leggauss(8)
    h, v = orthax.hermite.hermgauss(6)
    coefficients = jnp.array([1.0, -0.5, 0.25, 2.0])
    t = jnp.linspace(-1, 1, 15)
    fit = lambda y: orthax.chebyshev.chebfit(t, y, 4)
    rec = orthax.recurrence.Legendre()
    return {
        "nodes": x,
        "weights": w,
        "integral": jnp.sum(w * jnp.exp(x)),
        "hermite": jnp.sum(v * h**2),
        "value": jax.jit(orthax.legendre.legval)(t, coefficients),
        "derivative": orthax.chebyshev.chebder(coefficients),
        "product": orthax.hermite.hermmul(coefficients, coefficients),
        "fit": fit(jnp.cos(2 * t)),
        "slope": jax.grad(lambda y: fit(y)[0])(jnp.cos(2 * t)),
        "recurrence": orthax.orthval(t, coefficients, rec),
    }
