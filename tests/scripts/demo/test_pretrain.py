"""The network that knows five digits is exported with the size of the batch left open."""

import pytest

import onax as jax
import script_modules

pytest.importorskip("sklearn")


def test_what_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["pretrain.py", "--out", str(tmp_path)])
    with script_modules.imported("demo", "pretrain") as modules:
        monkeypatch.setattr(modules.pretrain, "EPOCHS", 1)
        modules.pretrain.main()
    model = jax.onnx.load(tmp_path / "five_digits.onnx")
    assert [value.shape for value in model.inputs] == [("batch", 8, 8)]
    assert sorted(array.shape for array in model.params.values())[0] == (5,)
