"""
Which examples move the model
=============================

`vmap(grad(...))` gives the gradient of each example; their norms point at labels that are wrong.
"""

import matplotlib.pyplot as plt
import numpy as np

import onax as jax
import onax.numpy as jnp

rng = np.random.default_rng(1)
x = rng.normal(size=(200, 2)).astype(np.float32) + np.where(np.arange(200) < 100, -1.3, 1.3)[:, None].astype(np.float32)
labels = (np.arange(200) >= 100).astype(np.float32)
flipped = rng.choice(200, 8, replace=False)
labels[flipped] = 1 - labels[flipped]


def loss(w, point, label):
    logit = point @ w[:2] + w[2]
    return jax.nn.softplus(logit) - label * logit


@jax.jit
def step(w):
    return w - 0.5 * jax.grad(lambda w: jax.vmap(loss, (None, 0, 0))(w, x, labels).mean())(w)


w = jnp.zeros(3)
for _ in range(200):
    w = step(w)

each = jax.jit(jax.vmap(jax.grad(loss), (None, 0, 0)))(w, x, labels)
norms = np.asarray(jnp.linalg.norm(each, axis=1))
suspects = np.argsort(norms)[-8:]
print(f"{len(set(suspects) & set(flipped))} of the 8 largest gradients belong to the 8 flipped labels")

fig, axes = plt.subplots(figsize=(6, 4.5))
points = axes.scatter(*x.T, c=labels, s=8 + 25 * norms, cmap="coolwarm")
axes.scatter(*x[flipped].T, facecolors="none", edgecolors="k", s=160, label="flipped on purpose")
axes.legend()
axes.set_title("The area of a point is the norm of its gradient")
plt.show()
assert len(set(suspects) & set(flipped)) >= 6
assert np.allclose(each.mean(axis=0), 0, atol=1e-2)  # together they are the gradient of the mean, which is nearly 0
