"""Predators and prey with an adaptive Runge-Kutta method, dense output and an event."""

import diffrax
import jax
import jax.numpy as jnp
import optimistix

TOLERANCE = 1e-3  # rounding moves the accepted steps of the adaptive method


def field(t, y, args):
    prey, predator = y
    a, b, c, d = args
    return jnp.stack([a * prey - b * prey * predator, -c * predator + d * prey * predator])


@jax.jit
def solve(y0):
    return diffrax.diffeqsolve(
        diffrax.ODETerm(field),
        diffrax.Tsit5(),
        0.0,
        10.0,
        0.1,
        y0,
        args=(1.1, 0.4, 0.4, 0.1),
        saveat=diffrax.SaveAt(ts=jnp.linspace(0, 10, 11)),
        stepsize_controller=diffrax.PIDController(1e-5, 1e-6),
    )


def main():
    solution = solve(jnp.array([10.0, 5.0]))
    event = diffrax.diffeqsolve(
        diffrax.ODETerm(lambda t, y, args: jnp.stack([y[1], -9.8])),
        diffrax.Dopri5(),
        0.0,
        jnp.inf,
        0.05,
        jnp.array([10.0, 0.0]),
        event=diffrax.Event(lambda t, y, args, **kw: y[0], optimistix.Newton(1e-5, 1e-5)),
        stepsize_controller=diffrax.PIDController(1e-6, 1e-6),
    )
    batch = jax.vmap(lambda y: solve(y).ys[-1])(jnp.array([[10.0, 5.0], [4.0, 8.0]]))
    return {"ys": solution.ys, "fall": event.ts[0], "batch": batch}
