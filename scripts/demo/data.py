"""The real images that scikit-learn bundles: 1,797 handwritten digits of 8x8 grey values."""

import numpy as np
from sklearn.datasets import load_digits

BATCH = 128


def load():
    """((train images, labels), (held-out images, labels)): a fifth is held out; float32 from 0 to 1, int32."""
    digits = load_digits()
    images = (digits.images / 16).astype(np.float32)
    labels = digits.target.astype(np.int32)
    order = np.random.default_rng(20).permutation(len(images))
    held_out, train = np.split(order, [len(order) // 5])
    return (images[train], labels[train]), (images[held_out], labels[held_out])


def batches(images, labels, epochs, seed=1):
    """Shuffled full batches, epoch after epoch."""
    rng = np.random.default_rng(seed)
    for _ in range(epochs):
        order = rng.permutation(len(images))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            chosen = order[start : start + BATCH]
            yield images[chosen], labels[chosen]
