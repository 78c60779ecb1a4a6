"""Functions, weights and examples that a command names: files, names, faults."""

import numpy as np
import pytest

import command_line
from onax._commands import export_main as main
from onax.export import targets
from onax.export.cli import EXIT_FAILED


@pytest.fixture
def project(tmp_path, monkeypatch):
    yield from command_line.in_project(tmp_path, monkeypatch)


@pytest.mark.parametrize("kind", ["npz", "safetensors"])
def test_weights_from_a_file(project, kind):
    if kind == "safetensors":
        numpy = pytest.importorskip("safetensors.numpy")
        numpy.save_file(command_line.WEIGHTS, "weights.safetensors")
    exported = command_line.made("--params", f"weights.{kind}", "--example", "inputs.npz", "--check")
    assert exported.in_names == ("x",)
    assert len(exported.onnx_model.graph.initializer) >= 4
    np.testing.assert_allclose(
        np.asarray(exported.call(command_line.X)), command_line.wanted(command_line.X), rtol=1e-5, atol=1e-6
    )


def test_weights_as_inputs(project):
    exported = command_line.made("--params", "weights.npz", "--example", "inputs.npz", "--weights", "inputs")
    assert exported.in_names[:2] == ("params.layers.0.b", "params.layers.0.w")
    np.testing.assert_allclose(
        np.asarray(exported.call(targets.unflatten_names(command_line.WEIGHTS), command_line.X)),
        command_line.wanted(command_line.X),
        rtol=1e-5,
        atol=1e-6,
    )


@pytest.mark.parametrize("dynamic", ["batch", "0:0=batch"])
def test_dynamic_dimensions(project, dynamic):
    exported = command_line.made("--params", "weights.npz", "--example", "inputs.npz", "--dynamic", dynamic, "--check")
    assert str(exported.in_avals[0].shape[0]) == "batch"
    assert exported.call(command_line.X[:2]).shape == (2, 4)


def test_wrong_number_of_example_arrays(project, capsys):
    command_line.made("--params", "weights.npz", "--example", "inputs.npz")
    np.savez("more.npz", command_line.X, command_line.X)
    assert main(["run", "p.onnx", "--example", "more.npz"]) == EXIT_FAILED
    assert "holds 2 arrays" in capsys.readouterr().err


def test_pickled_arrays_are_refused(project, capsys):
    np.savez("evil.npz", np.array([{}], dtype=object))
    assert main(["export", "net.py:predict", "--params", "evil.npz"]) == EXIT_FAILED
    assert "evil.npz cannot be read" in capsys.readouterr().err


def test_nested_names():
    assert targets.unflatten_names({"a.0": 1, "a.1": 2, "b.x": 3}) == {"a": [1, 2], "b": {"x": 3}}
    with pytest.raises(targets.ExportError, match="conflict"):
        targets.unflatten_names({"a": 1, "a.b": 2})
