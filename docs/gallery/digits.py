"""
Handwritten digits
==================

A network of two layers, trained by a jitted step on the digits that scikit-learn ships.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import onax as jax
import onax.numpy as jnp

images, labels = load_digits(return_X_y=True)
images = jnp.asarray(images / 16, jnp.float32)
train, test = slice(0, 1500), slice(1500, None)


def network(params, x):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return x @ w + b


def loss(params, x, y):
    log_p = jax.nn.log_softmax(network(params, x))
    return -jnp.mean(jnp.take_along_axis(log_p, y[:, None], axis=1))


@jax.jit
def step(params, x, y):
    value, grads = jax.value_and_grad(loss)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.3 * g, params, grads), value


initialize = jax.nn.initializers.he_normal()
keys = jax.random.split(jax.random.key(0), 2)
params = [(initialize(k, s), jnp.zeros(s[1])) for k, s in zip(keys, [(64, 64), (64, 10)])]
x, y = images[train], jnp.asarray(labels[train])
for _ in range(300):
    params, value = step(params, x, y)

guesses = np.asarray(jnp.argmax(network(params, images[test]), axis=1))
accuracy = (guesses == labels[test]).mean()
print(f"loss {value:.3f}, {accuracy:.1%} of the test digits are right")

wrong = np.flatnonzero(guesses != labels[test])[:10]
fig, axes = plt.subplots(2, 5, figsize=(7, 3.4))
for axis, i in zip(axes.flat, wrong):
    axis.imshow(images[1500 + i].reshape(8, 8), cmap="gray_r")
    axis.set_title(f"{labels[1500 + i]}, read as {guesses[i]}", fontsize=9)
for axis in axes.flat:
    axis.axis("off")
fig.suptitle("Digits that it gets wrong")
plt.show()
assert accuracy > 0.88
