"""Teaches a network of which there is only the .onnx file the other five digits, and exports it again.

    python scripts/demo/finetune.py --out demo-output

Reads five_digits.onnx; writes ten_digits.onnx, finetuned.npz (what run_finetuned.py must reproduce) and finetuning.png.
"""

import argparse
import time
from pathlib import Path

import matplotlib
import numpy as np
from tqdm import tqdm

import data
import onax as jax
import onax.numpy as jnp
from onax import export

matplotlib.use("Agg")
from matplotlib import pyplot as plt

CLASSES, LABELLED, EPOCHS, RATE = 10, 256, 30, 0.02


def replace_last_layer(params, classes, seed=0):
    """The parameters with new ones in place of those whose last dimension is the number of classes that are known."""
    known = min(array.shape[-1] for array in params.values())
    rng = np.random.default_rng(seed)
    changed = dict(params)
    for name, array in params.items():
        if array.shape[-1] == known:
            shape = (*array.shape[:-1], classes)
            changed[name] = jnp.asarray(rng.normal(size=shape) * 0.05, array.dtype)
    return changed


def blank_parameters(params, seed=1):
    """Random weights of the same shapes (He initialisation), and biases of zero."""
    rng = np.random.default_rng(seed)
    scales = {name: np.sqrt(2 / array.shape[0]) * (array.ndim > 1) for name, array in params.items()}
    return {name: jnp.asarray(rng.normal(size=a.shape) * scales[name], a.dtype) for name, a in params.items()}


def accuracy(network, params, images, labels):
    """The share of images that are read correctly."""
    return float(jnp.mean(jnp.argmax(network(params, images), 1) == labels))


def finetune(network, params, training, held_out, title):
    """The trained parameters, and the accuracy after each epoch."""

    def loss(params, images, labels):
        log_p = jax.nn.log_softmax(network(params, images))
        return -jnp.mean(jnp.take_along_axis(log_p, labels[:, None], 1))

    @jax.jit
    def step(params, images, labels):
        return jax.tree.map(lambda p, g: p - RATE * g, params, jax.grad(loss)(params, images, labels))

    schedule = list(data.batches(*training, EPOCHS))
    per_epoch, curve = len(schedule) // EPOCHS, []
    progress = tqdm(schedule, unit="step", desc=title)
    for i, (images, labels) in enumerate(progress, 1):
        params = step(params, images, labels)
        if i % per_epoch == 0:
            curve.append(accuracy(network, params, *held_out))
            progress.set_postfix(accuracy=f"{curve[-1]:.3f}")
    return params, curve


def draw(curves, path):
    """The accuracy by epoch of each way of training."""
    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    for (title, curve), color in zip(curves.items(), ("#1f6fb4", "#999999")):
        axes.plot(range(1, len(curve) + 1), curve, marker="o", color=color, label=title)
    axes.set(
        xlabel="epoch",
        ylabel="held-out digits read correctly",
        title=f"All ten digits from {LABELLED} labelled ones and a file that knew five",
    )
    axes.legend(loc="lower right")
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("demo-output"))
    out = parser.parse_args().out
    started = time.perf_counter()
    network = jax.onnx.load(out / "five_digits.onnx")
    print(f"loaded: {network}")
    (images, labels), held_out = data.load()
    training = images[:LABELLED], labels[:LABELLED]

    start = replace_last_layer(network.params, CLASSES)
    params, curve = finetune(network, start, training, held_out, "fine-tuning on all ten")
    _, from_scratch = finetune(network, blank_parameters(start), training, held_out, "the same from scratch")
    draw({"fine-tuned from the file": curve, "from scratch": from_scratch}, out / "finetuning.png")

    (batch,) = export.symbolic_shape("batch")
    image = jax.ShapeDtypeStruct((batch, 8, 8), np.float32)
    export.export(jax.jit(lambda images: network(params, images)))(image).save(out / "ten_digits.onnx")
    scores = np.asarray(network(params, held_out[0]))
    np.savez(out / "finetuned.npz", images=held_out[0], labels=held_out[1], scores=scores)
    seconds = time.perf_counter() - started
    print(f"accuracy {curve[-1]:.2%} after {EPOCHS} epochs (from scratch {from_scratch[-1]:.2%}) in {seconds:.1f} s")
    print(f"exported: {out / 'ten_digits.onnx'}; drawn: {out / 'finetuning.png'}")


if __name__ == "__main__":
    main()
