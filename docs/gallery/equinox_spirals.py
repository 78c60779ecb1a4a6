"""
An Equinox model
================

`install_as_jax()` makes `import jax` mean onax, so libraries written for JAX run as they are: here a network of Equinox
and an optimizer of Optax separate two spirals. The trained network leaves as an ONNX file, and ONNX Runtime draws the
picture without Equinox.
"""

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime

import onax
from onax.interop import install_as_jax

install_as_jax()

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


def spirals(key, count=400):
    turn = jnp.sqrt(jax.random.uniform(key, (count,))) * 3 * jnp.pi
    label = jnp.arange(count) % 2
    angle = turn + jnp.pi * label
    return jnp.stack([turn * jnp.cos(angle), turn * jnp.sin(angle)], axis=-1) / 10, label


def features(point):
    angles = 2.0 * point[:, None] * jnp.arange(1, 5)
    return jnp.concatenate([point, jnp.sin(angles).ravel(), jnp.cos(angles).ravel()])


network = eqx.nn.MLP(18, "scalar", width_size=64, depth=2, activation=jnp.tanh, key=jax.random.key(0))
points, labels = spirals(jax.random.key(1))
optimizer = optax.adam(3e-3)
state = optimizer.init(eqx.filter(network, eqx.is_array))


@eqx.filter_jit
def step(network, state):
    def loss(network):
        scores = jax.vmap(lambda p: network(features(p)))(points)
        return optax.sigmoid_binary_cross_entropy(scores, labels).mean()

    value, gradient = eqx.filter_value_and_grad(loss)(network)
    updates, state = optimizer.update(gradient, state)
    return eqx.apply_updates(network, updates), state, value


losses = []
for _ in range(600):
    network, state, value = step(network, state)
    losses.append(float(value))
print(f"cross entropy {losses[0]:.3f} -> {losses[-1]:.5f}")

drawn = jax.jit(lambda points: jax.nn.sigmoid(jax.vmap(lambda p: network(features(p)))(points)))
exported = onax.export.export(drawn)(jax.ShapeDtypeStruct((120 * 120, 2), jnp.float32))
session = onnxruntime.InferenceSession(exported.onnx_model_serialized)
side = np.linspace(-1.1, 1.1, 120, dtype=np.float32)
grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
(probability,) = session.run(None, {session.get_inputs()[0].name: grid})

fig, axes = plt.subplots(1, 2, figsize=(8, 3.5))
axes[0].semilogy(losses)
axes[0].set(xlabel="step", ylabel="cross entropy")
axes[1].contourf(side, side, probability.reshape(120, 120), 20, cmap="RdBu_r")
axes[1].scatter(*np.asarray(points).T, c=np.where(labels, "darkred", "navy"), s=4)
axes[1].set_title("drawn by ONNX Runtime")
plt.tight_layout()
plt.show()
assert losses[-1] < 0.02
