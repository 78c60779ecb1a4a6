"""
A quantised network, exported
=============================

Weights as 8-bit integers with a scale for each column, products in integers: the file is a quarter of the
size.
"""

import os
import tempfile

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
from sklearn.datasets import load_digits

import onax as jax
import onax.numpy as jnp
from onax import lax

images, labels = load_digits(return_X_y=True)
images, labels = jnp.asarray(images / 16, jnp.float32), jnp.asarray(labels)


def network(params, x):
    return jax.nn.relu(x @ params[0]) @ params[1]


@jax.jit
def step(params):
    def loss(params):
        log_p = jax.nn.log_softmax(network(params, images[:1500]))
        return -jnp.take_along_axis(log_p, labels[:1500, None], axis=1).mean()

    return jax.tree.map(lambda p, g: p - 0.5 * g, params, jax.grad(loss)(params))


keys = jax.random.split(jax.random.key(0), 2)
params = [jax.nn.initializers.he_normal()(k, s) for k, s in zip(keys, [(64, 256), (256, 10)])]
for _ in range(300):
    params = step(params)


def quantize(x, axis):
    scale = jnp.max(jnp.abs(x), axis=axis, keepdims=True) / 127
    return jnp.round(x / scale).astype(jnp.int8), scale


def integer_product(x, w, w_scale):
    q, scale = quantize(x, axis=-1)
    return lax.dot(q, w, preferred_element_type=jnp.int32) * scale * w_scale


def quantized(params, x):
    return integer_product(jax.nn.relu(integer_product(x, *params[0])), *params[1])


small = [quantize(w, axis=0) for w in params]
batch = jax.ShapeDtypeStruct((297, 64), jnp.float32)
functions = {"float": lambda x: network(params, x), "int8": lambda x: quantized(small, x)}
folder = tempfile.mkdtemp()

results, sizes = {}, {}
for name, function in functions.items():
    path = os.path.join(folder, f"{name}.onnx")
    jax.export.export(jax.jit(function))(batch).save(path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (logits,) = session.run(None, {session.get_inputs()[0].name: np.asarray(images[1500:])})
    results[name], sizes[name] = logits, os.path.getsize(path)
    right = (logits.argmax(axis=1) == np.asarray(labels[1500:])).mean()
    print(f"{name:5} {sizes[name]:6} bytes, {right:.1%} of the test digits are right")

fig, axes = plt.subplots(figsize=(4.5, 4.5))
axes.plot(results["float"].ravel(), results["int8"].ravel(), ".", ms=2)
axes.set(xlabel="logits in float32", ylabel="logits in integers")
plt.show()
same = (results["float"].argmax(axis=1) == results["int8"].argmax(axis=1)).mean()
assert same > 0.98 and sizes["int8"] < 0.4 * sizes["float"]
