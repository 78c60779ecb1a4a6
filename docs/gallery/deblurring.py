"""
Sharpening a blurred image
==========================

The image that best explains a blurred, noisy picture: gradient descent through a convolution, with total
variation.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import onax as jax
import onax.numpy as jnp
from onax import lax

digits = jnp.asarray(load_digits().images[:16] / 16, jnp.float32)
sharp = jax.image.resize(digits.reshape(4, 4, 8, 8).transpose(0, 2, 1, 3).reshape(32, 32), (128, 128), "cubic")
offsets = jnp.arange(-7, 8)
profile = jnp.exp(-0.5 * (offsets / 2.5) ** 2)
kernel = jnp.outer(profile, profile) / profile.sum() ** 2


def blur(image):
    return lax.conv(image[None, None], kernel[None, None], (1, 1), "SAME")[0, 0]


blurred = blur(sharp) + 0.01 * jax.random.normal(jax.random.key(0), sharp.shape)


def objective(image):
    variation = sum(jnp.sqrt(jnp.diff(image, axis=axis) ** 2 + 1e-4).sum() for axis in (0, 1))
    return 0.5 * jnp.sum((blur(image) - blurred) ** 2) + 2e-3 * variation


@jax.jit
def restore(image):
    def accelerated(i, state):
        image, previous = state
        point = image + (i / (i + 3)) * (image - previous)
        return jnp.clip(point - 0.8 * jax.grad(objective)(point), -0.2, 1.2), image

    return lax.fori_loop(0, 150, accelerated, (image, image))[0]


restored = restore(blurred)
error = lambda image: float(jnp.sqrt(jnp.mean((image - sharp) ** 2)))
print(f"error {error(blurred):.3f} -> {error(restored):.3f}")

fig, axes = plt.subplots(1, 3, figsize=(9, 3.2))
for axis, image, title in zip(axes, (sharp, blurred, restored), ("image", "blurred", "restored")):
    axis.imshow(np.asarray(image), cmap="gray", vmin=0, vmax=1)
    axis.set_title(title)
    axis.axis("off")
plt.show()
assert error(restored) < 0.8 * error(blurred)
