"""
Modules are pytrees
===================

A class of layers needs no framework: `register_dataclass` makes it a pytree, so `jit`, `grad` and `tree.map`
work on it.
"""

from dataclasses import dataclass, field

import matplotlib.pyplot as plt
import numpy as np

import onax as jax
import onax.numpy as jnp


@jax.tree_util.register_dataclass
@dataclass
class Layer:
    w: jax.Array
    b: jax.Array
    omega: float = field(metadata={"static": True}, default=1.0)

    def __call__(self, x):
        return jnp.sin(self.omega * (x @ self.w + self.b))


@jax.tree_util.register_dataclass
@dataclass
class Siren:
    """A network of sines, which represents an image as a function of the place."""

    layers: list
    out: jax.Array

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x @ self.out


def create(key, width=64, depth=3):
    keys = jax.random.split(key, depth + 1)
    layers = []
    for i in range(depth):
        inputs, omega = (2, 12.0) if i == 0 else (width, 1.0)
        bound = 1 / inputs if i == 0 else (6 / inputs) ** 0.5
        w = jax.random.uniform(keys[i], (inputs, width), minval=-bound, maxval=bound)
        layers.append(Layer(w, jnp.zeros(width), omega))
    return Siren(layers, 0.1 * jax.random.normal(keys[-1], (width,)))


grid = jnp.stack(jnp.meshgrid(jnp.linspace(-1, 1, 48), jnp.linspace(-1, 1, 48)), axis=-1)
radius = jnp.linalg.norm(grid - jnp.array([0.1, -0.1]), axis=-1)
target = jnp.sign(jnp.sin(9 * radius + 3 * jnp.arctan2(grid[..., 1] + 0.1, grid[..., 0] - 0.1)))


@jax.jit
def step(model, m, v, i):
    value, g = jax.value_and_grad(lambda model: jnp.mean((model(grid) - target) ** 2))(model)
    m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, m, g)
    v = jax.tree.map(lambda a, b: 0.999 * a + 0.001 * b * b, v, g)
    rate = 2e-3 * jnp.sqrt(1 - 0.999**i) / (1 - 0.9**i)
    return jax.tree.map(lambda p, a, b: p - rate * a / (jnp.sqrt(b) + 1e-8), model, m, v), m, v, value


model = create(jax.random.key(0))
m = v = jax.tree.map(jnp.zeros_like, model)
values = []
for i in range(1, 501):
    model, m, v, value = step(model, m, v, float(i))
    values.append(float(value))
print(f"{sum(a.size for a in jax.tree.leaves(model))} numbers in {len(jax.tree.leaves(model))} leaves")
print(f"mean square error {values[0]:.3f} -> {values[-1]:.3f}")
print(jax.tree_util.keystr(jax.tree_util.tree_leaves_with_path(model)[0][0]), "is the first leaf")

fig, axes = plt.subplots(1, 3, figsize=(9, 3))
for axis, picture, title in zip(axes, [target, model(grid)], ["image", "network"]):
    axis.imshow(np.asarray(picture), cmap="gray", vmin=-1, vmax=1)
    axis.set_title(title)
    axis.axis("off")
axes[2].semilogy(values)
axes[2].set(title="error", xlabel="step")
plt.show()
assert values[-1] < 0.3
