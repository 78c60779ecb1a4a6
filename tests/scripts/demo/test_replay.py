"""Replaying an exported step from files alone: agreement, differences, and no onax in the process."""

import numpy as np
import pytest

import onax as jax
import script_modules
from onax.export import export


@pytest.fixture
def replay():
    with script_modules.imported("demo", "replay") as modules:
        yield modules.replay


def step(state, images, labels):
    new = {"w": state["w"] * 0.5 + images.sum()}
    return new, jax.numpy.sum(new["w"]) + labels.sum()


@pytest.fixture
def recorded(tmp_path):
    """A session of the exported step, and what three steps of it give."""
    import onnxruntime

    state, rng = {"w": np.ones(3, np.float32)}, np.random.default_rng(0)
    images, labels = rng.random((3, 2, 4), dtype=np.float32), np.arange(6, dtype=np.int32).reshape(3, 2)
    export(step)(state, images[0], labels[0]).save(tmp_path / "step.onnx")
    reference = {"start/w": state["w"], "images": images, "labels": labels, "losses": np.zeros(3, np.float32)}
    for i in range(3):
        state, reference["losses"][i] = step(state, images[i], labels[i])
    reference["after/w"] = np.asarray(state["w"])
    return onnxruntime.InferenceSession(tmp_path / "step.onnx", providers=["CPUExecutionProvider"]), reference


def test_agreement(replay, recorded):
    session, reference = recorded
    assert replay.replay_training(session, reference) < 1e-6


@pytest.mark.parametrize("name", ["after/w", "losses"])
def test_a_difference_is_found(replay, recorded, name):
    session, reference = recorded
    reference[name] = reference[name] * 1.01
    assert replay.replay_training(session, reference) > 5e-3


def test_differences_are_relative(replay):
    assert replay.relative(np.array([1.0, 99.0]), np.array([1.0, 100.0])) == pytest.approx(0.01)
    assert replay.relative(np.zeros(2), np.zeros(2)) == 0


def test_it_refuses_a_process_with_onax(replay, monkeypatch):
    monkeypatch.setattr("sys.argv", ["replay.py"])
    with pytest.raises(SystemExit, match="without onax"):
        replay.main()
