"""
Fine-tuning a network from its ONNX file
========================================

The file is all there is: it is loaded as a function, one layer of it is trained on other data, and it leaves
as a file again.
"""

import os
import tempfile

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime

import onax as jax
import onax.numpy as jnp

folder = tempfile.mkdtemp()
sine, tuned_file = os.path.join(folder, "sine.onnx"), os.path.join(folder, "tuned.onnx")

# Somebody else's network, of which we get the file only: it knows the sine.
x = jnp.linspace(-3, 3, 256)[:, None]


def network(params, x):
    h = jnp.tanh(x @ params["w1"] + params["b1"])
    return jnp.tanh(h @ params["w2"] + params["b2"]) @ params["w3"]


def fit(function, params, target, names, steps=800):
    """Trains the named parameters by gradient descent with momentum; the others stay."""

    def loss(chosen, params):
        return jnp.mean((function({**params, **chosen}, x) - target) ** 2)

    @jax.jit
    def step(chosen, momentum):
        value, g = jax.value_and_grad(loss)(chosen, params)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, g)
        return jax.tree.map(lambda p, m: p - 0.05 * m, chosen, momentum), momentum, value

    chosen = {name: params[name] for name in names}
    momentum = jax.tree.map(jnp.zeros_like, chosen)
    for _ in range(steps):
        chosen, momentum, value = step(chosen, momentum)
    return {**params, **chosen}, float(value)


keys = jax.random.split(jax.random.key(0), 3)
shapes = {"w1": (1, 32), "w2": (32, 32), "w3": (32, 1)}
params = {name: jax.random.normal(k, s) / s[0] ** 0.5 for k, (name, s) in zip(keys, shapes.items())}
params |= {"b1": jnp.zeros(32), "b2": jnp.zeros(32)}
params, _ = fit(network, params, jnp.sin(x), list(params))
jax.export.export(jax.jit(lambda x: network(params, x)))(x).save(sine)

# Here we begin.
model = jax.onnx.load(sine)
weights = dict(model.params)
print({name: value.shape for name, value in weights.items()})
target = jnp.sign(x) * jnp.abs(jnp.sin(x)) ** 0.3
tuned, error = fit(lambda p, x: jax.tree.leaves(model(p, x))[0], weights, target, list(weights), steps=1500)
jax.export.export(jax.jit(lambda x: jax.tree.leaves(model(tuned, x))[0]))(x).save(tuned_file)

session = onnxruntime.InferenceSession(tuned_file, providers=["CPUExecutionProvider"])
(result,) = session.run(None, {session.get_inputs()[0].name: np.asarray(x)})
before = jax.tree.leaves(model(weights, x))[0]
print(f"mean square error {float(jnp.mean((before - target) ** 2)):.4f} -> {error:.4f}")

fig, axes = plt.subplots(figsize=(7, 3.4))
axes.plot(x, target, "k", lw=0.8, label="new target")
axes.plot(x, before, label="the file as it came")
axes.plot(x, result, label="fine-tuned, run by ONNX Runtime")
axes.legend()
plt.show()
assert error < 0.02 and np.mean((result - np.asarray(target)) ** 2) < 0.02
