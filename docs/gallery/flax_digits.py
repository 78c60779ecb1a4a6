"""
A Flax model
============

A convolutional network of Flax NNX learns handwritten digits on onax. The picture shows the filters of its first layer
and the images that it gets wrong.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from onax.interop import install_as_jax

install_as_jax()

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class Network(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Conv(1, 12, kernel_size=(5, 5), rngs=rngs)
        self.second = nnx.Conv(12, 24, kernel_size=(3, 3), rngs=rngs)
        self.norm = nnx.LayerNorm(24, rngs=rngs)
        self.out = nnx.Linear(2 * 2 * 24, 10, rngs=rngs)

    def __call__(self, x):
        x = nnx.avg_pool(nnx.relu(self.first(x)), (2, 2), strides=(2, 2))
        x = nnx.avg_pool(nnx.relu(self.norm(self.second(x))), (2, 2), strides=(2, 2))
        return self.out(x.reshape(x.shape[0], -1))


digits = load_digits()
order = np.random.default_rng(0).permutation(len(digits.target))
images = jnp.asarray(digits.images[order, :, :, None] / 16, jnp.float32)
labels = jnp.asarray(digits.target[order])
held_out = slice(1500, None)

network = Network(nnx.Rngs(0))
optimizer = nnx.Optimizer(network, optax.adam(3e-3), wrt=nnx.Param)


@nnx.jit
def step(network, optimizer, x, y):
    def loss(network):
        return optax.softmax_cross_entropy_with_integer_labels(network(x), y).mean()

    value, gradient = nnx.value_and_grad(loss)(network)
    optimizer.update(network, gradient)
    return value


losses = []
for key in jax.random.split(jax.random.key(0), 8):
    for batch in jax.random.permutation(key, 1500).reshape(-1, 50):
        losses.append(float(step(network, optimizer, images[batch], labels[batch])))
guesses = jnp.argmax(nnx.jit(lambda network, x: network(x))(network, images[held_out]), axis=1)
wrong = np.flatnonzero(guesses != labels[held_out])
accuracy = 1 - wrong.size / guesses.size
print(f"loss {losses[0]:.2f} -> {losses[-1]:.3f}; {accuracy:.1%} of {guesses.size} held-out digits")

fig = plt.figure(figsize=(9, 3))
left, right = fig.subfigures(1, 2)
for axis, kernel in zip(left.subplots(3, 4).flat, np.asarray(network.first.kernel[...])[:, :, 0].transpose(2, 0, 1)):
    axis.imshow(kernel, cmap="RdBu", vmin=-0.7, vmax=0.7)
    axis.axis("off")
left.suptitle("filters")
for axis in (panels := right.subplots(2, 4)).flat:
    axis.axis("off")
for axis, i in zip(panels.flat, wrong):
    axis.imshow(images[held_out][i, :, :, 0], cmap="gray_r")
    axis.set_title(f"{guesses[i]}, not {labels[held_out][i]}", fontsize=8)
right.suptitle("mistakes")
plt.show()
assert accuracy > 0.95
