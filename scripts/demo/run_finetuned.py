"""Runs the fine-tuned file alone: this process imports onnxruntime and NumPy only."""

import argparse
import sys
from pathlib import Path

import numpy as np
import onnxruntime

from replay import TOLERANCE, relative


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("demo-output"))
    out = parser.parse_args().out
    if "onax" in sys.modules or "jax" in sys.modules:
        sys.exit("this process was to run without onax")
    with np.load(out / "finetuned.npz") as stored:
        images, labels, scores = stored["images"], stored["labels"], stored["scores"]
    session = onnxruntime.InferenceSession(out / "ten_digits.onnx", providers=["CPUExecutionProvider"])
    (got,) = session.run(None, {session.get_inputs()[0].name: images})
    difference, accuracy = relative(got, scores), float(np.mean(np.argmax(got, 1) == labels))
    print(f"without onax: accuracy {accuracy:.2%}, largest relative difference {difference:.2e}")
    if difference > TOLERANCE:
        sys.exit(f"the difference exceeds {TOLERANCE:g}")


if __name__ == "__main__":
    main()
