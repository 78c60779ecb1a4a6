"""A stochastic differential equation over a virtual Brownian tree; a stiff one with an implicit method."""

import diffrax
import jax
import jax.numpy as jnp


@jax.jit
def path(key):
    motion = diffrax.VirtualBrownianTree(0.0, 1.0, 1e-3, shape=(), key=key)
    terms = diffrax.MultiTerm(
        diffrax.ODETerm(lambda t, y, args: -y), diffrax.ControlTerm(lambda t, y, args: 0.3 + 0.1 * y, motion)
    )
    return diffrax.diffeqsolve(
        terms, diffrax.Heun(), 0.0, 1.0, 0.05, 1.0, saveat=diffrax.SaveAt(ts=jnp.linspace(0, 1, 5))
    ).ys


@jax.jit
def robertson(y0):
    def field(t, y, args):
        a = -0.04 * y[0] + 1e2 * y[1] * y[2]
        c = 3e3 * y[1] ** 2
        return jnp.stack([a, -a - c, c])

    return diffrax.diffeqsolve(
        diffrax.ODETerm(field),
        diffrax.Kvaerno5(),
        0.0,
        10.0,
        1e-2,
        y0,
        stepsize_controller=diffrax.PIDController(1e-4, 1e-6),
    ).ys[-1]


def main():
    paths = jax.vmap(path)(jax.random.split(jax.random.key(0), 4))
    return {"paths": paths, "stiff": robertson(jnp.array([1.0, 0.0, 0.0]))}


TOLERANCE = 1e-3  # adaptive steps
