"""
A ray marcher
=============

A scene is a distance function; rays walk along it in a `fori_loop`, and `grad` of the distance is the normal
of a surface.
"""

import matplotlib.pyplot as plt
import numpy as np

import onax as jax
import onax.numpy as jnp
from onax import lax


def distance(p):
    ball = jnp.linalg.norm(p - jnp.array([0.0, 0.2, 0.0])) - 0.8
    ring = jnp.hypot(jnp.hypot(p[0] - 0.3, p[2] + 0.4) - 1.3, p[1] + 0.3) - 0.22
    blend = jnp.clip(0.5 + 0.5 * (ring - ball) / 0.3, 0, 1)
    smooth = ring + (ball - ring) * blend - 0.3 * blend * (1 - blend)
    return jnp.minimum(smooth, p[1] + 0.9)


def march(origin, direction, steps=70):
    return lax.fori_loop(0, steps, lambda _, t: t + distance(origin + t * direction), jnp.float32(0))


light = jnp.array([0.6, 0.7, -0.4])


def color(pixel):
    eye = jnp.array([0.0, 0.9, -4.0])
    ray = jnp.array([pixel[0], pixel[1] - 0.25, 1.8])
    ray = ray / jnp.linalg.norm(ray)
    t = march(eye, ray)
    point = eye + t * ray
    normal = jax.grad(distance)(point)
    toward = light / jnp.linalg.norm(light)
    start = point + 0.02 * normal
    shadow = march(start, toward, 40) > 5
    diffuse = jnp.clip(normal @ toward, 0, 1) * jnp.where(shadow, 1.0, 0.25)
    base = jnp.where(point[1] < -0.88, jnp.array([0.55, 0.6, 0.65]), jnp.array([0.95, 0.55, 0.25]))
    sky = jnp.array([0.75, 0.85, 1.0]) * (0.6 + 0.4 * pixel[1])
    return jnp.where(t < 12, base * (0.2 + 0.8 * diffuse), sky)


width, height = 200, 130
x, y = jnp.meshgrid(jnp.linspace(-1.2, 1.2, width), jnp.linspace(0.78, -0.78, height))
image = jax.jit(jax.vmap(jax.vmap(color)))(jnp.stack([x, y], axis=-1))

fig, axes = plt.subplots(figsize=(7, 4.6))
axes.imshow(np.clip(np.asarray(image), 0, 1) ** (1 / 1.5))
axes.axis("off")
plt.show()
assert image.shape == (height, width, 3) and bool(jnp.isfinite(image).all())
