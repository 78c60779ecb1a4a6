"""A layer is replaced in a loaded network, which then learns and is exported."""

import numpy as np
import pytest

import onax as jax
import script_modules

pytest.importorskip("sklearn")
pytest.importorskip("matplotlib")


def test_the_last_layer_is_replaced():
    params = {"w": np.ones((3, 7)), "b": np.ones(7), "v": np.ones((7, 5)), "c": np.ones(5)}
    with script_modules.imported("demo", "finetune") as modules:
        changed = modules.finetune.replace_last_layer(params, 10)
        blank = modules.finetune.blank_parameters(params)
    assert {name: array.shape for name, array in changed.items()} == {"w": (3, 7), "b": (7,), "v": (7, 10), "c": (10,)}
    assert changed["w"] is params["w"] and not np.any(blank["b"]) and np.any(blank["w"])


def test_what_is_written(tmp_path, monkeypatch, capsys):
    with script_modules.imported("demo", "pretrain", "finetune") as modules:
        for module in (modules.pretrain, modules.finetune):
            monkeypatch.setattr(module, "EPOCHS", 2)
            monkeypatch.setattr("sys.argv", ["script", "--out", str(tmp_path)])
            module.main()
    assert {path.name for path in tmp_path.iterdir()} >= {"ten_digits.onnx", "finetuned.npz", "finetuning.png"}
    network = jax.onnx.load(tmp_path / "ten_digits.onnx")
    with np.load(tmp_path / "finetuned.npz") as stored:
        scores = network(network.params, stored["images"])
        np.testing.assert_allclose(np.asarray(scores), stored["scores"], rtol=1e-4, atol=1e-5)
        assert scores.shape[1] == 10
    assert "from scratch" in capsys.readouterr().out
