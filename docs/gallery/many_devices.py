"""
Weights spread over devices
===========================

The same program runs on one process with eight virtual devices, as here, and by `JAX_NUM_CPU_DEVICES=1 mpiexec -n 8` on
eight processes with one device each: the mesh has an axis for the batch and one for the weights, and `jit` inserts what
the devices exchange.
"""

import os
from collections import Counter

os.environ.setdefault("JAX_NUM_CPU_DEVICES", "8")  # of this process, where it is the only one

import matplotlib.pyplot as plt
import numpy as np

import onax as jax
import onax.numpy as jnp
from onax.sharding import NamedSharding
from onax.sharding import PartitionSpec as P

jax.distributed.initialize()
jax.config.update("onax_separate_devices", True)
mesh = jax.make_mesh((4, 2), ("data", "model"), (jax.sharding.AxisType.Auto,) * 2)


def put(x, spec):
    sharding = NamedSharding(mesh, spec)
    return jax.make_array_from_callback(x.shape, sharding, lambda index: x[index])


rng = np.random.default_rng(0)
x = rng.uniform(-2, 2, (512, 2)).astype(np.float32)
y = (np.sin(3 * x[:, 0]) * np.cos(2 * x[:, 1])).astype(np.float32)
weights = {
    "w1": put(rng.normal(size=(2, 64)).astype(np.float32), P(None, "model")),
    "b1": put(rng.normal(size=64).astype(np.float32), P("model")),
    "w2": put(0.1 * rng.normal(size=64).astype(np.float32), P("model")),
}
x, y = put(x, P("data")), put(y, P("data"))


def loss(weights, x, y):
    hidden = jnp.tanh(x @ weights["w1"] + weights["b1"])
    return jnp.mean((hidden @ weights["w2"] - y) ** 2)


@jax.jit
def step(weights, x, y):
    value, gradient = jax.value_and_grad(loss)(weights, x, y)
    return jax.tree.map(lambda w, g: w - 0.03 * g, weights, gradient), value


explanation = jax.explain(step)(weights, x, y)
losses = []
for _ in range(1500):
    weights, value = step(weights, x, y)
    losses.append(float(value))

if jax.process_index() == 0:
    exchanges = Counter((s.operation, s.bytes) for s in explanation.steps if s.where == "devices")
    for (collective, size), count in sorted(exchanges.items()):
        print(f"{count} {collective} a step: each device receives {size} bytes")
    print(f"mean square error {losses[0]:.3f} -> {losses[-1]:.4f}; w1 lies as {weights['w1'].sharding.spec}")
    fig, axes = plt.subplots(1, 2, figsize=(9, 3))
    axes[0].semilogy(losses)
    axes[0].set(xlabel="step", ylabel="mean square error")
    owner = np.zeros((512 // 16, 64))
    for i, row in enumerate(mesh.devices):
        for j, device in enumerate(row):
            owner[i * 8 : (i + 1) * 8, j * 32 : (j + 1) * 32] = device.id
            axes[1].text(j * 32 + 16, i * 8 + 4, f"device {device.id}", ha="center", va="center")
    axes[1].imshow(owner, cmap="Pastel1", aspect="auto", extent=(0, 64, 32, 0))
    axes[1].set(title="where the hidden units are computed", xlabel="unit", ylabel="rows, in sixteens")
    plt.tight_layout()
    plt.show()
assert losses[-1] < 0.15
