"""Trains on real digits in any number of processes: batches are split over some, weights over others.

    python scripts/demo/train_distributed.py --out demo-output/one                  one process
    mpiexec -n 4 python scripts/demo/train_distributed.py --out demo-output/four    four

Needs the package's `demo` and `mpi` extras.  Process 0 shows a progress bar, and at the end writes losses.npy,
weights.npz and predict.onnx.  With `--like FOLDER` the losses must be those of another run to 1e-5.
"""

import argparse
import os
import sys
import time
from pathlib import Path

import numpy as np
from tqdm import tqdm

import data
import model
import onax as jax
import onax.numpy as jnp
from onax.experimental import multihost_utils
from onax.sharding import AxisType, NamedSharding
from onax.sharding import PartitionSpec as P
from train import HERE, export

EPOCHS = 30
# The first layer's columns and the second one's rows lie on different devices; the last layer lies on all.
WEIGHTS = [{"w": P(None, "model"), "b": P("model")}, {"w": P("model"), "b": P()}, {"w": P(), "b": P()}]


def make_mesh(model_parallel):
    """A mesh of all devices: along "data" they share the batch, along "model" the weights."""
    devices = jax.device_count()
    if model_parallel is None:
        model_parallel = 2 if devices % 2 == 0 else 1
    return jax.make_mesh((devices // model_parallel, model_parallel), ("data", "model"), (AxisType.Auto,) * 2)


def spread(tree, shardings):
    """Arrays with these shardings, of values that all processes have; each puts its own parts on its devices."""
    put = lambda x, s: jax.make_array_from_callback(x.shape, s, lambda index: x[index])
    return jax.tree.map(put, tree, shardings)


def train(images, labels, mesh):
    """(parameters after all epochs, losses)."""
    own = jax.tree.map(lambda spec: NamedSharding(mesh, spec), WEIGHTS, is_leaf=lambda x: isinstance(x, P))
    batch = NamedSharding(mesh, P("data"))
    shardings = {"params": own, "velocity": own}
    step = jax.jit(model.train_step, out_shardings=(shardings, NamedSharding(mesh, P())), donate_argnums=0)
    state, losses = spread(model.initial_state(), shardings), []
    schedule = list(data.batches(images, labels, EPOCHS))
    for x, y in tqdm(schedule, unit="step", desc="training", disable=jax.process_index() != 0):
        state, loss = step(state, *spread((x, y), (batch, batch)))
        losses.append(float(loss))
    return state["params"], np.array(losses)


def save(path, write):
    """Writes a file beside its place and then renames it, so that nobody sees half of it."""
    unfinished = path.with_name(f"unfinished-{path.name}")
    write(unfinished)
    os.replace(unfinished, path)


def write_results(out, params, losses):
    """Writes the losses, the weights and the network."""
    out.mkdir(parents=True, exist_ok=True)
    weights = {f"{k}{i}": v for i, layer in enumerate(params) for k, v in layer.items()}
    save(out / "losses.npy", lambda path: np.save(path, losses))
    save(out / "weights.npz", lambda path: np.savez(path, **weights))
    environment = {"ONAX_DEMO_WEIGHTS": str((out / "weights.npz").resolve())}
    export(f"{HERE}/trained.py:predict", out / "predict.onnx", "f32[batch,8,8]", **environment)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("demo-output"))
    parser.add_argument("--like", type=Path, help="the folder of a run that must have had the same losses")
    parser.add_argument("--model-parallel", type=int, help="over how many devices weights are split; by default 2 or 1")
    options = parser.parse_args()

    jax.distributed.initialize()
    mesh = make_mesh(options.model_parallel)
    (images, labels), (test_images, test_labels) = data.load()
    started = time.perf_counter()
    params, losses = train(images, labels, mesh)
    seconds = time.perf_counter() - started
    params = multihost_utils.process_allgather(params, tiled=True)
    if jax.process_index() != 0:
        return
    predicted = np.asarray(jnp.argmax(model.logits(params, test_images), axis=1))
    accuracy = float(np.mean(predicted == test_labels))
    print(
        f"{jax.process_count()} processes, mesh {dict(mesh.shape)}: held-out accuracy {accuracy:.2%} after "
        f"{len(losses)} steps in {seconds:.1f} s; last loss {losses[-1]:.4f}"
    )
    write_results(options.out, params, losses)
    if options.like is not None:
        difference = float(np.max(np.abs(losses - np.load(options.like / "losses.npy"))))
        print(f"largest difference of a loss from the run in {options.like}: {difference:.1e}")
        if difference > 1e-5:
            sys.exit("the losses differ by more than 1e-5")
    if accuracy < 0.9:
        sys.exit(f"accuracy {accuracy:.2%} is below 90 %")


if __name__ == "__main__":
    main()
