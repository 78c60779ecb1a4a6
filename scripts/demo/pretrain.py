"""Trains a network that knows the digits 0 to 4 alone and exports it: the file that finetune.py begins with.

python scripts/demo/pretrain.py --out demo-output
"""

import argparse
from pathlib import Path

import numpy as np
from tqdm import tqdm

import data
import model
import onax as jax
import onax.numpy as jnp
from onax import export

KNOWN = 5  # digits below this one
EPOCHS = 30


def forward(params, images):
    """Unnormalised log probabilities (batch, 5) of images (batch, 8, 8)."""
    return model.logits(params, images)


def train():
    """The trained parameters."""
    (images, labels), _ = data.load()
    images, labels = images[labels < KNOWN], labels[labels < KNOWN]
    state = model.initial_state()
    for side in state.values():
        side[-1] = {"w": side[-1]["w"][:, :KNOWN], "b": side[-1]["b"][:KNOWN]}

    def loss(params, images, labels):
        log_p = jax.nn.log_softmax(model.logits(params, images))
        return -jnp.mean(jnp.take_along_axis(log_p, labels[:, None], 1))

    @jax.jit
    def step(state, images, labels):
        grads = jax.grad(loss)(state["params"], images, labels)
        velocity = jax.tree.map(lambda v, g: model.MOMENTUM * v - model.LEARNING_RATE * g, state["velocity"], grads)
        return {"params": jax.tree.map(jnp.add, state["params"], velocity), "velocity": velocity}

    for x, y in tqdm(list(data.batches(images, labels, EPOCHS)), unit="step", desc="pretraining on 0 to 4"):
        state = step(state, x, y)
    return jax.device_get(state["params"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("demo-output"))
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    params = train()
    (batch,) = export.symbolic_shape("batch")
    images = jax.ShapeDtypeStruct((batch, 8, 8), np.float32)
    exported = export.export(jax.jit(lambda images: forward(params, images)))(images)
    exported.save(out / "five_digits.onnx")
    print(f"exported: {out / 'five_digits.onnx'}, which knows the digits 0 to 4")


if __name__ == "__main__":
    main()
