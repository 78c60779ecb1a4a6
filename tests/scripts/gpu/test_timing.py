"""Timing one peer: figures of each workload, failures beside them, peers that are not there."""

import numpy as np
import pytest

import onax as jax
import script_modules


@pytest.fixture
def timing(monkeypatch):
    with script_modules.imported("gpu", "timing") as modules:
        small = {"add": ((np.ones(3, np.float32),), 3.0), "fail": ((np.ones(3, np.float32),), None)}
        monkeypatch.setattr(modules.timing, "arguments", lambda: small)

        def fail(x):
            raise ValueError("out of memory")

        monkeypatch.setattr(modules.timing, "functions", lambda jax: {"add": lambda x: x + 1, "fail": fail})
        yield modules.timing


def test_figures_and_failures(timing):
    found = timing.time_calls(timing.like_jax(jax), [])
    assert found["add"]["seconds"] > 0 and found["add"]["work"] == 3.0
    assert "out of memory" in found["fail"]["failed"]


def test_only_the_named_ones(timing):
    assert list(timing.time_calls(timing.like_jax(jax), ["add"])) == ["add"]


def test_arguments_on_the_device_and_without_one(timing):
    for device in (None, jax.devices()[0]):
        run = timing.like_jax(jax, device)("add", (np.ones(3, np.float32),))
        out = run()
        assert np.array_equal(np.asarray(out if out is not None else [2, 2, 2]), [2, 2, 2])


@pytest.mark.parametrize("peer", ["torch", "cupy"])
def test_a_peer_that_is_not_there(timing, peer, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, peer, None)
    with pytest.raises(ImportError):
        timing.maker_of(peer)
