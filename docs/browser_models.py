"""Exports what the page "Training in the browser" runs: three functions of onax as ONNX files, and the digits.

initialize.onnx   a seed -> weights and momenta
step.onnx         weights, momenta, a batch of images and labels -> weights, momenta, loss
predict.onnx      weights, images -> probabilities
"""

import json
import shutil
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import onax as jax
import onax.numpy as jnp

BATCH, WIDTH, TRAINED = 64, 64, 1500
SHAPES = {"w1": (64, WIDTH), "b1": (WIDTH,), "w2": (WIDTH, 10), "b2": (10,)}
RUNTIME = ("ort.wasm.min.mjs", "ort-wasm-simd-threaded.mjs", "ort-wasm-simd-threaded.wasm")


def initialize(seed):
    """Weights from a seed, uint32[2], and momenta of 0."""
    keys = jax.random.split(jax.random.wrap_key_data(seed), 2)
    he = jax.nn.initializers.he_normal()
    weights = [he(keys[0], SHAPES["w1"]), jnp.zeros(WIDTH), he(keys[1], SHAPES["w2"]), jnp.zeros(10)]
    return weights, [jnp.zeros_like(w) for w in weights]


def logits(weights, x):
    """The outputs of the network for images f32[n, 64]."""
    w1, b1, w2, b2 = weights
    return jax.nn.relu(x @ w1 + b1) @ w2 + b2


def step(weights, momenta, x, y, rate):
    """One step of gradient descent with momentum."""

    def loss(weights):
        log_p = jax.nn.log_softmax(logits(weights, x))
        return -jnp.mean(jnp.take_along_axis(log_p, y[:, None], axis=1))

    value, grads = jax.value_and_grad(loss)(weights)
    momenta = [0.9 * m + g for m, g in zip(momenta, grads)]
    return [w - rate * m for w, m in zip(weights, momenta)], momenta, value


def predict(weights, x):
    """The probabilities of the ten digits."""
    return jax.nn.softmax(logits(weights, x))


def write(folder, packages):
    """Writes the models, the digits, the page's script and the runtime, from the npm package, to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in SHAPES.values()]
    (rows,) = jax.export.symbolic_shape("rows")
    images = jax.ShapeDtypeStruct((BATCH, 64), jnp.float32)
    labels = jax.ShapeDtypeStruct((BATCH,), jnp.int32)
    names = [*SHAPES, *(f"m_{name}" for name in SHAPES)]
    new = [f"new_{name}" for name in names]
    models = {
        "initialize": (initialize, [jax.ShapeDtypeStruct((2,), jnp.uint32)], ["seed"], names),
        "step": (
            step,
            [weights, weights, images, labels, jnp.float32(0)],
            [*names, "x", "y", "rate"],
            [*new, "loss"],
        ),
        "predict": (predict, [weights, jax.ShapeDtypeStruct((rows, 64), jnp.float32)], [*SHAPES, "x"], ["p"]),
    }
    for name, (function, arguments, inputs, outputs) in models.items():
        exported = jax.export.export(jax.jit(function), input_names=inputs, output_names=outputs)(*arguments)
        exported.save(str(folder / f"{name}.onnx"))
    digits, targets = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(digits))
    data = {"images": digits[order].astype(int).ravel().tolist(), "labels": targets[order].tolist(), "trained": TRAINED}
    (folder / "digits.json").write_text(json.dumps(data, separators=(",", ":")))
    shutil.copy(Path(__file__).with_name("browser") / "train.js", folder)
    for file in RUNTIME:
        shutil.copy(packages / "onnxruntime-web" / "dist" / file, folder)
