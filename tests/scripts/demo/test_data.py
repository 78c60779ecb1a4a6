"""The digits of the demo: types, ranges, a fifth held out, full batches in another order each epoch."""

import numpy as np
import pytest

import script_modules

pytest.importorskip("sklearn")


@pytest.fixture(scope="module")
def data():
    with script_modules.imported("demo", "data") as modules:
        yield modules.data


def test_images_and_labels(data):
    (images, labels), (held_images, held_labels) = data.load()
    assert images.shape[1:] == (8, 8) and images.dtype == np.float32 and labels.dtype == np.int32
    assert images.min() == 0 and images.max() == 1 and set(labels.tolist()) == set(range(10))
    assert len(held_images) == len(held_labels) == (len(images) + len(held_images)) // 5
    again, _ = data.load()
    np.testing.assert_array_equal(again[0], images)


def test_batches(data):
    images, labels = np.arange(300), np.arange(300) * 2
    found = list(data.batches(images, labels, epochs=2))
    assert len(found) == 2 * (300 // data.BATCH) and all(len(x) == data.BATCH for x, _ in found)
    assert all((y == 2 * x).all() for x, y in found)
    first = np.concatenate([x for x, _ in found[:2]])
    assert len(set(first.tolist())) == len(first) and not np.array_equal(found[0][0], found[2][0])
