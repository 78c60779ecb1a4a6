"""Networks that the benchmark trains."""

import numpy as np
import pytest

import onax
import script_modules


@pytest.fixture
def networks():
    with script_modules.imported("", "benchmarks.networks") as modules:
        yield getattr(modules, "benchmarks.networks")


def test_a_training_step_changes_every_parameter(networks):
    step, params, images, labels = networks.mlp(onax)
    for old, new in zip(onax.tree.leaves(params), onax.tree.leaves(step(params, images, labels))):
        assert old.shape == new.shape and np.any(np.asarray(old) != np.asarray(new))


def test_the_gradient_of_a_transformer_is_finite(networks):
    gradient, params, x = networks.transformer(onax, blocks=1, width=16, heads=2)
    found = onax.jit(gradient)(params, x)
    assert all(np.isfinite(leaf).all() and np.any(leaf) for leaf in onax.tree.leaves(found))


def test_adam(networks):
    ones = [(np.ones(2, np.float32),)]
    (((parameter, mean, square),),) = networks.adam_update(ones, ones, ones)
    np.testing.assert_allclose(parameter, 1 - 1e-2 / (1000**0.5 + 1), rtol=1e-6)
    np.testing.assert_allclose([mean, square], 1, rtol=1e-6)
