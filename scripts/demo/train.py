"""Trains on real digits with a jitted step, then exports the classifier and the whole training step to .onnx.

    python scripts/demo/train.py --out demo-output

Needs the package's `demo` extra.  Writes predict.onnx, train_step.onnx, weights.npz and reference.npz, which holds
what `replay.py` must reproduce without onax.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from tqdm import tqdm

import data
import model
import onax as jax
import onax.numpy as jnp

HERE = Path(__file__).resolve().parent
EPOCHS = 40
REPLAYED_STEPS = 20


def train(images, labels):
    """The state after all epochs, the state after the replayed steps, and the losses."""
    step = jax.jit(model.train_step)
    state, losses, early = model.initial_state(), [], None
    schedule = list(data.batches(images, labels, EPOCHS))
    progress = tqdm(schedule, unit="step", desc="training")
    for i, (x, y) in enumerate(progress):
        state, loss = step(state, x, y)
        losses.append(float(loss))
        if i + 1 == REPLAYED_STEPS:
            early = jax.device_get(state)
        if i % 20 == 0:
            progress.set_postfix(loss=f"{losses[-1]:.4f}")
    return state, early, losses


def export(target, out, *arguments, **environment):
    """Runs scripts/export.py as a user would."""
    command = [sys.executable, str(HERE.parent / "export.py"), target, "-o", str(out), "--check"]
    for argument in arguments:
        command += ["--arg", argument]
    print("$ python scripts/export.py", " ".join([target.rsplit("/", 1)[-1], *command[3:]]), flush=True)
    subprocess.run(command, check=True, env={**os.environ, **environment})


def flat_names(state):
    """Leaves of the state under the names the exported step gives its inputs."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(state)
    return {jax.tree_util.keystr(path, simple=True, separator="."): np.asarray(leaf) for path, leaf in leaves}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("demo-output"))
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)

    (images, labels), (test_images, test_labels) = data.load()
    started = time.perf_counter()
    state, early, losses = train(images, labels)
    seconds = time.perf_counter() - started
    predict = jax.jit(lambda params, x: jnp.argmax(model.logits(params, x), axis=1))
    predicted = np.asarray(predict(state["params"], test_images))
    accuracy = float(np.mean(predicted == test_labels))
    print(f"held-out accuracy {accuracy:.2%} after {len(losses)} steps in {seconds:.1f} s; last loss {losses[-1]:.4f}")

    weights = {f"{k}{i}": np.asarray(v) for i, layer in enumerate(state["params"]) for k, v in layer.items()}
    np.savez(out / "weights.npz", **weights)
    first_batches = [b for b, _ in zip(data.batches(images, labels, EPOCHS), range(REPLAYED_STEPS))]
    np.savez(
        out / "reference.npz",
        **{f"start/{k}": v for k, v in flat_names(model.initial_state()).items()},
        **{f"after/{k}": v for k, v in flat_names(early).items()},
        losses=np.array(losses[:REPLAYED_STEPS], np.float32),
        images=np.stack([x for x, _ in first_batches]),
        labels=np.stack([y for _, y in first_batches]),
        test_images=test_images,
        test_labels=test_labels,
        predicted=predicted,
        accuracy=accuracy,
    )
    layers = [
        f"{{w: f32[{layer['w'].shape[0]},{layer['w'].shape[1]}], b: f32[{layer['b'].shape[0]}]}}"
        for layer in early["params"]
    ]
    tree = f"[{', '.join(layers)}]"
    export(
        f"{HERE}/trained.py:predict",
        out / "predict.onnx",
        "f32[batch,8,8]",
        ONAX_DEMO_WEIGHTS=str((out / "weights.npz").resolve()),
    )
    export(
        f"{HERE}/model.py:train_step",
        out / "train_step.onnx",
        f"{{params: {tree}, velocity: {tree}}}",
        f"f32[{data.BATCH},8,8]",
        f"i32[{data.BATCH}]",
    )
    if accuracy < 0.96:
        sys.exit(f"accuracy {accuracy:.2%} is below 96 %")


if __name__ == "__main__":
    main()
