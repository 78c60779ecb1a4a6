"""Symbolic expressions become Equinox modules, whose numbers are then fitted."""

import equinox as eqx
import jax
import jax.numpy as jnp
import sympy
import sympy2jax


def main():
    x, y = sympy.symbols("x y")
    module = sympy2jax.SymbolicModule([1.5 * sympy.sin(x) + 0.5 * y**2, sympy.Max(x, y) / (1 + sympy.exp(-x))])
    xs = jnp.linspace(-1, 1, 9)
    target = 2.0 * jnp.sin(xs) + 1.0

    @eqx.filter_jit
    @eqx.filter_value_and_grad
    def loss(module):
        first, _ = module(x=xs, y=jnp.ones(9))
        return jnp.mean((first - target) ** 2)

    losses = []
    for _ in range(20):
        value, gradient = loss(module)
        module = eqx.apply_updates(module, jax.tree.map(lambda g: -0.2 * g, gradient))
        losses.append(value)
    first, second = module(x=xs, y=-xs)
    return {"losses": jnp.stack(losses)[::2], "first": first, "second": second}
