"""The bytes that processes exchange in training, counted: what the kind of training needs, and no more."""

import pytest

import script_modules


@pytest.fixture
def training():
    with script_modules.imported("", "benchmarks.parallel_training") as modules:
        yield getattr(modules, "benchmarks.parallel_training")


def test_data_parallel_training_sends_the_gradients(training):
    messages, size = training.partitioned(4, (training.P(), training.P()), training.P("x"))
    assert messages == 2 * training.BLOCKS + 1  # and the loss
    assert size == training.bounds(4)[0] + 2 * 3 / 4 * 4


def test_tensor_parallel_training_sends_activations(training):
    messages, size = training.partitioned(1024, (training.P(None, "x"), training.P("x")), training.P())
    assert messages == 2 * training.BLOCKS - 1
    assert size == training.bounds(1024)[1]


def test_a_pipeline_sends_while_it_fills_too(training):
    messages, size = training.pipeline(4)
    ticks = training.MICROBATCHES + 3
    assert messages == 2 * ticks
    assert size == training.bounds(4)[2] * ticks / training.MICROBATCHES
