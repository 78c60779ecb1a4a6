"""Adaptive quadrature of Quadax, with infinite limits, and derivatives of integrals."""

import jax
import jax.numpy as jnp
import quadax


def main():
    gaussian = lambda x, a: jnp.exp(-a * x**2)
    whole = lambda a: quadax.quadgk(gaussian, [-jnp.inf, jnp.inf], args=(a,))[0]
    return {
        "whole": jax.jit(whole)(1.0),
        "slope": jax.grad(whole)(1.0),
        "peak": quadax.quadcc(lambda x: 1 / (1e-2 + x**2), [-1.0, 0.0, 1.0])[0],
        "tanhsinh": quadax.quadts(lambda x: jnp.sqrt(x), [0.0, 1.0])[0],
        "romberg": quadax.romberg(jnp.cos, [0.0, 2.0])[0],
        "simpson": quadax.simpson(jnp.linspace(0, 1, 9) ** 3, dx=0.125),
        "batch": jax.vmap(whole)(jnp.array([0.5, 1.0, 2.0])),
    }
