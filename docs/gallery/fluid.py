"""
A fluid
=======

Advection by bilinear sampling and projection by a Fourier transform: one jitted `scan` of 150 steps.
"""

import matplotlib.pyplot as plt
import numpy as np

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax.scipy.ndimage import map_coordinates

size, dt = 96, 0.6
y, x = jnp.meshgrid(jnp.arange(float(size)), jnp.arange(float(size)), indexing="ij")
frequency = 2 * jnp.pi * jnp.fft.fftfreq(size)
kx, ky = frequency[None, :], frequency[:, None]
square = (kx**2 + ky**2).at[0, 0].set(1)


def carry_along(field, u, v):
    return map_coordinates(field, [(y - dt * v) % size, (x - dt * u) % size], order=1, mode="wrap")


def project(u, v):
    fu, fv = jnp.fft.fft2(u), jnp.fft.fft2(v)
    divergence = (kx * fu + ky * fv) / square
    return jnp.fft.ifft2(fu - kx * divergence).real, jnp.fft.ifft2(fv - ky * divergence).real


def step(state, _):
    u, v, dye = state
    v = v - 0.08 * dye  # what is dyed is warm, and rises
    u, v = project(carry_along(u, u, v), carry_along(v, u, v))
    dye = 0.999 * carry_along(dye, u, v)
    return (u, v, dye), dye


@jax.jit
def simulate(dye):
    zeros = jnp.zeros((size, size))
    return lax.scan(step, (zeros, zeros, dye), length=150)


blob = jnp.exp(-(((x - 48) / 9) ** 2 + ((y - 74) / 6) ** 2)) + 0.7 * jnp.exp(
    -(((x - 30) / 5) ** 2 + ((y - 60) / 5) ** 2)
)
(u, v, _), dyes = simulate(blob)

fig, axes = plt.subplots(1, 4, figsize=(9, 2.5))
for axis, i in zip(axes, (0, 30, 70, 149)):
    axis.imshow(dyes[i], cmap="magma", vmin=0, vmax=1)
    axis.set_title(f"step {i + 1}")
    axis.axis("off")
plt.show()
divergence = jnp.fft.ifft2(1j * (kx * jnp.fft.fft2(u) + ky * jnp.fft.fft2(v))).real
print(f"greatest divergence {float(jnp.abs(divergence).max()):.1e}, greatest speed {float(jnp.hypot(u, v).max()):.2f}")
assert float(jnp.abs(divergence).max()) < 1e-3 and np.isfinite(dyes).all()
