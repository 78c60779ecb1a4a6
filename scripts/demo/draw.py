"""Draws what the classifier got right and wrong: the confusion matrix beside the misread digits."""

import argparse
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
from matplotlib import pyplot as plt


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("demo-output"))
    out = parser.parse_args().out
    with np.load(out / "reference.npz") as stored:
        images, labels, predicted = stored["test_images"], stored["test_labels"], stored["predicted"]
        accuracy = float(stored["accuracy"])

    confusion = np.zeros((10, 10), int)
    np.add.at(confusion, (labels, predicted), 1)
    misread = np.flatnonzero(labels != predicted)

    figure = plt.figure(figsize=(11, 5.2), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[1.1, 1])
    axes = left.subplots()
    axes.imshow(np.log1p(confusion), cmap="Blues")
    for i, j in np.ndindex(confusion.shape):
        if confusion[i, j]:
            axes.text(j, i, confusion[i, j], ha="center", va="center", color="white" if i == j else "black", fontsize=8)
    axes.set(xlabel="read as", ylabel="digit", xticks=range(10), yticks=range(10))
    axes.set_title(f"{len(labels)} held-out digits, {accuracy:.1%} read correctly")

    right.suptitle(f"the {len(misread)} misread ones")
    columns = 4
    rows = max(1, -(-len(misread) // columns))
    for place, index in zip(np.ravel(right.subplots(rows, columns)), [*misread, *[None] * (rows * columns)]):
        place.axis("off")
        if index is not None:
            place.imshow(images[index], cmap="gray_r")
            place.set_title(f"{labels[index]} read as {predicted[index]}", fontsize=8)
    figure.savefig(out / "digits.png", dpi=110)
    print(f"drawn: {out / 'digits.png'}")


if __name__ == "__main__":
    main()
