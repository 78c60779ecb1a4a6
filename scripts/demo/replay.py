"""Repeats training and prediction from the exported files alone: this process imports onnxruntime and NumPy only."""

import argparse
import sys
from pathlib import Path

import numpy as np
import onnxruntime

TOLERANCE = 1e-5


def relative(got, wanted):
    """The largest difference, relative to the largest value."""
    return float(np.max(np.abs(got - wanted)) / max(float(np.max(np.abs(wanted))), 1e-30))


def replay_training(session, reference):
    """Runs the exported step on the stored batches; returns the largest relative difference."""
    state_names = [i.name for i in session.get_inputs()][:-2]
    image_name, label_name = (i.name for i in session.get_inputs()[-2:])
    outputs = [o.name for o in session.get_outputs()]
    keys = [name.removeprefix("state.") for name in state_names]
    state = [reference[f"start/{key}"] for key in keys]
    worst = 0.0
    for images, labels, wanted in zip(reference["images"], reference["labels"], reference["losses"]):
        feeds = {**dict(zip(state_names, state)), image_name: images, label_name: labels}
        *state, loss = session.run(outputs, feeds)
        worst = max(worst, relative(loss, wanted))
    differences = [relative(s, reference[f"after/{key}"]) for s, key in zip(state, keys)]
    return max(worst, *differences)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("demo-output"))
    out = parser.parse_args().out
    if "onax" in sys.modules or "jax" in sys.modules:
        sys.exit("this process was to run without onax")
    with np.load(out / "reference.npz") as stored:
        reference = dict(stored)

    predict = onnxruntime.InferenceSession(out / "predict.onnx", providers=["CPUExecutionProvider"])
    (predicted,) = predict.run(None, {predict.get_inputs()[0].name: reference["test_images"]})
    accuracy = float(np.mean(predicted == reference["test_labels"]))
    step = onnxruntime.InferenceSession(out / "train_step.onnx", providers=["CPUExecutionProvider"])
    difference = replay_training(step, reference)

    print(f"without onax: accuracy {accuracy:.2%} (with it {float(reference['accuracy']):.2%})")
    print(f"without onax: {len(reference['losses'])} training steps, largest relative difference {difference:.2e}")
    if not np.array_equal(predicted, reference["predicted"]):
        sys.exit("the exported classifier predicts other digits")
    if difference > TOLERANCE:
        sys.exit(f"the difference exceeds {TOLERANCE:g}")


if __name__ == "__main__":
    main()
