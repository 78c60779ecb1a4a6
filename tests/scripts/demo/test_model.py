"""The demo's network: shapes, a loss that a step lowers, its gradient against differences."""

import numpy as np
import pytest

import onax as jax
import script_modules


@pytest.fixture(scope="module")
def model():
    with script_modules.imported("demo", "model") as modules:
        yield modules.model


RNG = np.random.default_rng(0)
IMAGES, LABELS = RNG.random((16, 8, 8), dtype=np.float32), np.arange(16, dtype=np.int32) % 10


def test_shapes(model):
    state = model.initial_state(hidden=32)
    assert [layer["w"].shape for layer in state["params"]] == [(64, 32), (32, 32), (32, 10)]
    assert model.logits(state["params"], IMAGES).shape == (16, 10)
    assert all(not v.any() for v in jax.tree.leaves(state["velocity"]))


def test_the_loss_is_the_cross_entropy(model):
    params = model.initial_state()["params"]
    z = np.asarray(model.logits(params, IMAGES), np.float64)
    want = np.mean(np.log(np.exp(z).sum(1)) - z[np.arange(16), LABELS])
    want += model.WEIGHT_DECAY * sum((layer["w"] ** 2).sum() for layer in params)
    assert float(model.loss(params, IMAGES, LABELS)) == pytest.approx(want, rel=1e-5)


def test_steps_lower_the_loss(model):
    step, state, losses = jax.jit(model.train_step), model.initial_state(), []
    for _ in range(10):
        state, loss = step(state, IMAGES, LABELS)
        losses.append(float(loss))
    assert losses[-1] < losses[0] / 2
    eager, _ = model.train_step(model.initial_state(), IMAGES, LABELS)
    compiled, _ = step(model.initial_state(), IMAGES, LABELS)
    for a, b in zip(jax.tree.leaves(eager), jax.tree.leaves(compiled)):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
