"""Training and exporting a little: the files, the names in them, the accuracy that is asked for."""

import numpy as np
import pytest

import script_modules

pytest.importorskip("sklearn")


def test_what_is_written(tmp_path, monkeypatch, capsys):
    """Two epochs, with exports that are only recorded; the accuracy is too low then, which the script says."""
    exported = []
    monkeypatch.setattr("sys.argv", ["train.py", "--out", str(tmp_path)])
    with script_modules.imported("demo", "train") as modules:
        train = modules.train
        monkeypatch.setattr(train, "EPOCHS", 2)
        monkeypatch.setattr(
            train, "export", lambda target, out, *args, **env: exported.append((target, out.name, args))
        )
        with pytest.raises(SystemExit, match="is below 96 %"):
            train.main()
        assert train.flat_names({"a": [1, {"b": 2}]}) == {"a.0": 1, "a.1.b": 2}
    assert [(t.rsplit("/", 1)[-1], name) for t, name, _ in exported] == [
        ("trained.py:predict", "predict.onnx"), ("model.py:train_step", "train_step.onnx"),
    ]  # fmt: skip
    assert exported[0][2] == ("f32[batch,8,8]",) and exported[1][2][0].count("w: f32[64,128]") == 2
    with np.load(tmp_path / "reference.npz") as reference:
        assert reference["losses"].shape == (20,) and reference["images"].shape == (20, 128, 8, 8)
        assert reference["start/params.0.w"].shape == reference["after/params.0.w"].shape == (64, 128)
        assert np.mean(reference["predicted"] == reference["test_labels"]) == pytest.approx(
            float(reference["accuracy"])
        )
    assert "held-out accuracy" in capsys.readouterr().out


def test_the_export_is_checked(monkeypatch):
    commands = []
    with script_modules.imported("demo", "train") as modules:
        monkeypatch.setattr(
            modules.train.subprocess, "run", lambda command, check, env: commands.append((command, env))
        )
        modules.train.export("net.py:f", "f.onnx", "f32[3]", KEY="1")
    ((command, environment),) = commands
    assert command[1].endswith("export.py") and command[2:] == [
        "net.py:f",
        "-o",
        "f.onnx",
        "--check",
        "--arg",
        "f32[3]",
    ]
    assert environment["KEY"] == "1"
