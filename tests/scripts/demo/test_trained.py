"""The classifier that is exported: closed over the weights of a file."""

import numpy as np
import pytest

import script_modules


def test_it_is_the_network_with_those_weights(tmp_path, monkeypatch):
    images = np.random.default_rng(0).random((5, 8, 8), dtype=np.float32)
    with script_modules.imported("demo", "model") as modules:
        params = modules.model.initial_state(seed=3)["params"]
        want = np.argmax(modules.model.logits(params, images), 1)
    weights = {f"{k}{i}": v for i, layer in enumerate(params) for k, v in layer.items()}
    np.savez(tmp_path / "weights.npz", **weights)
    monkeypatch.setenv("ONAX_DEMO_WEIGHTS", str(tmp_path / "weights.npz"))
    with script_modules.imported("demo", "trained") as modules:
        found = modules.trained.predict(images)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, want)


def test_without_weights_it_is_not_imported(monkeypatch):
    monkeypatch.delenv("ONAX_DEMO_WEIGHTS", raising=False)
    with pytest.raises(KeyError, match="ONAX_DEMO_WEIGHTS"), script_modules.imported("demo", "trained"):
        pass
