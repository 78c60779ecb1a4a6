"""The installed command is the command line of exports, with `jit` and drawing handed to it."""

import numpy as np
import pytest

import onax
from onax import export
from onax._commands import export_main
from onax.export.cli import EXIT_FAILED


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "double.onnx"
    export.save(export.export(onax.jit(lambda x: x * 2))(np.ones(3, np.float32)), path)
    return path


def test_files_are_drawn(path):
    picture = path.with_suffix(".dot")
    assert export_main(["inspect", str(path), "--draw", str(picture)]) == 0
    assert "digraph" in picture.read_text() and "Mul" in picture.read_text()


def test_functions_are_checked_under_jit(tmp_path, monkeypatch, capsys):
    (tmp_path / "checked_functions.py").write_text("def thrice(x):\n    return x * 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert export_main(["check", "checked_functions:thrice", "--arg", "f32[3]"]) == 0
    assert "jit" in capsys.readouterr().out


def test_a_command_that_cannot_be_carried_out(tmp_path, capsys):
    assert export_main(["inspect", str(tmp_path / "missing.onnx")]) == EXIT_FAILED
    assert "missing.onnx" in capsys.readouterr().err
